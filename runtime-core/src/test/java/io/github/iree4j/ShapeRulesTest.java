package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ShapeRulesTest {
    private static final String SENTENCES =
            "[batch length], [batch length] mask, [batch length] fill=1, _ -> [batch length 384]";

    @Test
    void axesAreInTheOrderOfArguments() {
        ShapeRules rules = ShapeRules.parse(SENTENCES);
        assertThat(rules.axes()).containsExactly("batch", "length");
        assertThat(rules.inputs()).hasSize(4);
        assertThat(rules.inputs().get(1).mask()).isTrue();
        assertThat(rules.inputs().get(2).fill()).isEqualTo(1);
        assertThat(rules.inputs().get(3).dimensions()).isNull();
        assertThat(rules.results().getFirst().dimensions()).containsExactly("batch", "length", "384");
    }

    @Test
    void exactAxesAreAxesOfArguments() {
        ShapeRules rules = ShapeRules.parse("[a b!] -> [a b]");
        assertThat(rules.exact()).containsExactly("b");
        assertThat(rules.axes()).containsExactly("a", "b");
        assertThatThrownBy(() -> new ShapeRules(rules.inputs(), rules.results(), Set.of("c")))
                .hasMessageContaining("axis 'c' is exact and occurs in no argument");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                SENTENCES,
                "[a] -> _",
                "[n n 3 _] -> [n]",
                "[a] fill=-0.5",
                "[a b!], [b! c] -> [c b!]",
                "[a] fill=1.0E20 -> [a]",
                "[a] fill=NaN, [], _ -> [_ 4], []",
                "[a] i64 mask, [a] f16 fill=2, [a] ui8 -> [a] f32"
            })
    void textIsReadAsWritten(String text) {
        assertThat(ShapeRules.parse(text)).hasToString(text);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'[a]->[a]' | '[a] -> [a]'",
                "'[a b!], [b]->[b]' | '[a b!], [b!] -> [b!]'",
                "'  [ a   b ]mask ,[a]->_' | '[a b] mask, [a] -> _'",
                "'[long-name]fill=2->[long-name]' | '[long-name] fill=2 -> [long-name]'"
            })
    void spacesDoNotMatter(String text, String written) {
        assertThat(ShapeRules.parse(text)).hasToString(written);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'' | 0 axes",
                "'_' | 0 axes",
                "'[4] -> [4]' | 0 axes",
                "'[a' | the end",
                "'[a]]' | ']'",
                "'[a] -> [a] -> [a]' | '->'",
                "'[a] [b]' | '['",
                "'[a], -> [a]' | '->'",
                "'[a mask' | the end",
                "'[a] fill=x' | 'fill=x'",
                "'[fill=1]' | 'fill=1'",
                "'[a] -> [b]' | axis 'b' occurs in a result",
                "'[a] -> [a] mask' | 'mask'",
                "'[a], [4] mask' | a mask must have an axis",
                "'[a] i64 f32' | 'f32'",
                "'[a] i4' | 'i4'",
                "'[a] mask fill=1' | 'fill=1'",
                "'[a] foo' | 'foo'",
                "'[a] mask -> _' | only masks",
                "'[a;b]' | another word",
                "'[a.b]' | another word",
                "'[-1]' | another word"
            })
    void malformedRulesAreRefusedWithThePosition(String text, String said) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> ShapeRules.parse(text))
                .withMessageContaining(said)
                .withMessageContaining("they look like")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
    }

    @Test
    void rulesHaveLimits() {
        for (String text : List.of(
                "[" + "a ".repeat(200) + "]",
                "[a b c d e f g h i j k l m n o p q]",
                "[" + "x".repeat(65) + "]",
                "_,".repeat(1 << 14))) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> ShapeRules.parse(text))
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT))
                    .satisfies(e -> assertThat(e.getMessage().length()).isLessThan(500));
        }
    }

    @Test
    void anyTextIsRulesOrRefused() {
        long seed = 20261122;
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        String[] words = {"[", "]", ",", "->", "_", "a", "b", "4", "mask", "fill=1", "fill=", " ", "-", "é", "\n", "="};
        int understood = 0;
        for (int i = 0; i < 20_000; i++) {
            StringBuilder text = new StringBuilder();
            for (int words2 = random.nextInt(12); words2 >= 0; words2--) {
                text.append(words[random.nextInt(words.length)]);
            }
            try {
                ShapeRules rules = ShapeRules.parse(text.toString());
                assertThat(ShapeRules.parse(rules.toString())).isEqualTo(rules);
                understood++;
            } catch (IreeException e) {
                assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT);
            }
        }
        assertThat(understood).isPositive();
    }
}
