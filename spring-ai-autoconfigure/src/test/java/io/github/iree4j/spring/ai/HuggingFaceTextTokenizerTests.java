package io.github.iree4j.spring.ai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import ai.djl.util.Ec2Utils;
import com.sun.management.ThreadMXBean;
import io.github.iree4j.spring.ai.TextTokenizer.Tokens;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.FileSystemResource;

@Timeout(900)
class HuggingFaceTextTokenizerTests {

    @TempDir
    private Path directory;

    @Test
    void addsAndCountsSpecialTokens() {
        try (HuggingFaceTextTokenizer tokenizer = TestTokenizers.bert()) {
            Tokens tokens = tokenizer.tokenize("One, two aab");
            assertThat(tokens.ids()).containsExactly(TestTokenizers.CLS, 10, 1, 11, 20, 21, 23, TestTokenizers.SEP);
            assertThat(tokens.typeIds()).hasSize(8).containsOnly(0);
            assertThat(tokens.sequences()).containsExactly(-1, 0, 0, 0, 0, 0, 0, -1);
            assertThat(tokenizer.maxTokens()).hasValue(16);
        }
    }

    @Test
    void pairsHaveTheTokensOfTheirTemplate() {
        try (HuggingFaceTextTokenizer tokenizer = TestTokenizers.bert()) {
            Tokens tokens = tokenizer.tokenizePair("one [SEP]", "two three");
            assertThat(tokens.ids()).containsExactly(2, 10, 3, 3, 11, 12, 3);
            assertThat(tokens.typeIds()).containsExactly(0, 0, 0, 0, 1, 1, 1);
            assertThat(tokens.sequences())
                    .as("special tokens in texts are text")
                    .containsExactly(-1, 0, 0, -1, 1, 1, -1);
            TextTokenizer single = tokenizer::tokenize;
            assertThat(single.tokenizePair("one", "two three").ids())
                    .containsExactly(tokenizer.tokenizePair("one", "two three").ids());
            assertThat(single.tokenizePair("one", "two three").sequences())
                    .containsExactly(tokenizer.tokenizePair("one", "two three").sequences());
        }
    }

