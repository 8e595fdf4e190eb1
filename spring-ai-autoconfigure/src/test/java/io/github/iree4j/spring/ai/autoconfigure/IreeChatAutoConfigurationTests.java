package io.github.iree4j.spring.ai.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.Mockito.mock;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import com.hubspot.jinjava.Jinjava;
import io.github.iree4j.generation.Generator;
import io.github.iree4j.spring.ProgramLoadException;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.ai.IreeChatModel;
import io.github.iree4j.spring.ai.IreeChatOptions;
import io.github.iree4j.spring.ai.SmallDecoder;
import io.github.iree4j.spring.ai.TextTokenizer;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.Environment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.ArgumentResolver;

/** With a compiled decoder of random weights. */
@Timeout(900)
class IreeChatAutoConfigurationTests {
    @TempDir
    private Path folder;

    private final ApplicationContextRunner bare = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(IreeAutoConfiguration.class, IreeChatAutoConfiguration.class));
    private ApplicationContextRunner configured;

    @BeforeEach
    void configure() {
        configured = bare.withPropertyValues(SmallDecoder.properties(folder));
    }

    private static String text(ChatResponse response) {
        return response.getResult().getOutput().getText();
    }

    @Test
    void moduleAndFilesConfigureAChatModel() {
        TestObservationRegistry registry = TestObservationRegistry.create();
        configured.withBean(ObservationRegistry.class, () -> registry).run(context -> {
            ChatModel model = context.getBean(ChatModel.class);
            ChatResponse called = model.call(new Prompt("Hello, who is there?"));
            List<ChatResponse> chunks = model.stream(new Prompt("Hello, who is there?"))
                    .collectList()
                    .block();
            StringBuilder streamed = new StringBuilder();
            chunks.forEach(each -> streamed.append(text(each)));
            assertThat(streamed).isNotEmpty().hasToString(text(called));
            assertThat(chunks.getLast().getMetadata().getUsage().getTotalTokens())
                    .isEqualTo(called.getMetadata().getUsage().getTotalTokens())
                    .isEqualTo(4 + 20 + called.getMetadata().getUsage().getCompletionTokens());
            assertThat(called.getMetadata().getUsage().getCacheReadInputTokens())
                    .isZero();
            assertThat(chunks.getLast().getMetadata().getUsage().getCacheReadInputTokens())
                    .isEqualTo(16);
            assertThat(called.getResult().getMetadata().getFinishReason()).isIn("length", "stop");
            TestObservationRegistryAssert.assertThat(registry)
                    .hasObservationWithNameEqualTo("gen_ai.client.operation")
                    .that()
                    .hasLowCardinalityKeyValue("gen_ai.response.model", "chat");
        });
    }

    @Test
    void conversationsAtTheSameTimeAnswerAsAlone() {
        configured.run(context -> {
            ChatModel model = context.getBean(ChatModel.class);
            List<Prompt> prompts = IntStream.range(0, 8)
                    .mapToObj(i -> new Prompt(
                            "Tell me about %d".formatted(i * 37).repeat(1 + i % 4),
                            IreeChatOptions.builder()
                                    .temperature(i % 3 * 0.5)
                                    .seed((long) i)
                                    .maxTokens(12 + i)
                                    .build()))
                    .toList();
            List<String> alone =
                    prompts.stream().map(each -> text(model.call(each))).toList();
            List<Future<String>> together = new ArrayList<>();
            try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
                for (Prompt each : prompts) {
                    together.add(threads.submit(() -> text(model.call(each))));
                    together.add(threads.submit(() -> model.stream(each)
                            .map(IreeChatAutoConfigurationTests::text)
                            .reduce("", String::concat)
                            .block()));
                }
            }
            for (int i = 0; i < together.size(); i++) {
                assertThat(together.get(i).get()).isEqualTo(alone.get(i / 2));
            }
        });
    }

    @Test
    void closingTheContextEndsRequests() {
        configured.run(context -> {
            ChatModel model = context.getBean(ChatModel.class);
            Prompt endless =
                    new Prompt("Hello", ChatOptions.builder().maxTokens(900).build());
            CompletableFuture<Void> begun = new CompletableFuture<>();
            CompletableFuture<Throwable> failure = new CompletableFuture<>();
            model.stream(endless).subscribe(_ -> begun.complete(null), failure::complete, () -> failure.complete(null));
            begun.join();
            context.close(); // with a request in progress
            Throwable end = failure.join();
            assertThat(end == null || end instanceof IreeException e && e.code() == StatusCode.CANCELLED)
                    .as(String.valueOf(end))
                    .isTrue();
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> model.call("Hello"))
                    .satisfies(e -> assertThat(e.code()).isIn(StatusCode.UNAVAILABLE, StatusCode.FAILED_PRECONDITION));
        });
    }

    @Test
    void lengthsBeyondTheModelAreRejectedWithNumbers() {
        configured.run(context -> {
            ChatModel model = context.getBean(ChatModel.class);
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> model.call("x".repeat(2000)))
                    .withMessageContaining("2004")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
            ChatResponse fitting = model.call(new Prompt("x".repeat(1000)));
            assertThat(fitting.getMetadata().getUsage().getTotalTokens()).isLessThanOrEqualTo(1009);
        });
    }

    @Test
    void aProgramInUseIsUnloadedBeforeAnotherTakesItsPlace() {
        configured.run(context -> {
            ChatModel model = context.getBean(ChatModel.class);
            Programs programs = context.getBean(Programs.class);
            String before = model.call("Hello");
            assertThatExceptionOfType(ProgramLoadException.class)
                    .isThrownBy(() -> programs.load("chat", null))
                    .havingCause()
                    .withMessageContaining("unload it before");
            assertThat(model.call("Hello")).isEqualTo(before);
            ProgramSource program = programs.find("chat").orElseThrow().source();
            programs.unload("chat");
            assertThatExceptionOfType(IreeException.class).isThrownBy(() -> model.call("Hello"));
            programs.load(program);
            assertThat(model.call("Hello")).isEqualTo(before);
        });
    }

    @Test
    void moduleLoadedLaterIsPreparedThen() {
        configured.withPropertyValues("iree.modules.chat.load=lazy").run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(context.getBean(ChatModel.class).call("Hello")).isNotEmpty();
        });
        configured
                .withPropertyValues("iree.ai.chat.module=later")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void backsOff() {
        bare.run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(ChatModel.class));
        configured
                .withPropertyValues("spring.ai.model.chat=openai")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(ChatModel.class));
        configured
                .withPropertyValues("iree.enabled=false")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(ChatModel.class));
        configured
                .withBean("other", ChatModel.class, () -> mock(ChatModel.class))
                .run(context ->
                        assertThat(context.getBeansOfType(ChatModel.class)).containsOnlyKeys("other"));
        configured
                .withClassLoader(new FilteredClassLoader("org.springframework.ai"))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("ireeChatModel"));
    }

    @Test
    void reportsMissingLibraries() {
        configured
                .withClassLoader(new FilteredClassLoader(Jinjava.class))
                .run(context -> assertThat(analysis(context.getStartupFailure()).getAction())
                        .contains("com.hubspot.jinjava:jinjava"));
        configured
                .withClassLoader(new FilteredClassLoader(HuggingFaceTokenizer.class))
                .run(context -> assertThat(analysis(context.getStartupFailure()).getAction())
                        .contains("ai.djl.huggingface:tokenizers"));
        configured
                .withClassLoader(new FilteredClassLoader(Generator.class))
                .run(context -> assertThat(analysis(context.getStartupFailure()).getAction())
                        .contains("io.github.iree4j:iree4j-generation"));
    }

    @Test
    void reportsMissingFiles() throws Exception {
        bare.withPropertyValues("iree.ai.chat.module=chat")
                .run(context -> assertThat(analysis(context.getStartupFailure()).getDescription())
                        .contains("'iree.ai.chat.tokenizer' is not set"));
        configured
                .withPropertyValues("iree.ai.chat.template=file:" + folder.resolve("none.jinja"))
                .run(context -> assertThat(analysis(context.getStartupFailure()).getDescription())
                        .contains("none.jinja")
                        .contains("does not exist"));
        Files.writeString(folder.resolve("tokenizer_config.json"), "{}");
        configured.run(
                context -> assertThat(analysis(context.getStartupFailure()).getDescription())
                        .contains("there is no chat template"));
        configured
                .withPropertyValues("iree.ai.chat.template={{ messages[0].content }}")
                .run(context -> assertThat(context.getBean(ChatModel.class).call("Hello"))
                        .isNotEmpty());
    }

    @Test
    void reportsProgramsThatDoNotGenerateText() {
        configured
                .withPropertyValues(
                        "iree.modules.add.location=file:../fixtures/modules/3.13.0/cpu/add.vmfb",
                        "iree.ai.chat.module=add")
                .run(context -> assertThat(analysis(context.getStartupFailure()).getDescription())
                        .contains("'add'")
                        .contains("cannot generate text"));
        configured
                .withPropertyValues("iree.ai.chat.pages=1")
                .run(context -> assertThat(analysis(context.getStartupFailure()).getDescription())
                        .contains("cannot generate text"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "chat | max-tokens | 0 | 'It must be at least 1, not 0'",
                "chat | requests-per-tenant | 0 | 'It must be at least 1, not 0'",
                "chat | proposed-tokens | 65 | 'It must be from 0 to 64, not 65; 8 is a common number'",
                "chat | probe-prompts | 0 | 'It must be from 1 to 1024, not 0; 1 is the shortest'",
                "chat | steps-ahead | 65 | 'It must be from 1 to 64, not 65'",
                "chat | host-pages | -1 | 'It must be at least 0, not -1'",
                "chat | top-k | -1 | 'It must be at least 0, not -1'",
                "chat | pages | -1 | 'It must be at least 0, not -1'",
                "chat | temperature | 101.0 | 'It must be from 0 to 100, not 101.0'",
                "chat | top-p | 2.0 | 'It must be greater than 0 and at most 1, not 2.0'",
                "chat | timeout | 0s | 'It must be positive, not 0'",
                "chat | draft.module | chat | 'It needs proposed-tokens of at least 1, not 0'",
                "embedding | dimensions | 0 | 'It must be at least 1, not 0'",
                "embedding | max-batch-size | 0 | 'It must be at least 1, not 0'",
                "embedding | pad-to | 0 | 'It must be at least 1, not 0'",
                "reranker | min-score | NaN | 'It must be a number, not NaN'",
                "reranker | activation | softmax | 'It must be sigmoid or none'",
                "classifier | labels | 'a, a' | 'It must differ'"
            })
    void aValueOutOfRangeIsReportedByItsPropertyAlone(String model, String property, String value, String reason) {
        String name = "iree.ai.%s.%s".formatted(model, property);
        configured
                .withConfiguration(AutoConfigurations.of(
                        IreeEmbeddingAutoConfiguration.class,
                        IreeRerankerAutoConfiguration.class,
                        IreeClassifierAutoConfiguration.class))
                .withBean(TextTokenizer.class, () -> _ -> {
                    throw new IllegalStateException("no text is read");
                })
                .withPropertyValues(
                        "iree.lazy=true", "iree.ai.%s.module=chat".formatted(model), "%s=%s".formatted(name, value))
                .run(context -> {
                    Throwable failure = context.getStartupFailure();
                    assertThat(failure).rootCause().hasMessageStartingWith("Property %s with value ".formatted(name));
                    assertThat(failure).rootCause().message().hasSizeLessThan(250);
                    FailureAnalysis analysis = analysisOfSpring(failure, name, value);
                    assertThat(analysis.getDescription())
                            .contains("Invalid value '%s' for configuration property '%s'".formatted(value, name))
                            .contains(reason);
                });
    }

    @Test
    void tooManyProposedTokensFailBeforeTheProgramIsUsed() {
        configured
                .withPropertyValues("iree.lazy=true", "iree.ai.chat.proposed-tokens=65")
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .hasMessageContaining("iree.ai.chat.proposed-tokens with value '65'"));
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void theLogHasTheMeasurementAndItsDuration(CapturedOutput output) {
        configured
                .withPropertyValues("iree.ai.chat.probe-prompts=1")
                .run(context -> assertThat(output)
                        .contains("program 'chat' begins to generate text")
                        .containsPattern("program 'chat' generates text: the measurement took [0-9.]+ s, "
                                + "with iree.ai.chat.probe-prompts of 1"));
    }

    @Test
    void anApplicationMayHaveAModelOfItsOwn() {
        configured
                .withBean(IreeChatModel.class, () -> null)
                .run(context -> assertThat(context).hasNotFailed());
    }

    private static FailureAnalysis analysis(Throwable failure) {
        FailureAnalysis analysis = new TextModelUnavailableFailureAnalyzer().analyze(failure);
        assertThat(analysis).as("analysis of " + failure).isNotNull();
        assertThat(analysis.getAction()).endsWith(".");
        return analysis;
    }

    private static FailureAnalysis analysisOfSpring(Throwable failure, String property, String value) {
        StandardEnvironment environment = new StandardEnvironment();
        environment.getPropertySources().addFirst(new MapPropertySource("test", Map.of(property, value)));
        ConfigurationPropertySources.attach(environment);
        return SpringFactoriesLoader.forDefaultResourceLocation()
                .load(FailureAnalyzer.class, ArgumentResolver.of(Environment.class, environment), (_, _, _) -> {})
                .stream()
                .map(analyzer -> analyzer.analyze(failure))
                .filter(Objects::nonNull)
                .findFirst()
                .orElseThrow();
    }
}
