package io.github.iree4j.generation.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.Effort;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.SplittableRandom;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Regular expressions, compared with the JDK's. */
@Tag("long")
@Timeout(600)
class RegularExpressionTest {
    private static final int ROUNDS = Effort.rounds(1_600, 40_000);
    private static final long SEED = Effort.seed(RegularExpressionTest.class, ROUNDS + " patterns", 11);
    private static final String[] CHARACTERS = {"a", "b", "c", "é", "λ", "€", "ﬃ", "🙂", "🧵", "0", "7", "_", "-", " "};

    private static ByteAutomaton whole(String pattern) {
        return ByteAutomaton.of("regular expression", RegularExpression.whole(pattern));
    }

    @Test
    void randomPatternsMatchLikeTheJdk() {
        int refused = 0;
        for (int round = 0; round < ROUNDS; round++) {
            SplittableRandom random = new SplittableRandom(SEED + round);
            String pattern = pattern(random, 3);
            String start = random.nextInt(3) == 0 ? "^" : "";
            String end = random.nextInt(3) == 0 ? "$" : "";
            Pattern expected = Pattern.compile(pattern);
            Pattern expectedAnywhere = Pattern.compile(start + "(?:" + pattern + ")" + end);
            ByteAutomaton whole;
            ByteAutomaton anywhere;
            try {
                whole = whole(pattern);
                anywhere = ByteAutomaton.of(
                        "regular expression",
                        RegularExpression.anywhere(start + "(?:" + pattern + ")" + end, CharacterSet::utf8));
            } catch (IreeException e) {
                assertThat(e).hasMessageContaining("needs more than");
                refused++;
                continue;
            }
            AutomatonWalk walk = new AutomatonWalk(whole);
            assertThat(walk.isTrim()).as(pattern).isTrue();
            for (int i = 0; i < 20; i++) {
                String text = i < 5 ? walk.text(random, random.nextInt(12)) : text(random);
                if (text.indexOf('\u0085') >= 0) { // a line end for the JDK only
                    continue;
                }
                String what = "'%s' of '%s', round %d, seed %d".formatted(text, pattern, round, SEED);
                assertThat(AutomatonWalk.accepts(whole, text))
                        .as(what)
                        .isEqualTo(expected.matcher(text).matches());
                assertThat(AutomatonWalk.accepts(anywhere, text))
                        .as("%s, %s%s anywhere", what, start, end)
                        .isEqualTo(expectedAnywhere.matcher(text).find());
            }
        }
        assertThat(refused).as("patterns that are too large").isLessThan(ROUNDS / 10);
    }

