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
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.ai.content.Media;
import org.springframework.ai.document.Document;
import org.springframework.ai.document.MetadataMode;
import org.springframework.ai.rag.Query;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.util.MimeTypeUtils;

/** On a program whose scores are known, see {@link ScriptedReranker}. */
@IreeTest
@Timeout(900)
class IreeRerankerTests {

    private static final List<String> WORDS =
            List.of("one", "two", "three", "four", "five", "six", "seven", "eight", "nine");

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
    private final ScriptedReranker program = new ScriptedReranker();

    @BeforeEach
    void script() {
        program.program(scripts, "?x?", "?");
    }

    @AfterEach
    void nothingIsLeft() {
        tokenizer.close();
        assertThat(runtime).hasNoOpenTensors();
        scripts.reset();
    }

    private IreeReranker reranker(Consumer<TestSettings> adapter) {
        return reranker(tokenizer, adapter);
    }

    private IreeReranker reranker(TextTokenizer tokens, Consumer<TestSettings> adapter) {
        TestSettings settings = new TestSettings();
        adapter.accept(settings);
        return new IreeReranker(programs, invocations, tokens, settings.reranker());
    }

    private IreeReranker reranker() {
        return reranker(_ -> {});
    }

    private static List<Document> documents(String... texts) {
        return IntStream.range(0, texts.length)
                .mapToObj(i -> Document.builder()
                        .id("d" + i)
                        .text(texts[i])
                        .metadata("place", i)
                        .score(0.5)
                        .build())
                .toList();
    }

    private static List<String> ids(List<Document> documents) {
        return documents.stream().map(Document::getId).toList();
    }

    // -- order and scores

    @ParameterizedTest
    @ValueSource(strings = {"?", "?x1"})
    void documentsWithTheGreatestScoresComeFirst(String result) {
        program.program(scripts, "?x?", result);
        List<Document> documents = documents("three four", "two one nine", "one", "one two");
        List<Document> sorted = reranker().process(new Query("one two"), documents);
        assertThat(ids(sorted)).containsExactly("d3", "d1", "d2", "d0");
        assertThat(sorted.get(1).getScore()).isCloseTo(1.99, within(1e-6));
        assertThat(sorted.get(1).getText()).isEqualTo("two one nine");
        assertThat(sorted.get(1).getMetadata()).isEqualTo(documents.get(1).getMetadata());
        assertThat(sorted.get(1).getContentFormatter())
                .isSameAs(documents.get(1).getContentFormatter());
        assertThat(documents.get(1).getScore()).as("documents are copied").isEqualTo(0.5);
    }

    @Test
    void documentsWithEqualScoresKeepTheirOrder() {
        List<Document> sorted = reranker()
                .process(new Query("one"), documents("nine", "one six", "eight", "one five", "seven", "one four"));
        assertThat(ids(sorted)).containsExactly("d1", "d3", "d5", "d0", "d2", "d4");
    }

    @Test
    void bothZerosAreEqualNumbers() {
        scripts.program(
                "encoder",
                program -> program.function("main", "(tensor<?x?xi64>) -> tensor<?xf32>")
                        .returns(Tensor.of(new float[] {-0f, 0f, 1, -0f}, 4)));
        List<Document> sorted = reranker().process(new Query("one"), documents("two", "two", "two", "two"));
        assertThat(ids(sorted)).containsExactly("d2", "d0", "d1", "d3");
    }

    @Test
    void sigmoidDecidesNoOrder() {
        scripts.program(
                "encoder",
                program -> program.function("main", "(tensor<?x?xi64>) -> tensor<?xf32>")
                        .returns(Tensor.of(new float[] {100, -100, 101}, 3)));
        List<Document> sorted = reranker(settings -> settings.activation = Activation.SIGMOID)
                .process(new Query("one"), documents("two", "two", "two"));
        assertThat(ids(sorted)).as("by number, where scores are 1").containsExactly("d2", "d0", "d1");
        assertThat(sorted)
                .extracting(Document::getScore)
                .allSatisfy(score -> assertThat(score).isBetween(0.0, 1.0));
    }

