package io.github.iree4j.generation.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.Effort;
import io.github.iree4j.generation.GenerationRequest;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("long")
class TokenConstraintTest {
    private static final int ROUNDS = Effort.rounds(400, 20_000);
    private static final long SEED = Effort.seed(TokenConstraintTest.class, ROUNDS + " rounds", 21);
    private static final String[] PIECES = {
        "{", "}", "\"", ":", ",", "[", "]", " ", "\"}", "\"},", "\":", "\": \"", "true", "tr", "ue", "null", "12", "-",
        "e", "a", "ab", "é", "🙂", "\\", "\\u00", "{\"a\":", "}}"
    };
    private static final String SCHEMA =
            "{\"properties\":{\"a\":{\"type\":\"string\"},\"🙂\":{\"items\":{\"enum\":[true,null,12]}}},\"required\":[\"🙂\"]}";

    /** Texts of tokens: all bytes, pieces, halves of characters, and none for the last. */
    private static TokenVocabulary vocabulary(SplittableRandom random) {
        List<byte[]> texts = new ArrayList<>();
        IntStream.range(0, 256).forEach(each -> texts.add(new byte[] {(byte) each}));
        for (String each : PIECES) {
            byte[] bytes = each.getBytes(StandardCharsets.UTF_8);
            texts.add(random.nextInt(texts.size()), bytes);
            if (bytes.length > 2) {
                texts.add(random.nextInt(texts.size()), Arrays.copyOf(bytes, bytes.length - 2));
            }
        }
        texts.add(new byte[0]);
        return TokenVocabulary.of(texts);
    }

    private static TokenVocabulary vocabulary(String... texts) {
        return TokenVocabulary.of(Stream.of(texts)
                .map(each -> each.getBytes(StandardCharsets.UTF_8))
                .toList());
    }

    private static Sampler sampler(TokenConstraint constraint, int... stops) {
        return Samplers.of(GenerationRequest.of(1, 0)
                .sampling(SamplingOptions.builder().constraint(constraint).build())
                .stopAt(Set.copyOf(IntStream.of(stops).boxed().toList())));
    }

    @Test
    void aTokenMayFollowIfItsBytesMay() {
        for (int round = 0; round < ROUNDS; round++) {
            SplittableRandom random = new SplittableRandom(SEED + round);
            TokenVocabulary vocabulary = vocabulary(random);
            TokenConstraint constraint = TokenConstraint.jsonSchema(vocabulary, SCHEMA);
            int state = random.nextInt(1, constraint.automaton().size());
            long[] following = constraint.following(state);
            for (int token = 0; token < vocabulary.size(); token++) {
                byte[] text = vocabulary.text(token);
                boolean may = text.length > 0 && constraint.automaton().next(state, text) != ByteAutomaton.DEAD;
                assertThat((following[token / 64] >>> token & 1) == 1)
                        .as("token %d in state %d, round %d, seed %d", token, state, round, SEED)
                        .isEqualTo(may);
            }
            assertThat(constraint.following(state)).as("computed once").isSameAs(following);
        }
    }

    @Test
    void answersToRandomLogitsAreInstances() {
        ByteAutomaton expected =
                TokenConstraint.jsonSchema(TokenVocabulary.bytes(), SCHEMA).automaton();
        for (int round = 0; round < ROUNDS; round++) {
            SplittableRandom random = new SplittableRandom(SEED + round);
            TokenVocabulary vocabulary = vocabulary(random);
            int stop = vocabulary.size() - 1;
            Sampler sampler = Samplers.of(GenerationRequest.of(1, 0)
                    .sampling(SamplingOptions.builder()
                            .temperature(random.nextInt(2))
                            .topK(random.nextInt(20))
                            .topP(0.9f)
                            .seed(random.nextLong())
                            .frequencyPenalty(random.nextInt(2))
                            .constraint(TokenConstraint.jsonSchema(vocabulary, SCHEMA))
                            .build())
                    .stopAt(Set.of(stop)));
            ByteArrayOutputStream text = new ByteArrayOutputStream();
            int token = -1;
            int bytes = 0;
            while (token != stop && !sampler.isComplete()) {
                float[] logits = new float[vocabulary.size()];
                for (int i = 0; i < logits.length; i++) {
                    logits[i] = random.nextInt(-4, 5);
                    byte[] each = vocabulary.text(i);
                    if (each.length > 0 && (each[0] == '"' || each[0] == ']') && bytes > 50) {
                        logits[i] = each[0] == '"' ? 90 : 30; // to an end
                    }
                }
                token = sampler.choose(logits, logits.length);
                text.writeBytes(vocabulary.text(token));
                bytes = text.size();
                assertThat(bytes)
                        .as(
                                "%s, round %d, seed %d",
                                text.toString(StandardCharsets.UTF_8).length() < 4900
                                        ? ""
                                        : text.toString(StandardCharsets.UTF_8).substring(0, 200),
                                round,
                                SEED)
                        .isLessThan(5000);
            }
            String answer = text.toString(StandardCharsets.UTF_8);
            assertThat(AutomatonWalk.accepts(expected, answer))
                    .as("%s, round %d, seed %d", answer, round, SEED)
                    .isTrue();
        }
    }