    private static String text(SplittableRandom random) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(7); i > 0; i--) {
            text.append(CHARACTERS[random.nextInt(CHARACTERS.length)]);
        }
        return text.toString();
    }

    private static String pattern(SplittableRandom random, int depth) {
        StringBuilder pattern = new StringBuilder();
        for (int i = random.nextInt(4); i >= 0; i--) {
            pattern.append(part(random, depth)).append(quantifier(random));
            if (depth > 0 && random.nextInt(5) == 0) {
                pattern.append('|');
            }
        }
        return pattern.toString();
    }

    private static String part(SplittableRandom random, int depth) {
        return switch (random.nextInt(depth == 0 ? 6 : 9)) {
            case 0 -> ".";
            case 1 -> "\\" + "dDwWsS".charAt(random.nextInt(4)); // the JDK's spaces are ASCII
            case 2, 3 -> set(random);
            case 6, 7 -> "(" + pattern(random, depth - 1) + ")";
            case 8 -> "(?:" + pattern(random, depth - 1) + ")";
            default -> CHARACTERS[random.nextInt(CHARACTERS.length)];
        };
    }

    private static String set(SplittableRandom random) {
        StringBuilder set = new StringBuilder(random.nextInt(3) == 0 ? "[^" : "[");
        for (int i = random.nextInt(3); i >= 0; i--) {
            int from = random.nextInt(CHARACTERS.length);
            int to = random.nextInt(CHARACTERS.length);
            String low =
                    CHARACTERS[from].codePointAt(0) < CHARACTERS[to].codePointAt(0) ? CHARACTERS[from] : CHARACTERS[to];
            String high = low.equals(CHARACTERS[from]) ? CHARACTERS[to] : CHARACTERS[from];
            set.append(low.equals("-") ? "\\-" : low);
            if (random.nextBoolean()) {
                set.append('-').append(high.equals("-") ? "\\-" : high);
            }
        }
        return set.append(']').toString();
    }

    private static String quantifier(SplittableRandom random) {
        return switch (random.nextInt(12)) {
            case 0 -> "*";
            case 1 -> "+";
            case 2 -> "?";
            case 3 -> "*?";
            case 4 -> "{2}";
            case 5 -> "{1,}";
            case 6 -> "{0,2}";
            case 7 -> "{0}";
            default -> "";
        };
    }

    @Test
    void setsOfCharactersAreEncodedExactly() {
        SplittableRandom random = new SplittableRandom(SEED);
        int[] edges = {0, 0x7f, 0x80, 0x7ff, 0x800, 0xfff, 0x1000, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x3ffff, 0x10ffff};
        for (int round = 0; round < 20; round++) {
            int one = edges[random.nextInt(edges.length)] + random.nextInt(-2, 3);
            int other = edges[random.nextInt(edges.length)] + random.nextInt(-2, 3);
            int low = Math.clamp(Math.min(one, other), 0, Character.MAX_CODE_POINT);
            int high = Math.clamp(Math.max(one, other), 0, Character.MAX_CODE_POINT);
            CharacterSet set = CharacterSet.of(low, high);
            boolean negated = round % 2 == 1;
            CharacterSet tested = negated ? set.complement() : set;
            if (tested.isEmpty()) {
                continue;
            }
            ByteAutomaton automaton = ByteAutomaton.of("set", tested.utf8());
            for (int each = 0; each <= Character.MAX_CODE_POINT; each++) {
                boolean surrogate = each >= Character.MIN_SURROGATE && each <= Character.MAX_SURROGATE;
                if (!surrogate
                        && AutomatonWalk.accepts(automaton, Character.toString(each))
                                != ((each >= low && each <= high) != negated)) {
                    assertThat(each).as("from %x to %x, %s", low, high, negated).isNull();
                }
            }
            assertThat(automaton.next(ByteAutomaton.START, new byte[] {(byte) 0xed, (byte) 0xa0, (byte) 0x80}))
                    .as("a surrogate")
                    .isEqualTo(ByteAutomaton.DEAD);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '~',
            quoteCharacter = '`',
            value = {
                "\\x41\\u0042\\u{43}~ABC",
                "\\ud83d\\ude42\\u{1F642}~🙂🙂",
                "[\\d\\-x]+~1-x",
                "a\\.b\\/\\{\\$~a.b/{$",
                "(?<year>\\d{4})~2026",
                "^ab$|c~ab",
                "[^]~x",
                "[a-]+]~a-]",
                "\\s\\S~\u2003x",
            })
    void syntaxOfEcmaScriptIsRead(String pattern, String text) {
        assertThat(AutomatonWalk.accepts(whole(pattern), text)).isTrue();
        assertThat(AutomatonWalk.accepts(whole(pattern), text + "\u0000")).isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '~',
            quoteCharacter = '`',
            value = {
                "a(?=b)~character 3: lookahead, lookbehind and flags",
                "(?<!a)b~lookahead, lookbehind and flags",
                "(?i)a~lookahead, lookbehind and flags",
                "a\\b~'\\b' is not supported",
                "(a)\\1~'\\1' is not supported",
                "\\p{L}~'\\p' is not supported",
                "(^a)~'^' inside; anchors are supported at the ends",
                "a$b~nothing can follow '$'",
                "(a~a group has no ')'",
                "a)~')' closes no group",
                "[a~unexpected end",
                "[]~a set without characters",
                "[b-a]~a range of characters from high to low",
                "[a-\\d]~a range from or to a set",
                "*a~nothing to repeat",
                "a**~nothing to repeat",
                "a{~'{' begins a repetition",
                "a{2,1}~a repetition of at least 2 and at most 1",
                "a{10001}~a repetition of more than 10000",
                "a{99999999999999999999}~a repetition of more than 10000",
                "\\ud83d~a surrogate without the other half",
                "\\u{110000}~a character above U+10FFFF",
                "\\xg0~another than hexadecimal digits",
                "(?<a~the name of a group has no end",
                "a\\~unexpected end",
            })
    void otherSyntaxIsRejectedByName(String pattern, String message) {
        rejected(pattern, message);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "(a|b)*a(a|b){40}",
                "((a{1000}){1000}){1000}",
                "(((){1000}){1000}){1000}",
                "((a?){1000}){1000}",
                "((a*)*|(b*)*)*{3}x",
                "(.{0,1000}x){0,1000}",
                "(.*a.*b.*c.*d.*e.*f.*){20}",
                "(a{0,5000}|b{0,5000}|c{0,5000})*d{0,10000}",
                "(x+x+)+y(.*z){300}",
            })
    void growingExpressionsAreRefusedOrSmall(String pattern) {
        try {
            assertThat(whole(pattern).size()).isLessThan(1 << 15);
        } catch (IreeException e) {
            assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT);
        }
    }

    @Test
    void limitsAreNamedWithNumbers() {
        rejected("(a|b)*a(a|b){40}", "the regular expression needs more than 32768 states of its automaton; use fewer");
        rejected("((a{1000}){1000}){1000}", "needs more than 131072 states");
        rejected("(((){1000}){1000}){1000}", "needs more than 4194304 construction steps");
        rejected("(.*\"[a-z].*[0-9]){0,9}(x[^a-k]{9}|.{9}y){90}", "more than");
        rejected("a".repeat(8193), "the regular expression has 8193 characters, at most 8192 are read");
        rejected("(".repeat(101) + ")".repeat(101), "more than 100 groups in each other");
        assertThat(whole("(".repeat(100) + "a" + ")*".repeat(100)).size()).isLessThan(10);
    }

    private static void rejected(String pattern, String message) {
        assertThatThrownBy(() -> whole(pattern))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT))
                .hasMessageContaining(message);
    }
}