    @Test
    void pairsAreCutAtTheLongerText() {
        try (HuggingFaceTextTokenizer tokenizer = TestTokenizers.bert()) {
            Tokens tokens = tokenizer.tokenizePair("one two three", "four five six seven eight");
            assertThat(tokens.cut(9).ids()).containsExactly(2, 10, 11, 12, 3, 13, 14, 15, 3);
            assertThat(tokens.cut(8).ids()).containsExactly(2, 10, 11, 12, 3, 13, 14, 3);
            assertThat(tokens.cut(5).ids()).containsExactly(2, 10, 3, 13, 3);
            assertThat(tokens.cut(5).typeIds()).containsExactly(0, 0, 0, 1, 1);
            assertThat(tokenizer
                            .tokenizePair("one two three four", "five")
                            .cut(6)
                            .ids())
                    .containsExactly(2, 10, 11, 3, 14, 3);
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> tokens.cut(4))
                    .withMessageContaining("4 tokens leave no room for text next to 3 special ones");
        }
    }

    @Test
    void emptyTextHasOnlySpecialTokens() {
        try (HuggingFaceTextTokenizer tokenizer = TestTokenizers.bert()) {
            Tokens tokens = tokenizer.tokenize("");
            assertThat(tokens.ids()).containsExactly(TestTokenizers.CLS, TestTokenizers.SEP);
            assertThat(tokens.size(Tokens.SPECIAL)).isEqualTo(2);
        }
    }

    @Test
    void truncationKeepsSpecialTokens() {
        try (HuggingFaceTextTokenizer tokenizer = TestTokenizers.bert()) {
            Tokens tokens = tokenizer.tokenize("one ".repeat(1000));
            assertThat(tokens.size())
                    .as("the limit of the file is not applied here")
                    .isEqualTo(1002);
            assertThat(tokens.cut(5).ids()).containsExactly(TestTokenizers.CLS, 10, 10, 10, TestTokenizers.SEP);
            assertThat(tokens.cut(5).typeIds()).hasSize(5);
            assertThat(tokens.cut(2000)).isSameAs(tokens);
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> tokens.cut(2))
                    .withMessageContaining("no room for text next to 2 special ones");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\ud800",
                "one \udc00 two",
                "one\0two",
                "\u202e\ufeff\u200d",
                "\ud83d\ude00",
                "\uffff",
                "a\u0301\u0301\u0301"
            })
    void acceptsAnyJavaString(String text) {
        try (HuggingFaceTextTokenizer tokenizer = TestTokenizers.bert()) {
            assertThat(tokenizer.tokenize(text).size()).isGreaterThanOrEqualTo(2);
        }
    }

    @Test
    void unpairedSurrogatesDoNotAffectOtherCharacters() {
        try (HuggingFaceTextTokenizer tokenizer = TestTokenizers.bert()) {
            for (String half : List.of("\ud800", "\udc00", "\udc00\ud83d")) {
                assertThat(tokenizer.tokenize("\ud83d\ude00one " + half).ids())
                        .containsExactly(tokenizer.tokenize("\ud83d\ude00one ").ids());
                assertThat(tokenizer
                                .tokenize(half + "one" + half + " \ud83d\ude00two")
                                .ids())
                        .containsExactly(tokenizer
                                .tokenize("\ufffdone\ufffd \ud83d\ude00two")
                                .ids());
            }
        }
    }

    @Test
    void textWithoutTokensFailsWithoutCrashing() {
        try (HuggingFaceTextTokenizer tokenizer =
                HuggingFaceTextTokenizer.load(TestTokenizers.file(TestTokenizers.BARE))) {
            assertThat(tokenizer.tokenize("one two").ids()).containsExactly(0, 1);
            assertThat(tokenizer.tokenize("").size()).isZero();
            assertThat(tokenizer.maxTokens()).isEmpty();
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> tokenizer.tokenize("three"))
                    .withMessageContaining("[UNK]")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
            assertThat(tokenizer.tokenizePair("one", "two").typeIds()).containsExactly(0, 1);
            assertThat(tokenizer.tokenizePair("", "").size()).isZero();
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> tokenizer.tokenizePair("one", "three"))
                    .withMessageContaining("[UNK]")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
        }
    }

    static Stream<Arguments> reportsInvalidFiles() {
        return Stream.of(
                Arguments.of("", "has no member 'model'"),
                Arguments.of("this is not it", "is not JSON"),
                Arguments.of(TestTokenizers.BERT.substring(0, 700), "is not JSON"),
                Arguments.of("[]", "has no member 'model'"),
                Arguments.of("{\"hidden_size\": 384}", "has no member 'model'"),
                Arguments.of("{\"model\": {}}", "is not a tokenizer that the library supports"),
                Arguments.of(
                        TestTokenizers.BERT.replace("\"WordPiece\", \"unk", "\"Telepathy\", \"unk"),
                        "is not a tokenizer that the library supports"),
                Arguments.of(
                        TestTokenizers.BERT.replace("\"one\": 10", "\"one\": -10"),
                        "is not a tokenizer that the library supports"));
    }

    @ParameterizedTest
    @MethodSource
    void reportsInvalidFiles(String json, String problem) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> HuggingFaceTextTokenizer.load(TestTokenizers.file(json)))
                .withMessageContaining("tokenizer.json of the test")
                .withMessageContaining(problem)
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
    }

    /** Materialised, ten million numbers would be as many objects. */
    @Test
    void skippedPartsTakeNoMemory() {
        byte[] json = ("{\"x\": [" + "0,".repeat(10_000_000) + "0]}").getBytes(StandardCharsets.UTF_8);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> HuggingFaceTextTokenizer.load(new ByteArrayResource(json, "large file")))
                .withMessageContaining("large file")
                .withMessageContaining("has no member 'model'");
        assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(4L * json.length);
    }

    @Test
    void rejectsLargeTemplatesAndOtherEncodings() {
        String large = TestTokenizers.BERT.replace("\"pair\": [", "\"pair\": [" + " ".repeat(1 << 20));
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> HuggingFaceTextTokenizer.load(TestTokenizers.file(large)))
                .withMessageContaining("has a member 'post_processor' of 1049")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
        byte[] other = TestTokenizers.BERT.getBytes(StandardCharsets.UTF_16);
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> HuggingFaceTextTokenizer.load(new ByteArrayResource(other, "file of 16 bits")))
                .withMessageContaining("file of 16 bits")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
    }

    /** The library uses the last one, and crashes the process on an undeclared token. */
    @Test
    void checksEachOfSeveralTemplates() {
        String bad = """
                "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "[NO]", "type_id": 0}}],
                  "pair": [], "special_tokens": {}},
                """;
        for (String json : List.of(
                TestTokenizers.BERT.replaceFirst("\\{", "{" + bad),
                TestTokenizers.BERT.replace("\"decoder\"", bad + "\"decoder\""))) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> HuggingFaceTextTokenizer.load(TestTokenizers.file(json)))
                    .withMessageContaining("special token '[NO]', which it does not declare");
        }
    }

    @Test
    void reportsMissingFile() {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() ->
                        HuggingFaceTextTokenizer.load(new FileSystemResource(directory.resolve("tokenizer.json"))))
                .withMessageContaining("does not exist")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.NOT_FOUND));
    }

    @Test
    void damagedFilesAreRejectedOrRead() {
        long seed = Long.getLong("iree4j.test.seed", 20251122);
        System.out.println("fuzz: damaged tokenizers, seed " + seed);
        Random random = new Random(seed);
        byte[] good = TestTokenizers.BERT.getBytes(StandardCharsets.UTF_8);
        int refused = 0;
        for (int round = 0; round < 500; round++) {
            byte[] bad = good.clone();
            for (int i = 0; i <= random.nextInt(3); i++) {
                bad[random.nextInt(bad.length)] =
                        (byte) (random.nextBoolean() ? '0' + random.nextInt(10) : random.nextInt(256));
            }
            try (HuggingFaceTextTokenizer tokenizer =
                    HuggingFaceTextTokenizer.load(new ByteArrayResource(bad, "damaged file"))) {
                assertThat(tokenizer.tokenize("one two ab").size()).isNotNegative();
            } catch (IreeException e) {
                assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT);
                refused++;
            }
        }
        assertThat(refused).isGreaterThan(100);
    }

    @Test
    void closingWaitsForCallsInFlight() throws Exception {
        for (int round = 0; round < 20; round++) {
            HuggingFaceTextTokenizer tokenizer = TestTokenizers.bert();
            String text = "one two three ".repeat(200);
            CountDownLatch begun = new CountDownLatch(4);
            AtomicInteger wrong = new AtomicInteger();
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                threads.add(Thread.ofPlatform().start(() -> {
                    try {
                        while (true) {
                            wrong.addAndGet(tokenizer.tokenize(text).size() == 602 ? 0 : 1);
                            begun.countDown();
                        }
                    } catch (IreeException e) {
                        wrong.addAndGet(e.code() == StatusCode.FAILED_PRECONDITION ? 0 : 1);
                    }
                }));
            }
            begun.await();
            tokenizer.close();
            tokenizer.close();
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(wrong).hasValue(0);
        }
    }

    @Test
    void libraryDoesNotQueryCloudMetadata() throws Exception {
        TestTokenizers.bert().close();
        Field asked = Ec2Utils.class.getDeclaredField("lastCheckIn");
        asked.setAccessible(true);
        assertThat(asked.getLong(null)).isZero();
        assertThat(System.getProperty("OPT_OUT_TRACKING"))
                .as("system properties are restored")
                .isNull();
    }
}