    private static String head(ByteArrayOutputStream text) {
        String all = text.toString(StandardCharsets.UTF_8);
        return all.substring(0, Math.min(all.length(), 300));
    }

    @Test
    void excludedTokensLoseWhateverTheirLogits() {
        TokenVocabulary vocabulary = vocabulary("x", "ab", "a", "b", "é", "");
        Sampler sampler = sampler(TokenConstraint.regex(vocabulary, "a(b|é)"));
        float[] logits = {90, 1, 2, 1, 1, 80};
        assertThat(sampler.choose(logits, 6)).isEqualTo(2);
        assertThat(sampler.isComplete()).isFalse();
        assertThat(sampler.choose(logits, 6)).isEqualTo(3);
        assertThat(sampler.isComplete()).isTrue();
    }

    @Test
    void stopTokensAreChosenWhereTheTextIsCompleteOnly() {
        TokenVocabulary vocabulary = vocabulary("a", "b", "");
        Sampler sampler = sampler(TokenConstraint.regex(vocabulary, "(ab)+"), 2);
        float[] logits = {0, 0, 5};
        assertThat(sampler.choose(logits, 3)).isZero();
        assertThat(sampler.choose(logits, 3)).isEqualTo(1);
        assertThat(sampler.isComplete()).isFalse();
        assertThat(sampler.choose(logits, 3)).isEqualTo(2);
        Sampler textual = sampler(TokenConstraint.regex(vocabulary, "[ab]b*"), 1);
        assertThat(textual.choose(new float[] {0, 9, 0}, 3))
                .as("a stop token with text is no text")
                .isZero();
        assertThat(textual.isComplete())
                .as("nothing but a stop token can follow")
                .isTrue();
    }

    @Test
    void aCharacterMayBeSplitOverTokens() {
        byte[] smile = "🙂".getBytes(StandardCharsets.UTF_8);
        TokenVocabulary vocabulary = TokenVocabulary.of(
                List.of(new byte[] {smile[1]}, Arrays.copyOf(smile, 3), new byte[] {smile[3]}, new byte[] {smile[0]}));
        Sampler sampler = sampler(TokenConstraint.regex(vocabulary, "[🙂🙃]"));
        float[] logits = {9, 0, 8, 0};
        assertThat(sampler.choose(logits, 4)).isEqualTo(1);
        assertThat(sampler.choose(logits, 4)).isEqualTo(2);
        assertThat(sampler.isComplete()).isTrue();
    }

