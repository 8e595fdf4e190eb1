package io.github.iree4j.spring.ai.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.spring.ai.IreeChatMetrics;
import io.github.iree4j.spring.ai.IreeChatModel;
import io.github.iree4j.spring.ai.IreeChatOptions;
import io.github.iree4j.spring.ai.SmallDecoder;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.status.IreeException;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What an operator sees of a generator. */
@Timeout(300)
class IreeChatOperationTests {
    @TempDir
    private Path folder;

    private ApplicationContextRunner configured;

    @BeforeEach
    void configure() {
        configured = new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        IreeAutoConfiguration.class,
                        IreeChatAutoConfiguration.class,
                        IreeChatMetricsAutoConfiguration.class,
                        IreeChatEndpointAutoConfiguration.class))
                .withPropertyValues(SmallDecoder.properties(folder));
    }

    @Test
    void requestsAndStepsAreMeters() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        configured.withBean(SimpleMeterRegistry.class, () -> registry).run(context -> {
            context.getBean(IreeChatMetrics.class).bindTo(registry); // as Spring Boot does
            IreeChatModel model = context.getBean(IreeChatModel.class);
            int completion = model.call(new Prompt("Hello, who is there?"))
                    .getMetadata()
                    .getUsage()
                    .getCompletionTokens();
            Prompt late = new Prompt(
                    "Hello",
                    IreeChatOptions.builder().timeout(Duration.ofNanos(1)).build());
            assertThatExceptionOfType(IreeException.class).isThrownBy(() -> model.call(late));
            assertThat(timer(registry, "gen_ai.server.time_to_first_token").count())
                    .isEqualTo(1);
            assertThat(timer(registry, "gen_ai.server.time_per_output_token").count())
                    .isEqualTo(1);
            assertThat(duration(registry, "none")).isEqualTo(1);
            assertThat(duration(registry, "DEADLINE_EXCEEDED")).isEqualTo(1);
            assertThat(tokens(registry, "generated")).isEqualTo(completion);
            assertThat(tokens(registry, "prompt")).isGreaterThan(20);
            double pages = pages(registry, "used") + pages(registry, "kept") + pages(registry, "free");
            assertThat(pages).isEqualTo(79);
            assertThat(registry.get("iree.generation.preemptions")
                            .functionCounter()
                            .count())
                    .isZero();
        });
    }

    private static Timer timer(SimpleMeterRegistry registry, String name) {
        return registry.get(name).tag("gen_ai.request.model", "chat").timer();
    }

    private static long duration(SimpleMeterRegistry registry, String errorType) {
        return registry.get("gen_ai.server.request.duration")
                .tag("error.type", errorType)
                .timer()
                .count();
    }

    private static double tokens(SimpleMeterRegistry registry, String kind) {
        FunctionCounter counter =
                registry.get("iree.generation.tokens").tag("kind", kind).functionCounter();
        return counter.count();
    }

    private static double pages(SimpleMeterRegistry registry, String state) {
        Gauge gauge = registry.get("iree.generation.pages").tag("state", state).gauge();
        return gauge.value();
    }

    @Test
    void tenantsHaveQuotas() {
        configured
                .withPropertyValues("iree.ai.chat.requests-per-tenant=1", "iree.ai.chat.proposed-tokens=4")
                .run(context -> {
                    IreeChatModel model = context.getBean(IreeChatModel.class);
                    Prompt endless = new Prompt(
                            "Hello",
                            IreeChatOptions.builder().maxTokens(900).tenant("a").build());
                    Iterator<ChatResponse> first =
                            model.stream(endless).toIterable().iterator();
                    assertThat(first.next()).isNotNull();
                    assertThatExceptionOfType(IreeException.class)
                            .isThrownBy(() -> model.call(endless))
                            .withMessageContaining("tenant 'a' has 1 unfinished requests");
                    assertThat(model.call(new Prompt(
                                    "Hello",
                                    IreeChatOptions.builder().tenant("b").build())))
                            .isNotNull();
                });
    }

    @Test
    void metersAreZeroBeforeTheFirstRequest() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        configured
                .withPropertyValues("iree.lazy=true")
                .withBean(SimpleMeterRegistry.class, () -> registry)
                .run(context -> {
                    context.getBean(IreeChatMetrics.class).bindTo(registry);
                    assertThat(tokens(registry, "generated")).isZero();
                });
    }

    @Test
    void theEndpointHasSequencesAndPages() {
        configured.run(context -> {
            IreeChatModel model = context.getBean(IreeChatModel.class);
            model.call(new Prompt("Hello, who is there?"));
            JsonNode part = JsonMapper.shared()
                    .valueToTree(context.getBean(GenerationEndpointPart.class).read());
            JsonNode state = part.at("/models/0");
            assertThat(state.get("model").asString()).isEqualTo("chat");
            assertThat(state.at("/description/0").asString()).startsWith("prefill by");
            assertThat(state.at("/statistics/generatedTokens").asInt()).isPositive();
            assertThat(state.at("/state/pages").asInt()).isEqualTo(80);
            assertThat(state.at("/state/pageTokens").asInt()).isEqualTo(16);
            assertThat(state.at("/state/keptPages").size()).isPositive();
            assertThat(state.at("/state/sequences").size()).isZero();
        });
    }
}