    @Test
    void fewerDocumentsAreReturnedWhenConfigured() {
        List<Document> documents = documents("one", "nine", "one two", "two");
        assertThat(ids(reranker(settings -> settings.topK = 2).process(new Query("one two"), documents)))
                .containsExactly("d2", "d0");
        assertThat(ids(reranker(settings -> settings.minScore = 1.0).process(new Query("one two"), documents)))
                .containsExactly("d2", "d0", "d3");
        assertThat(reranker(settings -> settings.minScore = 3.0).process(new Query("one two"), documents))
                .isEmpty();
    }

    @Test
    void metadataIsComparedWhenConfigured() {
        List<Document> documents = List.of(
                Document.builder().id("d0").text("nine").build(),
                Document.builder().id("d1").text("nine").metadata("key", "one").build());
        assertThat(ids(reranker().process(new Query("one"), documents))).containsExactly("d0", "d1");
        assertThat(ids(reranker(settings -> {
                            settings.metadataMode = MetadataMode.EMBED;
                            settings.maxTokens = 16;
                        })
                        .process(new Query("one"), documents)))
                .containsExactly("d1", "d0");
    }

    /** Scores and order match each pair alone, however the pairs are divided into calls. */
    @Test
    void scoresDoNotDependOnTheBatches() {
        long seed = Long.getLong("iree4j.test.seed", 23);
        System.out.println("random: pairs, seed " + seed);
        Random random = new Random(seed);
        for (int round = 0; round < 60; round++) {
            String query = text(random, 1 + random.nextInt(8));
            String[] texts = new String[1 + random.nextInt(30)];
            Arrays.setAll(texts, _ -> text(random, random.nextInt(25)));
            IreeReranker reranker = reranker(settings -> {
                settings.maxBatchSize = 1 + random.nextInt(6);
                settings.maxBatchTokens = 1 + random.nextInt(100);
                settings.padTo = random.nextBoolean() ? List.of(8, 12) : List.of();
            });
            String dimensions = List.of("?x?", "3x?", "?x16", "2x16").get(random.nextInt(4));
            program.program(scripts, dimensions, random.nextBoolean() ? "?" : "?x1");
            List<Double> scores = reranker.scores(query, List.of(texts));
            for (int i = 0; i < texts.length; i++) {
                assertThat(scores.get(i))
                        .as("round %d, text %d", round, i)
                        .isEqualTo(reranker.scores(query, List.of(texts[i])).getFirst());
            }
            List<String> expected = IntStream.range(0, texts.length)
                    .boxed()
                    .sorted(Comparator.comparing(scores::get, Comparator.reverseOrder()))
                    .map(i -> "d" + i)
                    .toList();
            assertThat(ids(reranker.process(new Query(query), documents(texts))))
                    .as("round %d, order", round)
                    .isEqualTo(expected);
        }
    }

    private static String text(Random random, int words) {
        List<String> text = new ArrayList<>(List.of("six"));
        for (int i = 0; i < words; i++) {
            text.add(WORDS.get(random.nextInt(WORDS.size())));
        }
        return String.join(" ", text);
    }

    // -- long texts

    @Test
    void theLongerTextOfAPairIsTruncated() {
        IreeReranker reranker = reranker(_ -> {});
        // 16 tokens: 3 special ones, 1 of the query, and 12 of the text.
        assertThat(reranker.scores("one", List.of("nine ".repeat(11) + "one " + "nine ".repeat(50))))
                .singleElement()
                .satisfies(score -> assertThat(score).isCloseTo(1 - 0.11, within(1e-6)));
        assertThat(reranker.scores("one", List.of("nine ".repeat(12) + "one")))
                .singleElement()
                .satisfies(score -> assertThat(score).isCloseTo(-0.12, within(1e-6)));
        // 7 of the query, with the only 'two', and 6 of the text.
        assertThat(reranker.scores("two " + "one ".repeat(2000), List.of("two " + "nine ".repeat(50))))
                .singleElement()
                .satisfies(score -> assertThat(score).isCloseTo(1 - 0.05, within(1e-6)));
    }

