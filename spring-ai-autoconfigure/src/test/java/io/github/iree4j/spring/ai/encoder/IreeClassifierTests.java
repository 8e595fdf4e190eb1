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
import io.github.iree4j.spring.ai.ModelLabels;
import io.github.iree4j.spring.ai.TestTokenizers;
import io.github.iree4j.spring.ai.encoder.Classification.Label;
import io.github.iree4j.spring.test.FakePrograms;
import io.github.iree4j.spring.test.IreeTest;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.FileSystemResource;

/** On a program whose numbers are the number of tokens, specials and all, and 10 minus that number. */
@IreeTest
@Timeout(900)
class IreeClassifierTests {

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

    @BeforeEach
    void script() {
        scripts.program(
                "encoder",
                program -> program.function("main", "(tensor<?x?xi64>, tensor<?x?xi64>) -> tensor<?x2xf32>")
                        .answers(inputs -> List.of(count((Tensor) inputs.get(1)))));
    }

    private static Tensor count(Tensor mask) {
        int rows = (int) mask.shape().dimension(0);
        int length = (int) mask.shape().dimension(1);
        long[] ones = mask.toLongArray();
        float[] numbers = new float[rows * 2];
        for (int row = 0; row < rows; row++) {
            long tokens = Arrays.stream(ones, row * length, (row + 1) * length).sum();
            numbers[row * 2] = 10 - tokens;
            numbers[row * 2 + 1] = tokens;
        }
        return Tensor.of(numbers, rows, 2);
    }

    @AfterEach
    void nothingIsLeft() {
        tokenizer.close();
        assertThat(runtime).hasNoOpenTensors();
        scripts.reset();
    }

    private IreeClassifier classifier(Consumer<TestSettings> adapter) {
        TestSettings settings = new TestSettings();
        settings.activation = Activation.SOFTMAX;
        adapter.accept(settings);
        return new IreeClassifier(programs, invocations, tokenizer, settings.classifier());
    }

