package io.github.iree4j.spring.ai.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import io.github.iree4j.spring.InvocationOperations;
import io.github.iree4j.spring.Programs.LocatedFunction;
import io.github.iree4j.spring.ai.HuggingFaceTextTokenizer;
import io.github.iree4j.spring.ai.TextTokenizer;
import io.github.iree4j.spring.ai.encoder.IreeEmbeddingModel;
import io.github.iree4j.spring.ai.encoder.IreeEmbeddingOptions;
import io.github.iree4j.spring.ai.encoder.SmallEncoder;
import io.github.iree4j.spring.ai.encoder.TextKind;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.ai.document.Document;
import org.springframework.ai.embedding.EmbeddingModel;
import org.springframework.ai.embedding.EmbeddingRequest;
import org.springframework.ai.embedding.EmbeddingResponse;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.MapPropertySource;

@Timeout(900)
class IreeEmbeddingAutoConfigurationTests {

    @TempDir
    private Path directory;

    private final ApplicationContextRunner bare = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(IreeAutoConfiguration.class, IreeEmbeddingAutoConfiguration.class));
    private final ApplicationContextRunner configured = bare.withPropertyValues(SmallEncoder.properties());

    @Test
    void moduleAndTokenizerConfigureAnEmbeddingModel() {
        configured.run(context -> {
            EmbeddingModel model = context.getBean(EmbeddingModel.class);
            assertThat(model).isInstanceOf(IreeEmbeddingModel.class);
            assertThat(model.dimensions()).isEqualTo(SmallEncoder.DIMENSIONS);
            assertThat(model.embed("workers")).hasSize(SmallEncoder.DIMENSIONS);
        });
    }

    @Test
    void callsTheStubOfAnApplication() {
        InvocationOperations stub = mock(InvocationOperations.class);
        when(stub.request(any(LocatedFunction.class)))
                .thenThrow(IreeException.of(StatusCode.UNAVAILABLE, "says the stub"));
        configured
                .withBean(InvocationOperations.class, () -> stub)
                .run(context -> assertThatExceptionOfType(IreeException.class)
                        .isThrownBy(() -> context.getBean(EmbeddingModel.class).embed("workers"))
                        .withMessageContaining("says the stub"));
    }

    @Test
    void callsTheProgramIfAnApplicationHasSeveralStubs() {
        configured
                .withBean("one", InvocationOperations.class, () -> mock(InvocationOperations.class))
                .withBean("two", InvocationOperations.class, () -> mock(InvocationOperations.class))
                .run(context -> assertThat(context.getBean(EmbeddingModel.class).embed("workers"))
                        .hasSize(SmallEncoder.DIMENSIONS));
    }

    @Test
    void absentWithoutModule() {
        bare.run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(EmbeddingModel.class));
    }

    @Test
    void backsOffWhenAnotherModelIsSelected() {
        configured
                .withPropertyValues("spring.ai.model.embedding=openai")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(EmbeddingModel.class));
        configured
                .withPropertyValues("spring.ai.model.embedding=iree")
                .run(context -> assertThat(context).hasSingleBean(EmbeddingModel.class));
    }

    @Test
    void backsOffWhenDisabled() {
        configured
                .withPropertyValues("iree.enabled=false")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(EmbeddingModel.class));
    }

    @Test
    void backsOffForAModelOfTheApplication() {
        configured
                .withBean(IreeEmbeddingModel.class, () -> null)
                .run(context -> assertThat(context).hasNotFailed().hasSingleBean(EmbeddingModel.class));
        EmbeddingModel other = new OtherModel();
        configured
                .withBean("other", EmbeddingModel.class, () -> other)
                .run(context -> assertThat(context.getBeansOfType(EmbeddingModel.class))
                        .as("Spring AI allows several models")
                        .containsOnlyKeys("other", "ireeEmbeddingModel"));
    }

    @Test
    void absentWithoutSpringAi() {
        configured
                .withClassLoader(new FilteredClassLoader("org.springframework.ai"))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("ireeEmbeddingModel"));
    }

    @Test
    void usesTokenizerBeanWithoutTheLibrary() {
        TextTokenizer letters = text -> new TextTokenizer.Tokens(
                text.chars().mapToLong(letter -> letter % 100).toArray(), new long[text.length()], 0, 0);
        configured
                .withClassLoader(new FilteredClassLoader(HuggingFaceTokenizer.class))
                .withBean(TextTokenizer.class, () -> letters)
                .run(context -> {
                    assertThat(context).doesNotHaveBean(HuggingFaceTextTokenizer.class);
                    assertThat(context.getBean(EmbeddingModel.class).embed("abc"))
                            .hasSize(SmallEncoder.DIMENSIONS);
                });
    }

    @Test
    void reportsMissingLibrary() {
        configured
                .withClassLoader(new FilteredClassLoader(HuggingFaceTokenizer.class))
                .run(context -> assertThat(analysis(context.getStartupFailure()).getAction())
                        .contains("ai.djl.huggingface:tokenizers"));
    }

    @Test
    void reportsMissingTokenizer() {
        bare.withPropertyValues("iree.ai.embedding.module=encoder")
                .run(context -> assertThat(analysis(context.getStartupFailure()).getDescription())
                        .contains("'encoder'")
                        .contains("'iree.ai.embedding.tokenizer' is not set"));
        configured
                .withPropertyValues("iree.ai.embedding.tokenizer=file:" + directory.resolve("none.json"))
                .run(context -> assertThat(analysis(context.getStartupFailure()).getDescription())
                        .contains("none.json")
                        .contains("does not exist"));
    }

    @Test
    void reportsDamagedTokenizer() throws Exception {
        String whole = Files.readString(SmallEncoder.DIRECTORY.resolve("tokenizer.json"));
        Path cut = Files.writeString(directory.resolve("cut.json"), whole.substring(0, whole.length() / 2));
        configured
                .withPropertyValues("iree.ai.embedding.tokenizer=file:" + cut)
                .run(context -> assertThat(analysis(context.getStartupFailure()).getDescription())
                        .contains("cut.json")
                        .contains("is not JSON"));
    }

    @Test
    void reportsProgramOtherThanAnEncoder() {
        configured
                .withPropertyValues(
                        "iree.modules.add.location=file:../fixtures/modules/3.13.0/cpu/add.vmfb",
                        "iree.ai.embedding.module=add")
                .run(context -> assertThat(analysis(context.getStartupFailure()).getDescription())
                        .contains("'add'")
                        .contains("cannot embed texts")
                        .contains("tensor<4xf32>"));
    }

    @Test
    void reportsPropertyOutOfRange() {
        configured
                .withPropertyValues("iree.ai.embedding.max-batch-size=0")
                .run(context ->
                        assertThat(context.getStartupFailure()).rootCause().hasMessageContaining("iree.ai.embedding"));
    }

    @Test
    void prefixPropertiesKeepTheirSpaces() {
        MapPropertySource prefixes = new MapPropertySource( // property values of the runner would lose their spaces
                "prefixes",
                Map.of(
                        "iree.ai.embedding.prefix.query", "budget ",
                        "iree.ai.embedding.prefix.document", "fence ",
                        "iree.ai.embedding.prefix.strings", "plain"));
        ApplicationContextRunner prefixed = configured.withInitializer(
                context -> context.getEnvironment().getPropertySources().addFirst(prefixes));
        prefixed.run(context -> {
            EmbeddingModel model = context.getBean(EmbeddingModel.class);
            assertThat(model.embed(new Document("workers"))).isEqualTo(model.embed("fence workers"));
            EmbeddingRequest query =
                    new EmbeddingRequest(List.of("workers"), IreeEmbeddingOptions.DEFAULTS.kind(TextKind.QUERY));
            assertThat(model.call(query).getResult().getOutput()).isEqualTo(model.embed("budget workers"));
        });
    }

    @Test
    void reportsPrefixLeavingNoRoom() {
        configured
                .withPropertyValues(
                        "iree.ai.embedding.prefix.document=fence fence fence fence ", "iree.ai.embedding.max-tokens=4")
                .run(context -> assertThat(analysis(context.getStartupFailure()).getDescription())
                        .contains("iree.ai.embedding.prefix.document")
                        .contains("the limit of 4"));
    }

    @Test
    void moduleLoadedLaterIsCheckedThen() {
        configured.withPropertyValues("iree.modules.encoder.load=lazy").run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(context.getBean(EmbeddingModel.class).embed("workers")).hasSize(SmallEncoder.DIMENSIONS);
        });
        configured
                .withPropertyValues("iree.ai.embedding.module=later")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void observesWithARegistry() {
        TestObservationRegistry registry = TestObservationRegistry.create();
        configured.withBean(ObservationRegistry.class, () -> registry).run(context -> {
            context.getBean(EmbeddingModel.class).embed("workers");
            TestObservationRegistryAssert.assertThat(registry)
                    .hasObservationWithNameEqualTo("gen_ai.client.operation")
                    .that()
                    .hasLowCardinalityKeyValue("gen_ai.response.model", "encoder");
        });
    }

    @Test
    void tokenizerIsClosedWithTheContext() {
        HuggingFaceTextTokenizer[] kept = new HuggingFaceTextTokenizer[1];
        configured.run(context -> kept[0] = context.getBean(HuggingFaceTextTokenizer.class));
        assertThat(org.assertj.core.api.Assertions.catchThrowable(() -> kept[0].tokenize("workers")))
                .hasMessageContaining("is closed");
    }

    private static FailureAnalysis analysis(Throwable failure) {
        FailureAnalysis analysis = new TextModelUnavailableFailureAnalyzer().analyze(failure);
        assertThat(analysis).as("analysis of " + failure).isNotNull();
        assertThat(analysis.getAction()).endsWith(".");
        return analysis;
    }

    private static final class OtherModel implements EmbeddingModel {
        @Override
        public EmbeddingResponse call(EmbeddingRequest request) {
            return new EmbeddingResponse(List.of());
        }

        @Override
        public float[] embed(Document document) {
            return new float[0];
        }
    }
}
