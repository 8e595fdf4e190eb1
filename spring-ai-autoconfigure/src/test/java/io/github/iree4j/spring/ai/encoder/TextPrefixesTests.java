package io.github.iree4j.spring.ai.encoder;

import static io.github.iree4j.spring.test.IreeAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.IreeRuntime;
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
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.ai.document.Document;
import org.springframework.ai.document.MetadataMode;
import org.springframework.ai.embedding.EmbeddingOptions;
import org.springframework.ai.embedding.EmbeddingRequest;
import org.springframework.ai.embedding.EmbeddingResponse;
import org.springframework.ai.embedding.TokenCountBatchingStrategy;
import org.springframework.ai.vectorstore.SearchRequest;
import org.springframework.ai.vectorstore.SimpleVectorStore;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/**
 * Prefixes of texts, checked by the tokens that the program receives. Words {@code one} to {@code nine} are the tokens
 * 10 to 18.
 */
@IreeTest
@Timeout(900)
class TextPrefixesTests {

    private static final long CLS = TestTokenizers.CLS;
    private static final long SEP = TestTokenizers.SEP;
    private static final TextPrefixes PREFIXES = new TextPrefixes("eight ", "nine nine ", TextKind.QUERY);

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

    private IreeEmbeddingModel model(UnaryOperator<TestSettings> adapter, TextTokenizer tokens) {
        TestSettings settings = new TestSettings();
        settings.prefixes = PREFIXES;
        return new IreeEmbeddingModel(
                programs, invocations, tokens, adapter.apply(settings).settings(), ObservationRegistry.NOOP, null);
    }

    private IreeEmbeddingModel model() {
        return model(settings -> settings, tokenizer);
    }

    private static EmbeddingRequest request(IreeEmbeddingOptions options, String... texts) {
        return new EmbeddingRequest(List.of(texts), options);
    }

    private List<Long> lastRow() {
        return encoder.rows().getLast();
    }

    @Test
    void stringsAreQueriesAndDocumentsAreDocuments() {
        model().embed("one");
        assertThat(lastRow()).containsExactly(CLS, 17L, 10L, SEP);
        model().embed(new Document("one"));
        assertThat(lastRow()).containsExactly(CLS, 18L, 18L, 10L, SEP);
    }

    @Test
    void allWaysToEmbedADocumentAgree() {
        IreeEmbeddingModel model = model();
        Document document = new Document("one two");
        float[] expected = model.embed(document);
        IreeEmbeddingOptions asDocument = IreeEmbeddingOptions.DEFAULTS.kind(TextKind.DOCUMENT);
        List<EmbeddingOptions> options = new ArrayList<>(List.of(
                IreeEmbeddingOptions.DEFAULTS, EmbeddingOptions.builder().build(), asDocument));
        options.add(null);
        for (EmbeddingOptions each : options) {
            assertThat(model.embed(List.of(document), each, new TokenCountBatchingStrategy()))
                    .singleElement()
                    .isEqualTo(expected);
        }
        assertThat(model.call(request(asDocument, "one two")).getResult().getOutput())
                .isEqualTo(expected);
    }

    @Test
    void requestOptionsSelectTheKindOfTexts() {
        model().call(request(IreeEmbeddingOptions.DEFAULTS.kind(TextKind.PLAIN), "one"));
        assertThat(lastRow()).containsExactly(CLS, 10L, SEP);
        model().call(request(IreeEmbeddingOptions.DEFAULTS.kind(TextKind.DOCUMENT), "one"));
        assertThat(lastRow()).containsExactly(CLS, 18L, 18L, 10L, SEP);
        model().embed(
                        List.of(new Document("one")),
                        IreeEmbeddingOptions.DEFAULTS.kind(TextKind.QUERY),
                        new TokenCountBatchingStrategy());
        assertThat(lastRow()).as("even of documents").containsExactly(CLS, 17L, 10L, SEP);
    }

    @Test
    void settingsSelectTheKindOfStrings() {
        IreeEmbeddingModel model = model(
                settings -> {
                    settings.prefixes = new TextPrefixes("eight ", "nine nine ", TextKind.PLAIN);
                    return settings;
                },
                tokenizer);
        model.embed(List.of("one"));
        assertThat(lastRow()).containsExactly(CLS, 10L, SEP);
    }

    @Test
    void vectorStoreUsesDocumentAndQueryPrefixes() {
        SimpleVectorStore store = SimpleVectorStore.builder(model()).build();
        store.add(List.of(new Document("one")));
        assertThat(lastRow()).containsExactly(CLS, 18L, 18L, 10L, SEP);
        store.similaritySearch(SearchRequest.builder().query("one").build());
        assertThat(lastRow()).containsExactly(CLS, 17L, 10L, SEP);
    }