    @Test
    void aVocabularyWithoutTheNeededCharactersIsAFailure() {
        Sampler sampler = sampler(TokenConstraint.regex(vocabulary("a", "c"), "ab|cc"));
        assertThat(sampler.choose(new float[] {1, 0}, 2)).isZero();
        assertThat(sampler.isComplete()).isFalse();
        assertThatThrownBy(() -> sampler.choose(new float[] {1, 0}, 2))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.FAILED_PRECONDITION))
                .hasMessageContaining(
                        "none of the model's 2 tokens continues the text of the constraint after 1 tokens");
    }

    @Test
    void theEmptyTextAloneIsNoAnswer() {
        for (String each : new String[] {"", "^$", "a{0}"}) {
            assertThatThrownBy(() -> TokenConstraint.regex(TokenVocabulary.bytes(), each))
                    .isInstanceOf(IreeException.class)
                    .hasMessageContaining("the regular expression allows the empty text only");
        }
        assertThat(sampler(TokenConstraint.regex(TokenVocabulary.bytes(), "a?"), 0)
                        .choose(new float[256], 256))
                .as("the text may end at once")
                .isZero();
    }

    @Test
    void ofCandidatesTheAllowedAreChosen() {
        Sampler sampler = sampler(TokenConstraint.regex(vocabulary("a", "b", "c", "d"), "(b|d)*"), 70);
        assertThat(sampler.choose(new float[] {9, 1, 2, 3}, new int[] {0, 1, 3, 900}, 4))
                .isEqualTo(3);
        assertThat(sampler.choose(new float[] {9, 1, 2}, new int[] {0, 1, 70}, 3))
                .isEqualTo(70);
    }

    @Test
    void aCompleteTextWithoutACandidateEnds() {
        Sampler sampler = sampler(TokenConstraint.regex(vocabulary("a", "b", "c", "d"), "([ab]b)*"));
        int[] others = {2, 3};
        assertThatThrownBy(() -> sampler.choose(new float[2], others, 2))
                .as("an answer has a token")
                .hasMessageContaining("none of the model's 2 candidates continues");
        assertThat(sampler.choose(new float[2], new int[] {0, 2}, 2)).isZero();
        assertThatThrownBy(() -> sampler.choose(new float[2], others, 2))
                .hasMessageContaining("none of the model's 2 candidates continues")
                .hasMessageContaining("or a larger top_k");
        assertThat(sampler.choose(new float[2], new int[] {1, 2}, 2)).isEqualTo(1);
        assertThat(sampler.isComplete()).as("a token may follow").isFalse();
        assertThat(sampler.choose(new float[2], others, 2)).isEqualTo(Sampler.NONE);
    }

    @Test
    void logProbabilitiesAreOfAllTokens() {
        Sampler sampler = Samplers.of(GenerationRequest.of(1, 0)
                .sampling(SamplingOptions.builder()
                        .constraint(TokenConstraint.regex(vocabulary("a", "b"), "b"))
                        .logProbabilities(1)
                        .build()));
        assertThat(sampler.choose(new float[] {0, Float.NEGATIVE_INFINITY}, 2)).isEqualTo(1);
        assertThat(sampler.logProbabilities()).hasToString("-Infinity 0=0.0");
    }

    @Test
    void eachStateHasTheSetOfItsKind() {
        for (int round = 0; round < ROUNDS / 4; round++) {
            SplittableRandom random = new SplittableRandom(SEED + round);
            TokenVocabulary vocabulary = vocabulary(random);
            TokenConstraint constraint = TokenConstraint.jsonSchema(
                    vocabulary,
                    "{\"items\":{\"type\":\"string\",\"minLength\":%d,\"maxLength\":%d},\"maxItems\":2}"
                            .formatted(random.nextInt(3), random.nextInt(3, 9)));
            for (int state = 0; state < constraint.automaton().size(); state++) {
                assertThat(constraint.following(state))
                        .as("state %d, round %d, seed %d", state, round, SEED)
                        .isEqualTo(vocabulary.following(constraint.automaton(), state));
            }
        }
    }

    /** The longest token is shorter than both maximums. */
    @Test
    void aLongMaximumLengthNeedsFewSets() {
        TokenVocabulary vocabulary = vocabulary(new SplittableRandom(1));
        long set = 8L * Math.ceilDiv(vocabulary.size(), 64);
        long[] kept = new long[2];
        for (int i = 0; i < 2; i++) {
            TokenConstraint constraint = TokenConstraint.jsonSchema(
                    vocabulary, "{\"type\":\"string\",\"maxLength\":%d}".formatted(20 + 400 * i));
            IntStream.range(0, constraint.automaton().size()).forEach(constraint::following);
            kept[i] = constraint.keptBytes() / set;
        }
        assertThat(kept[1]).isEqualTo(kept[0]).isLessThan(200);
    }

    @Test
    void theSameConstraintServesManyThreads() throws InterruptedException {
        TokenConstraint constraint = TokenConstraint.jsonSchema(vocabulary(new SplittableRandom(1)), SCHEMA);
        List<Thread> threads = new ArrayList<>();
        List<long[]> wrong = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int seed = i;
            threads.add(Thread.ofPlatform()
                    .start(() -> new SplittableRandom(seed)
                            .ints(400, 1, constraint.automaton().size())
                            .forEach(state -> {
                                long[] expected = constraint.vocabulary().following(constraint.automaton(), state);
                                if (!Arrays.equals(constraint.following(state), expected)) {
                                    synchronized (wrong) {
                                        wrong.add(expected);
                                    }
                                }
                            })));
        }
        for (Thread each : threads) {
            each.join();
        }
        assertThat(wrong).isEmpty();
    }

    @Test
    void setsOfTokensHaveBoundedMemory() {
        List<byte[]> texts = new ArrayList<>();
        for (int i = 0; i < 1 << 20; i++) { // 128 KiB for a set
            texts.add(new byte[] {'a'});
        }
        texts.set(63, "a".repeat(200).getBytes(StandardCharsets.UTF_8)); // so that each state has a set of its own
        TokenConstraint constraint = TokenConstraint.regex(TokenVocabulary.of(texts), "a{200}");
        for (int state = 1; state <= 200; state++) {
            constraint.following(state);
        }
        assertThat(constraint.keptBytes()).isEqualTo(16 << 20);
        long[] last = constraint.following(200);
        assertThat(constraint.following(200)).isSameAs(last);
        assertThat(constraint.following(1)[0]).isEqualTo(-1L);
    }

    @Test
    void anyTextOfTheExpressionCanBeGenerated() {
        Pattern pattern = Pattern.compile("[ab]{1,3}(,[ab])*");
        TokenConstraint constraint = TokenConstraint.regex(TokenVocabulary.bytes(), pattern.pattern());
        for (int round = 0; round < ROUNDS; round++) {
            String text = new AutomatonWalk(constraint.automaton()).text(new SplittableRandom(SEED + round), 9);
            assertThat(text).matches(pattern);
            Sampler sampler = sampler(constraint, 0);
            for (byte each : text.getBytes(StandardCharsets.UTF_8)) {
                float[] logits = new float[256];
                logits[each] = 1;
                assertThat(sampler.choose(logits, 256)).isEqualTo(each);
            }
            float[] end = new float[256];
            end[0] = 1;
            assertThat(sampler.choose(end, 256)).as(text).isZero();
        }
    }
}
