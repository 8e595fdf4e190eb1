package io.github.iree4j.spring.ai.encoder;

import static io.github.iree4j.spring.test.IreeAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.within;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Tensor;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.ai.HuggingFaceTextTokenizer;
import io.github.iree4j.spring.ai.TestTokenizers;
import io.github.iree4j.spring.ai.TextTokenizer;
import io.github.iree4j.spring.test.FakePrograms;
import io.github.iree4j.spring.test.IreeTest;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.ai.document.Document;
import org.springframework.ai.document.MetadataMode;
import org.springframework.ai.embedding.Embedding;
import org.springframework.ai.embedding.EmbeddingOptions;
import org.springframework.ai.embedding.EmbeddingRequest;
import org.springframework.ai.embedding.EmbeddingResponse;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;

/** On a program whose vectors are known, see {@link ScriptedEncoder}. */
@IreeTest
@Timeout(900)
class IreeEmbeddingModelTests {

    @SpringBootConfiguration
    @EnableAutoConfiguration
    static class Application {}

    @Autowired
    private FakePrograms scripts;

    @Autowired
    private Programs programs;

    @Autowired
    private InvocationService invocations;

    @Autowired
    private IreeRuntime runtime;

    private final HuggingFaceTextTokenizer tokenizer = TestTokenizers.bert();
    private final ScriptedEncoder encoder = new ScriptedEncoder();

    @BeforeEach
    void script() {
        encoder.program(scripts, "?x?");
    }

    @AfterEach
    void nothingIsLeft() {
        tokenizer.close();
        assertThat(runtime).hasNoOpenTensors();
        scripts.reset();
    }

    private IreeEmbeddingModel model(UnaryOperator<TestSettings> adapter) {
        return model(adapter, tokenizer, ObservationRegistry.NOOP);
    }

    private IreeEmbeddingModel model(
            UnaryOperator<TestSettings> adapter, TextTokenizer tokens, ObservationRegistry observations) {
        return new IreeEmbeddingModel(
                programs, invocations, tokens, adapter.apply(new TestSettings()).settings(), observations, null);
    }

    private IreeEmbeddingModel model() {
        return model(adapted -> adapted);
    }

    // -- pooling

    @Test
    void meanCoversAllTokensWithoutPadding() {
        List<float[]> vectors = model().embed(List.of("one", "one two three"));
        assertThat(vectors.get(0)).containsExactly((2 + 10 + 3) / 3f, 1, 1);
        assertThat(vectors.get(1)).containsExactly((2 + 10 + 11 + 12 + 3) / 5f, 2, 1);
        assertThat(encoder.shapes()).containsExactly("2x5");
    }

    @Test
    void firstTokenPoolingUsesTheClsVector() {
        IreeEmbeddingModel model = model(adapted -> {
            adapted.pooling = Pooling.CLS;
            return adapted;
        });
        assertThat(model.embed(List.of("one", "one two")).get(0)).containsExactly(TestTokenizers.CLS, 0, 1);
    }

    @Test
    void lastTokenPoolingIgnoresPadding() {
        IreeEmbeddingModel model = model(adapted -> {
            adapted.pooling = Pooling.LAST;
            return adapted;
        });
        assertThat(model.embed(List.of("one", "one two")).get(0)).containsExactly(TestTokenizers.SEP, 2, 1);
    }

    @Test
    void pooledResultsAreUsedUnchanged() {
        scripts.program(
                "encoder",
                program -> program.function("pool", "(tensor<?x?xi32>) -> tensor<?x2xf16>")
                        .answers(inputs -> {
                            Tensor ids = (Tensor) inputs.getFirst();
                            float[] sums = new float[(int) ids.shape().dimension(0) * 2];
                            Arrays.fill(sums, 0.5f);
                            return List.of(Tensor.of(
                                    io.github.iree4j.hal.ElementType.F16,
                                    sums,
                                    ids.shape().dimension(0),
                                    2));
                        }));
        IreeEmbeddingModel model = model();
        assertThat(model.embed(List.of("one", "two", "six")))
                .allSatisfy(vector -> assertThat(vector).containsExactly(0.5f, 0.5f));
        assertThat(model.dimensions()).isEqualTo(2);
    }