    @Test
    void prefixCountsTowardTheTokensAndIsNeverTruncated() {
        EmbeddingResponse response = model().call(request(
                IreeEmbeddingOptions.DEFAULTS.kind(TextKind.DOCUMENT), "one ".repeat(30), "one ".repeat(12), "one"));
        assertThat(response.getMetadata().getUsage().getPromptTokens()).isEqualTo(16 + 16 + 5);
        assertThat(response.getMetadata().<Integer>get("truncated")).isEqualTo(1);
        assertThat(encoder.rows())
                .allSatisfy(row -> assertThat(row).startsWith(CLS, 18L, 18L, 10L))
                .anySatisfy(row -> assertThat(row).hasSize(16).endsWith(10L, SEP));
        IreeEmbeddingModel refusing = model(
                settings -> {
                    settings.truncate = false;
                    return settings;
                },
                tokenizer);
        assertThat(refusing.embed("one ".repeat(13))).hasSize(3);
        assertRefused(
                () -> refusing.embed("one ".repeat(14)),
                StatusCode.INVALID_ARGUMENT,
                "text 1 of 1 has 17 tokens, but the limit is 16");
    }

    /** Otherwise a text that starts with a prefix would have the embedding of another text. */
    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void textStartingWithThePrefixGetsItAgainWithAWarning(CapturedOutput output) {
        IreeEmbeddingModel model = model();
        model.embed("one");
        assertThat(output).doesNotContain("adds again");
        model.embed("eight one");
        model.embed("eight two");
        assertThat(lastRow()).containsExactly(CLS, 17L, 17L, 11L, SEP);
        assertThat(output.toString().split("adds again", -1)).as("one warning").hasSize(2);
    }

    @Test
    void differentTextsHaveDifferentTokens() {
        long seed = Long.getLong("iree4j.test.seed", 31);
        System.out.println("random: prefixed texts, seed " + seed);
        Random random = new Random(seed);
        List<String> words = List.of("one", "eight", "nine");
        Set<String> texts = new HashSet<>();
        while (texts.size() < 60) {
            List<String> chosen = new ArrayList<>();
            for (int i = 0; i <= random.nextInt(4); i++) {
                chosen.add(words.get(random.nextInt(words.size())));
            }
            texts.add(String.join(" ", chosen));
        }
        IreeEmbeddingModel model = model();
        texts.forEach(model::embed);
        assertThat(new HashSet<>(encoder.rows())).hasSize(60);
    }

    @Test
    void rejectsPrefixLeavingNoRoomForText() {
        IreeEmbeddingModel model = model(
                settings -> {
                    settings.maxTokens = 4;
                    return settings;
                },
                tokenizer);
        assertRefused(
                model::check,
                StatusCode.FAILED_PRECONDITION,
                "the prefix of iree.ai.embedding.prefix.document has 4 tokens, special ones included, which leaves no room for text within the limit of 4");
        assertRefused(() -> model.embed(new Document("one")), StatusCode.FAILED_PRECONDITION, "leaves no room");
        assertThat(model.embed("one")).as("that of queries is shorter").hasSize(3);
    }

    @Test
    void prefixDoesNotMakeATextWithoutTokensValid() {
        try (HuggingFaceTextTokenizer bare = HuggingFaceTextTokenizer.load(TestTokenizers.file(TestTokenizers.BARE))) {
            IreeEmbeddingModel model = model(
                    settings -> {
                        settings.prefixes = new TextPrefixes("one ", "two ", TextKind.QUERY);
                        return settings;
                    },
                    bare);
            model.embed("two");
            assertThat(lastRow()).containsExactly(0L, 1L);
            assertRefused(
                    () -> model.embed(List.of("one", "  ")),
                    StatusCode.INVALID_ARGUMENT,
                    "text 2 of 2 has no tokens in 2 characters");
            assertRefused(() -> model.embed(""), StatusCode.INVALID_ARGUMENT, "text 1 of 1 has no tokens");
        }
    }

    @Test
    void prefixPrecedesMetadata() {
        IreeEmbeddingModel model = model(
                settings -> {
                    settings.metadataMode = MetadataMode.EMBED;
                    return settings;
                },
                tokenizer);
        model.embed(Document.builder().text("one").metadata("six", "two").build());
        assertThat(lastRow()).startsWith(CLS, 18L, 18L, 15L).contains(11L, 10L);
    }

    private static void assertRefused(Runnable what, StatusCode code, String problem) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(what::run)
                .withMessageContaining(problem)
                .satisfies(e -> assertThat(e.code()).isEqualTo(code));
    }
}