    @Test
    void longPairsAreRejectedWithoutTruncation() {
        IreeReranker reranker = reranker(settings -> {
            settings.truncate = false;
            settings.maxTokens = 6;
        });
        assertThat(reranker.scores("one", List.of("two three"))).hasSize(1);
        assertRefused(
                () -> reranker.scores("one", List.of("two", "two three four")),
                "text 2 of 2, with the query, has 7 tokens, but the limit is 6; split it, or set iree.ai.reranker.truncate=true to truncate it");
    }

    @Test
    void limitsWithoutRoomForAPairAreReported() {
        assertRefused(
                () -> reranker(settings -> settings.maxTokens = 4).scores("one", List.of("two")),
                "text 1 of 1, with the query, cannot be truncated: 4 tokens leave no room for text next to 3 special ones, at least 5 are needed; raise iree.ai.reranker.max-tokens");
    }

    @Test
    void specialTokensInTextsAreText() {
        List<Double> scores =
                reranker().scores("one [SEP] two", List.of("two [SEP] " + "nine ".repeat(40), "[SEP] [SEP] two"));
        assertThat(scores.get(1)).isEqualTo(1);
        assertThat(scores.getFirst()).isLessThan(1);
    }

    // -- rejected requests

    @Test
    void emptyRequestMakesNoCall() {
        assertThat(reranker().process(new Query("one"), List.of())).isEmpty();
        assertThat(program.shapes()).isEmpty();
    }