    @Test
    void normalizedEmbeddingsHaveLengthOne() {
        IreeEmbeddingModel model = model(adapted -> {
            adapted.normalize = true;
            return adapted;
        });
        float[] vector = model.embed("one two");
        assertThat(IntStream.range(0, vector.length)
                        .mapToDouble(i -> (double) vector[i] * vector[i])
                        .sum())
                .isCloseTo(1, within(1e-6));
        assertThat(vector[0] / vector[1]).isCloseTo(6.5f / 1.5f, within(1e-5f));
    }

    @Test
    void zeroVectorIsNotNormalized() {
        assertThat(Vectors.finished(new float[2], 2, true)).containsExactly(0, 0);
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> Vectors.finished(new float[] {1, Float.NaN}, 2, false))
                .withMessageContaining("NaN");
    }

    @Test
    void truncatedEmbeddingsAreNormalizedAfterwards() {
        IreeEmbeddingModel model = model(adapted -> {
            adapted.normalize = true;
            adapted.dimensions = 2;
            return adapted;
        });
        assertThat(model.dimensions()).isEqualTo(2);
        float[] two = model.embed("one");
        assertThat(Math.hypot(two[0], two[1])).isCloseTo(1, within(1e-6));
        EmbeddingRequest one = new EmbeddingRequest(
                List.of("one"), EmbeddingOptions.builder().dimensions(1).build());
        assertThat(model.call(one).getResult().getOutput()).containsExactly(1);
    }

    // -- batches

    @Test
    void textsAreBatchedByLengthAndReturnedInOrder() {
        List<String> texts = List.of("one two three", "one", "one two", "two", "one two six", "six", "nine", "one two");
        EmbeddingResponse response = model().embedForResponse(texts);
        assertThat(encoder.shapes()).containsExactly("4x3", "4x5");
        assertThat(response.getResults()).extracting(Embedding::getIndex).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
        for (int i = 0; i < texts.size(); i++) {
            assertThat(response.getResults().get(i).getOutput())
                    .as(texts.get(i))
                    .containsExactly(model().embed(texts.get(i)));
        }
    }

    @ParameterizedTest
    @CsvSource({"2x?, 2x4 2x4", "?x8, 3x8", "2x8, 2x8 2x8"})
    void batchesArePaddedToFixedShapes(String dimensions, String shapes) {
        encoder.program(scripts, dimensions);
        List<float[]> vectors = model().embed(List.of("one two", "two one", "six six"));
        assertThat(encoder.shapes()).containsExactly(shapes.split(" "));
        assertThat(vectors.get(2)).containsExactly((2 + 15 + 15 + 3) / 4f, 1.5f, 1);
    }

    @Test
    void textsAreTruncatedToTheFixedLengthOfAProgram() {
        encoder.program(scripts, "?x4");
        assertThat(model().embed("one two three four five")).containsExactly((2 + 10 + 11 + 3) / 4f, 1.5f, 1);
    }

    @Test
    void textsArePaddedToTheNextConfiguredLength() {
        IreeEmbeddingModel model = model(adapted -> {
            adapted.padTo = List.of(8, 4);
            return adapted;
        });
        model.embed(List.of("one"));
        model.embed(List.of("one two three"));
        model.embed(List.of("one two three four five six seven"));
        assertThat(encoder.shapes()).containsExactly("1x4", "1x8", "1x9");
    }

    @Test
    void withoutAMaskOnlyTextsOfEqualLengthAreBatched() {
        scripts.program(
                "encoder",
                program -> program.function("main", "(tensor<?x?xi64>) -> tensor<?x?x3xf32>")
                        .answers(inputs -> {
                            Tensor ids = (Tensor) inputs.getFirst();
                            long[] ones = new long[(int) ids.shape().elementCount()];
                            Arrays.fill(ones, 1);
                            try (Tensor mask = Tensor.of(ones, ids.shape().dimensions());
                                    Tensor types = Tensor.of(
                                            new long[ones.length], ids.shape().dimensions())) {
                                return List.of(encoder.encode(ids, mask, types));
                            }
                        }));
        model().embed(List.of("one", "one two", "two", "one two three", "six two"));
        assertThat(encoder.shapes()).containsExactly("2x3", "2x4", "1x5");
    }

    /** As programs that come from PyTorch and ONNX are. */
    @Test
    void undeclaredProgramsAreDescribedByTheirResults() {
        scripts.program("encoder", program -> {
            program.function("main", "(!vm.ref<?>, !vm.ref<?>, !vm.ref<?>) -> !vm.ref<?>")
                    .answers(inputs -> List.of(
                            encoder.encode((Tensor) inputs.get(0), (Tensor) inputs.get(1), (Tensor) inputs.get(2))));
            program.function("main$async", "(!vm.ref<?>, !vm.ref<?>, !vm.ref<?>) -> !vm.ref<?>");
        });
        assertRefused(model()::check, StatusCode.FAILED_PRECONDITION, "iree.ai.embedding.inputs");
        IreeEmbeddingModel model = model(adapted -> {
            adapted.inputs = List.of(TokenInput.INPUT_IDS, TokenInput.ATTENTION_MASK, TokenInput.TOKEN_TYPE_IDS);
            return adapted;
        });
        model.check();
        assertThat(model.embed(List.of("one", "one two three")).get(0)).containsExactly(5, 1, 1);
        assertThat(model.dimensions()).isEqualTo(3);
    }

    /** The type of an argument that a model imported from ONNX does not use cannot be recovered. */
    @Test
    void argumentsOfUnknownTypeAgreeWithAllOthers() {
        scripts.program(
                "encoder",
                program ->
                        program.function("main", "(!vm.ref<?>, tensor<2x8xi64>, tensor<2x8xi64>) -> tensor<2x3xf32>"));
        IreeEmbeddingModel model = model(adapted -> {
            adapted.inputs = List.of(TokenInput.TOKEN_TYPE_IDS, TokenInput.INPUT_IDS, TokenInput.ATTENTION_MASK);
            return adapted;
        });
        model.check();
        assertThat(model.dimensions()).isEqualTo(3);
    }

    // -- responses and observations

    @Test
    void responseHasModelAndTokenUsage() {
        EmbeddingResponse response = model().embedForResponse(List.of("one", "one two", "one ".repeat(30)));
        assertThat(response.getMetadata().getModel()).isEqualTo("encoder");
        assertThat(response.getMetadata().getUsage().getPromptTokens()).isEqualTo(3 + 4 + 16);
        assertThat(response.getMetadata().getUsage().getTotalTokens()).isEqualTo(3 + 4 + 16);
        assertThat(response.getMetadata().<Integer>get("truncated")).isEqualTo(1);
    }

    @Test
    void requestsAreObservedLikeRequestsOfOtherModels() {
        TestObservationRegistry registry = TestObservationRegistry.create();
        model(adapted -> adapted, tokenizer, registry).embed("one two");
        TestObservationRegistryAssert.assertThat(registry)
                .hasObservationWithNameEqualTo("gen_ai.client.operation")
                .that()
                .hasContextualNameEqualTo("embedding encoder")
                .hasLowCardinalityKeyValue("gen_ai.operation.name", "embedding")
                .hasLowCardinalityKeyValue("gen_ai.system", "iree")
                .hasLowCardinalityKeyValue("gen_ai.request.model", "encoder")
                .hasLowCardinalityKeyValue("gen_ai.response.model", "encoder")
                .hasHighCardinalityKeyValue("gen_ai.usage.input_tokens", "4")
                .hasBeenStarted()
                .hasBeenStopped();
    }

    @Test
    void failuresAreObserved() {
        TestObservationRegistry registry = TestObservationRegistry.create();
        scripts.function("encoder.main").fails(StatusCode.UNAVAILABLE, "warming up");
        model().embed("one"); // as scripted before
        assertRefused(
                () -> model(adapted -> adapted, tokenizer, registry).embed("one"),
                StatusCode.UNAVAILABLE,
                "warming up");
        TestObservationRegistryAssert.assertThat(registry)
                .hasObservationWithNameEqualTo("gen_ai.client.operation")
                .that()
                .hasError();
    }

    @Test
    void declaredDimensionsNeedNoCall() {
        assertThat(model().dimensions()).isEqualTo(3);
        assertThat(encoder.shapes()).isEmpty();
    }

    @Test
    void undeclaredDimensionsAreMeasuredOnce() {
        scripts.program(
                "encoder",
                program -> program.function("main", "(tensor<?x?xi64>) -> tensor<?x?xf32>")
                        .returns(Tensor.of(new float[5], 1, 5)));
        IreeEmbeddingModel model = model();
        assertThat(model.dimensions()).isEqualTo(5);
        assertThat(model.dimensions()).isEqualTo(5);
        assertThat(scripts).wereCalled("encoder.main");
    }

    @Test
    void undeclaredDimensionsOfAReplacedProgramAreItsOwn() {
        IreeEmbeddingModel model = model();
        for (int dimensions : new int[] {5, 2}) {
            scripts.program(
                    "encoder",
                    program -> program.function("main", "(tensor<?x?xi64>) -> tensor<?x?xf32>")
                            .returns(Tensor.of(new float[dimensions], 1, dimensions)));
            assertThat(model.dimensions()).isEqualTo(dimensions);
            assertThat(model.embed("one")).hasSize(dimensions);
        }
    }

    @Test
    void metadataIsEmbeddedWhenConfigured() {
        IreeEmbeddingModel model = model(adapted -> {
            adapted.metadataMode = MetadataMode.EMBED;
            return adapted;
        });
        Document document =
                Document.builder().text("one").metadata("six", "two").build();
        assertThat(model.getEmbeddingContent(document))
                .contains("six")
                .contains("two")
                .contains("one");
        assertThat(model().getEmbeddingContent(document)).isEqualTo("one");
        assertThat(model().embed(document)).containsExactly(model().embed("one"));
    }

    @Test
    void emptyRequestMakesNoCall() {
        assertThat(model().embed(List.of())).isEmpty();
        assertThat(encoder.shapes()).isEmpty();
    }

    @Test
    void replacedProgramIsUsedImmediately() {
        IreeEmbeddingModel model = model();
        assertThat(model.dimensions()).isEqualTo(3);
        scripts.program(
                "encoder",
                program -> program.function("other", "(tensor<?x?xi32>) -> tensor<?x1xf32>")
                        .returns(Tensor.of(new float[] {7}, 1, 1)));
        assertThat(model.embed("one")).containsExactly(7);
        assertThat(model.dimensions()).isEqualTo(1);
    }

    // -- rejected requests

    static Stream<Arguments> rejectsInvalidTexts() {
        return Stream.of(
                Arguments.of(Collections.singletonList(null), "text 1 of 1 is null"),
                Arguments.of(Arrays.asList("one", null), "text 2 of 2 is null"),
                Arguments.of(
                        List.of("one", "x".repeat(10_001)),
                        "text 2 of 2 has 10001 characters, but the limit is 10000; split it or raise iree.ai.embedding.max-text-length"),
                Arguments.of(
                        Collections.nCopies(101, "one"),
                        "a request of 101 texts exceeds the limit of 100; split it or raise iree.ai.embedding.max-request-size"));
    }

    @ParameterizedTest
    @MethodSource
    void rejectsInvalidTexts(List<String> texts, String problem) {
        assertRefused(() -> model().embed(texts), StatusCode.INVALID_ARGUMENT, problem);
        assertThat(encoder.shapes()).as("calls").isEmpty();
    }

    @Test
    void rejectsLongTextsWithoutTruncation() {
        IreeEmbeddingModel model = model(adapted -> {
            adapted.truncate = false;
            adapted.maxTokens = 4;
            return adapted;
        });
        assertThat(model.embed("one two")).hasSize(3);
        assertRefused(
                () -> model.embed("one two three"),
                StatusCode.INVALID_ARGUMENT,
                "text 1 of 1 has 5 tokens, but the limit is 4");
    }

    @Test
    void rejectsTextsWithoutTokens() {
        try (HuggingFaceTextTokenizer bare = HuggingFaceTextTokenizer.load(TestTokenizers.file(TestTokenizers.BARE))) {
            assertRefused(
                    () -> model(adapted -> adapted, bare, ObservationRegistry.NOOP)
                            .embed(List.of("one", "  ")),
                    StatusCode.INVALID_ARGUMENT,
                    "text 2 of 2 has no tokens in 2 characters");
        }
        assertThat(model().embed("")).as("special tokens are tokens").hasSize(3);
    }

    @Test
    void rejectsUnsupportedModelsAndDimensions() {
        IreeEmbeddingModel model = model();
        EmbeddingOptions other = EmbeddingOptions.builder().model("ada").build();
        assertRefused(
                () -> model.call(new EmbeddingRequest(List.of("one"), other)),
                StatusCode.INVALID_ARGUMENT,
                "model 'ada' was requested, but this is 'encoder'");
        EmbeddingOptions same = EmbeddingOptions.builder().model("encoder").build();
        assertThat(model.call(new EmbeddingRequest(List.of("one"), same)).getResults())
                .hasSize(1);
        assertRefused(
                () -> model.call(new EmbeddingRequest(List.of("one"), IreeEmbeddingOptions.DEFAULTS.dimensions(4))),
                StatusCode.INVALID_ARGUMENT,
                "embeddings of 4 dimensions were requested, but model 'encoder' has 3");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "(tensor<?xi64>) -> tensor<?x3xf32> | argument 0 is tensor<?xi64>",
                "(tensor<?x?xf32>) -> tensor<?x3xf32> | argument 0 is tensor<?x?xf32>",
                "(tensor<?x?xi64>, tensor<?x4xi64>) -> tensor<?x3xf32> | its arguments differ in their number of tokens",
                "(tensor<?x?xi64>, tensor<?x?xi64>, tensor<?x?xi64>) -> tensor<?x3xf32> | it has 3 arguments; name their meanings, in order, in iree.ai.embedding.inputs",
                "(tensor<?x?xi64>) -> tensor<?xf32> | result 0 is tensor<?xf32>; pooling mean requires a vector for each token",
                "(tensor<?x?xi64>) -> tensor<?x3xi32> | result 0 is tensor<?x3xi32>, expected a tensor of floats",
                "(tensor<99999x99999xi64>) -> tensor<?x3xf32> | an argument has 99999x99999 tokens, but the limit is 134217728",
                "(tensor<?x9999999999xi64>) -> tensor<?x3xf32> | the limit is 134217728",
                "(i64) -> tensor<?x3xf32> | argument 0 is i64",
                "(tensor<?x?xi64>) -> () | it has 0 results, but iree.ai.embedding.result is 0"
            })
    void rejectsProgramsOtherThanEncoders(String signature, String problem) {
        scripts.program("encoder", program -> program.function("main", signature));
        IreeEmbeddingModel model = model();
        assertRefused(model::check, StatusCode.FAILED_PRECONDITION, problem);
        assertRefused(() -> model.embed("one"), StatusCode.FAILED_PRECONDITION, "'encoder.main' cannot embed texts");
    }

    @Test
    void requiresAFunctionNameWhenThereAreSeveral() {
        scripts.program("encoder", program -> {
            program.function("first", "(tensor<?x?xi64>) -> tensor<?x3xf32>");
            program.function("second", "(tensor<?x?xi64>) -> tensor<?x3xf32>");
        });
        assertRefused(model()::check, StatusCode.FAILED_PRECONDITION, "iree.ai.embedding.function");
    }

    @Test
    void reportsUnloadedProgram() {
        scripts.reset();
        assertRefused(
                () -> model().embed("one"), StatusCode.NOT_FOUND, "program 'encoder' was unloaded; load it again");
    }

    @Test
    void reportsResultsContradictingTheDeclaration() {
        scripts.program(
                "encoder",
                program -> program.function("main", "(tensor<?x?xi64>) -> tensor<?x3xf32>")
                        .returns(Tensor.of(new float[6], 2, 3)));
        assertRefused(
                () -> model().embed("one"),
                StatusCode.INTERNAL,
                "shape [2, 3] for 1x3 tokens; pooling none requires a vector for each text");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "input-ids missing | inputs must contain input-ids",
                "twice | inputs must differ",
                "batch | max-batch-size must be at least 1, not 0",
                "timeout | timeout must be positive"
            })
    void rejectsSettingsOutOfRange(String which, String problem) {
        TestSettings adapted = new TestSettings();
        switch (which) {
            case "twice" -> adapted.inputs = List.of(TokenInput.INPUT_IDS, TokenInput.INPUT_IDS);
            case "batch" -> adapted.maxBatchSize = 0;
            case "timeout" -> adapted.timeout = Duration.ZERO;
            default -> adapted.inputs = List.of(TokenInput.ATTENTION_MASK);
        }
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(adapted::settings)
                .withMessageContaining(problem);
    }

    // -- time

    @Test
    void requestFailsAtItsTimeout() {
        TextTokenizer slow = text -> {
            long until = System.nanoTime() + 1_000_000;
            while (System.nanoTime() < until) {
                Thread.onSpinWait();
            }
            return tokenizer.tokenize(text);
        };
        EmbeddingRequest request = new EmbeddingRequest(
                Collections.nCopies(100, "one"), IreeEmbeddingOptions.DEFAULTS.timeout(Duration.ofMillis(1)));
        assertRefused(
                () -> model(adapted -> adapted, slow, ObservationRegistry.NOOP).call(request),
                StatusCode.DEADLINE_EXCEEDED,
                "a request to embed texts with 'encoder' took longer than 1 ms");
        assertThat(encoder.shapes()).isEmpty();
    }

    /** The device is stopped, so that only the deadline ends the call. */
    @Test
    void callInFlightIsCancelledAtTheTimeout() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        scripts.program(
                "encoder",
                program -> program.function("main", "(tensor<?x?xi64>) -> tensor<?x3xf32>")
                        .answers(inputs -> {
                            try {
                                release.await();
                            } catch (InterruptedException e) {
                                Thread.currentThread().interrupt();
                            }
                            return List.of(Tensor.of(new float[3], 1, 3));
                        }));
        IreeEmbeddingModel model = model(adapted -> {
            adapted.timeout = Duration.ofMillis(50);
            return adapted;
        });
        try {
            assertRefused(() -> model.embed("one"), StatusCode.DEADLINE_EXCEEDED, "");
        } finally {
            release.countDown();
        }
    }

    @Test
    void interruptCancelsTheRequest() {
        Thread.currentThread().interrupt();
        try {
            assertRefused(() -> model().embed("one"), StatusCode.CANCELLED, "interrupted");
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
        assertThat(encoder.shapes()).isEmpty();
    }

    private static void assertRefused(Runnable what, StatusCode code, String problem) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(what::run)
                .withMessageContaining(problem)
                .satisfies(e -> assertThat(e.code()).isEqualTo(code));
    }
}
