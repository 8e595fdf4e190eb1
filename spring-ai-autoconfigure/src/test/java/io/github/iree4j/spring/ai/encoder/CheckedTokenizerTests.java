package io.github.iree4j.spring.ai.encoder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.spring.ai.HuggingFaceTextTokenizer;
import io.github.iree4j.spring.ai.TestTokenizers;
import io.github.iree4j.spring.ai.TextTokenizer;
import io.github.iree4j.spring.ai.TextTokenizer.Tokens;
import io.github.iree4j.spring.ai.encoder.CheckedTokenizer.Checked;
import io.github.iree4j.status.InvalidInputException;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.core.io.FileSystemResource;

@Timeout(900)
class CheckedTokenizerTests {

    private static CheckedTokenizer checked(TextTokenizer tokenizer, boolean truncate) {
        TestSettings settings = new TestSettings();
        settings.truncate = truncate;
        settings.maxTextLength = 20_000_000;
        return new CheckedTokenizer(tokenizer, settings.encoder(), EncoderTask.EMBEDDING);
    }

    /** Words, words without an end, blanks, punctuation, letters of other scripts, and halves of characters. */
    private static String text(Random random, int length) {
        List<String> pieces = List.of(
                "one ", "two", " ", "\n", "a", "b ", "!", "\u6f22", "\ud83d\ude00", "\ud800", "e\u0301", "\u0000");
        StringBuilder text = new StringBuilder();
        while (text.length() < length) {
            String piece = pieces.get(random.nextInt(pieces.size()));
            text.repeat(piece, random.nextInt(random.nextInt(8) == 0 ? 6000 : 4));
        }
        return text.toString();
    }

    @Test
    void longTextsHaveTheSameTokensAsWhenTokenizedAtOnce() {
        long seed = Long.getLong("iree4j.test.seed", 41);
        System.out.println("random: long texts, seed " + seed);
        Random random = new Random(seed);
        try (HuggingFaceTextTokenizer bert = TestTokenizers.bert();
                HuggingFaceTextTokenizer small = HuggingFaceTextTokenizer.load(
                        new FileSystemResource(SmallEncoder.DIRECTORY.resolve("tokenizer.json")))) {
            for (int round = 0; round < 60; round++) {
                TextTokenizer tokenizer = random.nextBoolean() ? bert : small;
                String text = text(random, random.nextInt(30_000));
                int most = 4 + random.nextInt(random.nextBoolean() ? 20 : 600);
                Tokens whole = tokenizer.tokenize(text);
                if (whole.size() == 0) {
                    continue;
                }
                Checked cut = checked(tokenizer, true).text(text, 0, 1, most);
                assertThat(cut.isCut()).as("round %d", round).isEqualTo(whole.size() > most);
                assertThat(Arrays.mismatch(cut.tokens().ids(), whole.cut(most).ids()))
                        .as("round %d, first token that differs", round)
                        .isEqualTo(-1);
            }
        }
    }

    @Test
    void longPairsHaveTheSameTokensAsWhenTokenizedAtOnce() {
        long seed = Long.getLong("iree4j.test.seed", 43);
        System.out.println("random: long pairs, seed " + seed);
        Random random = new Random(seed);
        try (HuggingFaceTextTokenizer bert = TestTokenizers.bert()) {
            CheckedTokenizer checked = checked(bert, true);
            int refused = 0;
            for (int round = 0; round < 60; round++) {
                String query = text(random, random.nextInt(random.nextInt(3) == 0 ? 20_000 : 60));
                String text = text(random, random.nextInt(random.nextBoolean() ? 20_000 : 60));
                int most = 5 + random.nextInt(random.nextBoolean() ? 20 : 200);
                String start;
                try {
                    start = checked.query(query, most);
                } catch (InvalidInputException e) {
                    assertThat(query).as("round %d", round).hasSizeGreaterThan(4096);
                    assertThat(bert.tokenize(query.substring(0, 4096)).size())
                            .as("round %d, a refused query: %s", round, e.getMessage())
                            .isLessThan(2 * most);
                    refused++;
                    continue;
                }
                Tokens whole = bert.tokenizePair(query, text);
                Checked cut = checked.pair(start, text, 0, 1, most);
                assertThat(cut.isCut()).as("round %d", round).isEqualTo(whole.size() > most);
                assertThat(cut.tokens().ids())
                        .as("round %d", round)
                        .containsExactly(whole.cut(most).ids());
                assertThat(cut.tokens().typeIds())
                        .as("round %d", round)
                        .containsExactly(whole.cut(most).typeIds());
            }
            assertThat(refused).as("queries of few tokens in many characters").isLessThan(20);
        }
    }

    @Test
    void tokenizesOnlyTheNeededPartOfAText() {
        List<Integer> seen = new ArrayList<>();
        try (HuggingFaceTextTokenizer bert = TestTokenizers.bert()) {
            TextTokenizer watched = text -> {
                seen.add(text.length());
                return bert.tokenize(text);
            };
            String text = "one ".repeat(2_600_000);
            assertThat(checked(watched, true).text(text, 0, 1, 512).tokens().size())
                    .isEqualTo(512);
            assertThat(seen).as("of 10,400,000 characters").containsExactly(512 * 32);
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> checked(watched, false).text(text, 0, 1, 512))
                    .withMessageContaining("text 1 of 1 has at least 4098 tokens, but the limit is 512");
            seen.clear();
            Checked late = checked(watched, true).text(" ".repeat(9000) + "one two three", 0, 1, 16);
            assertThat(late.tokens().ids()).as("what comes after blanks").hasSize(5);
            assertThat(seen).containsExactly(4096, 8192, 9013);
        }
    }
}