    @Test
    void invalidTextsAreRejectedBeforeAnyCall() {
        IreeReranker reranker = reranker();
        assertRefused(() -> reranker.scores("one", Arrays.asList("one", null)), "text 2 of 2 is null");
        assertRefused(
                () -> reranker.scores("one", List.of("x".repeat(10_001))),
                "text 1 of 1 has 10001 characters, but the limit is 10000; split it or raise iree.ai.reranker.max-text-length");
        assertRefused(
                () -> reranker.scores("x".repeat(10_001), List.of("one")),
                "the query has 10001 characters, but the limit is 10000; split it or raise iree.ai.reranker.max-text-length");
        assertRefused(
                () -> reranker.scores("one", Collections.nCopies(10_000, "two")),
                "a request of 10000 texts exceeds the limit of 100; split it or raise iree.ai.reranker.max-request-size");
        Document picture = Document.builder()
                .id("picture")
                .media(new Media(MimeTypeUtils.IMAGE_PNG, new ByteArrayResource(new byte[1])))
                .build();
        assertRefused(() -> reranker.process(new Query("one"), List.of(picture)), "document 'picture' has no text");
        assertThat(program.shapes()).as("calls").isEmpty();
        assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> reranker.process(null, List.of()));
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> reranker.process(new Query("one"), null));
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> reranker.process(new Query("one"), Collections.singletonList(null)));
    }

    /** Such a query, tokenized again with each of the texts, would take minutes. */
    @ParameterizedTest
    @ValueSource(strings = {" ", "x"})
    void aQueryOfFewTokensInManyCharactersIsRejected(String piece) {
        IreeReranker reranker = reranker(settings -> settings.maxTextLength = 1 << 20);
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> reranker.scores(piece.repeat(1 << 20), Collections.nCopies(100, "one")))
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT))
                .withMessageMatching(
                        "the query has only \\d+ tokens in \\d+ characters; leave out blanks, and shorten long words");
        assertThat(program.shapes()).as("calls").isEmpty();
    }

    @Test
    void pairsWithoutTokensAreRejected() {
        try (HuggingFaceTextTokenizer bare = HuggingFaceTextTokenizer.load(TestTokenizers.file(TestTokenizers.BARE))) {
            assertRefused(
                    () -> reranker(bare, _ -> {}).scores(" ", List.of("  ")),
                    "text 1 of 1, with the query, has no tokens in 2 characters; omit it");
        }
    }

    /** Calls stay within their limits, so memory does not depend on the number of documents but for tokens and scores. */
    @Test
    void thousandsOfDocumentsAreScoredInCallsOfLimitedSize() {
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            texts.add(WORDS.get(i % 9));
        }
        List<Double> scores = reranker(settings -> {
                    settings.maxRequestSize = 10_000;
                    settings.maxBatchSize = 500;
                })
                .scores("four", texts);
        assertThat(scores).hasSize(10_000);
        assertThat(scores.get(3)).isEqualTo(1);
        assertThat(program.shapes())
                .hasSizeLessThan(200)
                .allSatisfy(shape ->
                        assertThat(Integer.parseInt(shape.split("x")[0])).isLessThanOrEqualTo(1000 / 5));
    }

    // -- programs

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "(tensor<?x?xi64>) -> tensor<?x3xf32> | result 0 is tensor<?x3xf32>, expected a number for each text, tensor<?xf32> or tensor<?x1xf32>; iree.ai.reranker.result selects the result",
                "(tensor<?x?xi64>) -> tensor<?x?x1xf32> | result 0 is tensor<?x?x1xf32>",
                "(tensor<?x?xi64>) -> tensor<f32> | result 0 is tensor<f32>",
                "(tensor<?xi64>) -> tensor<?xf32> | argument 0 is tensor<?xi64>",
                "(tensor<?x?xi64>) -> tensor<?xi32> | expected a tensor of floats; iree.ai.reranker.result selects the result",
                "(tensor<?x?xi64>, tensor<?x?xi64>, tensor<?x?xi64>) -> tensor<?xf32> | in iree.ai.reranker.inputs, such as"
            })
    void unsuitableProgramsAreRejectedAtTheCheck(String signature, String problem) {
        scripts.program("encoder", program -> program.function("main", signature));
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> reranker().check())
                .withMessageContaining("'encoder.main' cannot rerank texts: ")
                .withMessageContaining(problem)
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.FAILED_PRECONDITION));
    }

    @Test
    void resultsContradictingTheDeclarationAreReported() {
        scripts.program(
                "encoder",
                program -> program.function("main", "(tensor<?x?xi64>) -> tensor<?xf32>")
                        .returns(Tensor.of(new float[2], 2))
                        .returns(Tensor.of(new float[] {Float.NaN}, 1)));
        IreeReranker reranker = reranker();
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> reranker.scores("one", List.of("two")))
                .withMessageContaining("'encoder' returned a tensor of shape [2] for 1x5 tokens")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INTERNAL));
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> reranker.scores("one", List.of("two")))
                .withMessageContaining("'encoder' returned NaN or infinity")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INTERNAL));
    }

    @Test
    void requestFailsAtItsTimeout() {
        TextTokenizer slow = text -> {
            long until = System.nanoTime() + 1_000_000;
            while (System.nanoTime() < until) {
                Thread.onSpinWait();
            }
            return tokenizer.tokenize(text);
        };
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> reranker(slow, settings -> settings.timeout = Duration.ofMillis(1))
                        .scores("one", Collections.nCopies(100, "two")))
                .withMessageContaining("a request to rerank texts with 'encoder' took longer than 1 ms")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED));
        assertThat(program.shapes()).isEmpty();
    }

    @Test
    void tokenizersWithoutPairsUseThePairsOfBert() {
        TextTokenizer single = text -> tokenizer.tokenize(text);
        List<String> texts = List.of("one nine", "two one", "nine ".repeat(40) + "one", "");
        assertThat(reranker(single, settings -> settings.maxTokens = 16).scores("one two", texts))
                .isEqualTo(reranker(_ -> {}).scores("one two", texts));
    }

    @Test
    void settingsOutOfRangeAreRejected() {
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> reranker(settings -> settings.activation = Activation.SOFTMAX))
                .withMessage("activation must be sigmoid or none: a single score has no softmax");
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> reranker(settings -> settings.topK = 0))
                .withMessage("top-k must be at least 1, not 0");
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> reranker(settings -> settings.minScore = Double.NaN))
                .withMessage("min-score must be a number, not NaN");
    }

    private static void assertRefused(Runnable what, String problem) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(what::run)
                .withMessageContaining(problem)
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
    }
}
