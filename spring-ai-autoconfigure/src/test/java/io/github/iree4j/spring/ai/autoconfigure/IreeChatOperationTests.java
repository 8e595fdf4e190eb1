package io.github.iree4j.spring.ai.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.within;

import io.github.iree4j.generation.GenerationRequest;
import io.github.iree4j.generation.Generator;
import io.github.iree4j.spring.ai.ChatEngine;
import io.github.iree4j.spring.ai.IreeChatMetrics;
import io.github.iree4j.spring.ai.IreeChatModel;
import io.github.iree4j.spring.ai.IreeChatOptions;
import io.github.iree4j.spring.ai.SmallDecoder;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.status.IreeException;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
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

/** The operators' view of a generator. */
@Timeout(300)
class IreeChatOperationTests {
    private static final List<String> SERVER = List.of(
            "gen_ai.server.time_to_first_token",
            "gen_ai.server.time_per_output_token",
            "gen_ai.server.request.duration");
    private static final List<String> PARTS = List.of("own", "waiting", "prefills", "decodes", "rest");

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
            for (String name : SERVER) {
                assertThat(registry.get(name).timers())
                        .as(name)
                        .isNotEmpty()
                        .allSatisfy(each -> assertThat(each.getId().getTags())
                                .contains(
                                        Tag.of("gen_ai.operation.name", "chat"),
                                        Tag.of("gen_ai.provider.name", "iree"),
                                        Tag.of("gen_ai.request.model", "chat"),
                                        Tag.of("gen_ai.response.model", "chat")));
            }
            double first = 0;
            for (String part : PARTS) {
                first += delay(registry, "first", part);
                assertThat(delay(registry, "slowest", part)).as(part).isNotNegative();
            }
            double time = timer(registry, "gen_ai.server.time_to_first_token").totalTime(TimeUnit.NANOSECONDS);
            assertThat(first).as("the parts are the whole").isEqualTo(time, within(1.0));
            assertThat(delay(registry, "first", "own")).isPositive();
            assertThat(tokens(registry, "prompt")).isGreaterThan(20);
            double pages = pages(registry, "used") + pages(registry, "kept") + pages(registry, "free");
            assertThat(pages).isEqualTo(79);
            assertThat(registry.get("iree.generation.preemptions")
                            .functionCounter()
                            .count())
                    .isZero();
        });
    }

    private static double delay(SimpleMeterRegistry registry, String token, String part) {
        Timer timer = registry.get("iree.generation.delay")
                .tag("gen_ai.request.model", "chat")
                .tag("token", token)
                .tag("part", part)
                .timer();
        assertThat(timer.count()).isEqualTo(1);
        return timer.totalTime(TimeUnit.NANOSECONDS);
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
                    Generator generator = ChatEngine.of(model).generator().orElseThrow();
                    Semaphore held = new Semaphore(0);
                    CountDownLatch release = new CountDownLatch(1);
                    generator.submit(GenerationRequest.of(500, 1)).result().whenComplete((_, _) -> {
                        held.release(); // the thread of the generator, so the next request does not end
                        awaitUninterruptibly(release);
                    });
                    held.acquire();
                    generator.submit(GenerationRequest.of(1, 1).tenant("a"));
                    Prompt another = new Prompt(
                            "Hello", IreeChatOptions.builder().tenant("a").build());
                    assertThatExceptionOfType(IreeException.class)
                            .isThrownBy(() -> model.call(another))
                            .withMessageContaining("tenant 'a' has 1 unfinished requests");
                    release.countDown();
                    assertThat(model.call(new Prompt(
                                    "Hello",
                                    IreeChatOptions.builder().tenant("b").build())))
                            .isNotNull();
                });
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void aDraftProposesTokensAndChangesNoAnswer() {
        Prompt prompt =
                new Prompt("Hello", IreeChatOptions.builder().maxTokens(100).build());
        List<String> answers = new ArrayList<>();
        configured.run(
                context -> answers.add(text(context.getBean(IreeChatModel.class).call(prompt))));
        configured
                .withPropertyValues(
                        "iree.ai.chat.proposed-tokens=4",
                        "iree.ai.chat.draft.module=chat",
                        "iree.ai.chat.draft.config=file:../fixtures/generation/decoder.json")
                .run(context -> {
                    answers.add(text(context.getBean(IreeChatModel.class).call(prompt)));
                    assertThat(JsonMapper.shared()
                                    .valueToTree(context.getBean(GenerationEndpointPart.class)
                                            .read())
                                    .at("/models/0/description")
                                    .toString())
                            .contains("the draft 'chat' proposes tokens");
                });
        assertThat(answers).hasSize(2);
        assertThat(answers.getFirst()).isNotEmpty().isEqualTo(answers.getLast());
        configured
                .withPropertyValues("iree.ai.chat.draft.module=chat")
                .run(
                        context -> assertThat(context.getStartupFailure())
                                .rootCause()
                                .hasMessageContaining(
                                        "Property iree.ai.chat.draft.module with value 'chat' is invalid: It needs proposed-tokens of at least 1, not 0; 8 is a common number"));
        configured
                .withPropertyValues("iree.ai.chat.draft.config=file:none.json")
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .hasMessageContaining("Property iree.ai.chat.draft.config"));
    }

    private static String text(ChatResponse response) {
        return String.valueOf(response.getResults().getFirst().getOutput().getText());
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
            assertThat(state.get("slowTokens").size()).isEqualTo(2); // the first, and the slowest of the others
            assertThat(state.at("/slowTokens/0/number").asInt()).isZero();
            assertThat(state.at("/slowTokens/0/promptTokens").asInt()).isGreaterThan(20);
            assertThat(Duration.parse(state.at("/slowTokens/0/delay/time").asString()))
                    .isGreaterThanOrEqualTo(
                            Duration.parse(state.at("/slowTokens/1/delay/time").asString()))
                    .isGreaterThan(
                            Duration.parse(state.at("/slowTokens/0/delay/own").asString()));
        });
    }
}