    @Test
    void labelsHaveProbabilitiesWithTheMostProbableFirst() {
        Classification classification = classifier(_ -> {}).classify("one two three four");
        assertThat(classification.labels()).extracting(Label::name).containsExactly("high", "low");
        double high = 1 / (1 + Math.exp(4 - 6));
        assertThat(classification.first().probability()).isCloseTo(high, within(1e-9));
        assertThat(classification.probability("low")).isCloseTo(1 - high, within(1e-9));
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> classification.probability("medium"))
                .withMessage("there is no label 'medium' in [high, low]");
    }

    @Test
    void sigmoidProbabilitiesAreIndependent() {
        Classification classification =
                classifier(settings -> settings.activation = Activation.SIGMOID).classify("one");
        assertThat(classification.probability("low")).isCloseTo(1 / (1 + Math.exp(-7)), within(1e-9));
        assertThat(classification.probability("high")).isCloseTo(1 / (1 + Math.exp(-3)), within(1e-9));
        assertThat(classifier(settings -> settings.activation = Activation.NONE)
                        .classify("one")
                        .probability("low"))
                .isEqualTo(7);
    }

    @Test
    void greatNumbersHaveProbabilities() {
        assertThat(Activation.SOFTMAX.of(new float[] {0, 3e38f, 3e38f, -3e38f}, 1, 3))
                .containsExactly(0.5, 0.5, 0);
        assertThat(Activation.SIGMOID.of(new float[] {3e38f, -3e38f}, 0, 2)).containsExactly(1, 0);
    }

    @Test
    void resultsDoNotDependOnTheBatches() {
        long seed = Long.getLong("iree4j.test.seed", 29);
        System.out.println("random: texts to classify, seed " + seed);
        Random random = new Random(seed);
        for (int round = 0; round < 40; round++) {
            List<String> texts = new ArrayList<>();
            for (int i = random.nextInt(30); i >= 0; i--) {
                texts.add("one ".repeat(1 + random.nextInt(20)));
            }
            IreeClassifier classifier = classifier(settings -> {
                settings.maxBatchSize = 1 + random.nextInt(6);
                settings.maxBatchTokens = 1 + random.nextInt(100);
            });
            List<Classification> together = classifier.classify(texts);
            for (int i = 0; i < texts.size(); i++) {
                assertThat(together.get(i))
                        .as("round %d, text %d", round, i)
                        .isEqualTo(classifier.classify(texts.get(i)));
            }
        }
    }

    @Test
    void invalidTextsAreRejected() {
        IreeClassifier classifier = classifier(settings -> {
            settings.truncate = false;
            settings.maxTokens = 4;
        });
        assertThat(classifier.classify(List.of())).isEmpty();
        assertRefused(() -> classifier.classify((String) null), "text 1 of 1 is null");
        assertRefused(
                () -> classifier.classify(List.of("one", "one two three")),
                "text 2 of 2 has 5 tokens, but the limit is 4; split it, or set iree.ai.classifier.truncate=true to truncate it");
        assertRefused(
                () -> classifier.classify("x".repeat(10_001)), "split it or raise iree.ai.classifier.max-text-length");
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> classifier.classify((List<String>) null));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "(tensor<?x?xi64>) -> tensor<?x3xf32> | result 0 is tensor<?x3xf32>, expected 2 numbers for each text, tensor<?x2xf32>; iree.ai.classifier.labels names each column, and iree.ai.classifier.result selects the result",
                "(tensor<?x?xi64>) -> tensor<?xf32> | result 0 is tensor<?xf32>, expected 2 numbers for each text",
                "(tensor<?x?xi64>) -> () | it has 0 results, but iree.ai.classifier.result is 0"
            })
    void unsuitableProgramsAreRejectedAtTheCheck(String signature, String problem) {
        scripts.program("encoder", program -> program.function("main", signature));
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> classifier(_ -> {}).check())
                .withMessageContaining("'encoder.main' cannot classify texts: ")
                .withMessageContaining(problem)
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.FAILED_PRECONDITION));
    }

    @Test
    void aSingleLabelNeedsASingleNumber() {
        scripts.program(
                "encoder",
                program -> program.function("main", "(tensor<?x?xi64>) -> tensor<?xf32>")
                        .returns(Tensor.of(new float[] {0}, 1)));
        IreeClassifier classifier = classifier(settings -> {
            settings.labels = List.of("spam");
            settings.activation = Activation.SIGMOID;
        });
        assertThat(classifier.classify("one").first()).isEqualTo(new Label("spam", 0.5));
    }

    @Test
    void labelsMustDiffer() {
        for (List<String> labels : List.of(List.<String>of(), List.of("a", "a"), List.of("a", " "), List.of("a"))) {
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> classifier(settings -> settings.labels = labels));
        }
    }

    @Test
    void labelsAreReadFromTheFileOfTheModel() {
        assertThat(labels("""
                {"model_type": "bert", "id2label": {"1": "bad", "0": "good", "2": "neither"}, "label2id": {}}""")).containsExactly("good", "bad", "neither");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{} | has 0 labels in 'id2label', of which 0 are numbered from 0",
                "[] | has 0 labels",
                "{\"id2label\": {\"1\": \"a\"}} | has 1 labels in 'id2label', of which 0 are numbered from 0",
                "{\"id2label\": {\"0\": \"a\", \"5\": \"b\"}} | has 2 labels in 'id2label', of which 1 are numbered from 0",
                "{\"id2label\": {\"0\": 7}} | of which 0 are numbered",
                "{ | is not JSON"
            })
    void filesWithoutLabelsAreRejected(String json, String problem) {
        assertRefused(() -> labels(json), problem);
    }

    @Test
    void missingAndGreatFilesAndDirectoriesAreRejected() {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> ModelLabels.load(new FileSystemResource("target/none.json")))
                .withMessageContaining("does not exist")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.NOT_FOUND));
        assertRefused(
                () -> ModelLabels.load(new FileSystemResource("target")),
                "config.json 'target' is a directory and must be a regular file");
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> labels(" ".repeat(2 << 20)))
                .withMessageContaining("has more than 1048576 bytes")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED));
    }

    private static List<String> labels(String json) {
        return ModelLabels.load(
                new ByteArrayResource(json.getBytes(StandardCharsets.UTF_8), "config.json of the test"));
    }

    private static void assertRefused(Runnable what, String problem) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(what::run)
                .withMessageContaining(problem)
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
    }
}
