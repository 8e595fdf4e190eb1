package io.github.iree4j.generation.sampling;

import static io.github.iree4j.generation.sampling.Expression.chain;
import static io.github.iree4j.generation.sampling.Expression.choice;
import static io.github.iree4j.generation.sampling.Expression.optional;
import static io.github.iree4j.generation.sampling.Expression.repeat;
import static io.github.iree4j.generation.sampling.Expression.text;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * Expressions of JSON texts on a line, with an optional space after a comma or a colon only: more freedom tempts models to
 * write spaces without end.
 */
final class JsonText {
    static final int ANY = Integer.MAX_VALUE;

    private static final int STEPS_PER_CHARACTER = 4; // an expression with its list
    private static final BigDecimal LARGEST = new BigDecimal(Double.MAX_VALUE);

    static final Expression NULL = text("null");
    static final Expression BOOLEAN = choice(text("true"), text("false"));
    static final Expression COMMA = chain(text(","), optional(text(" ")));
    private static final Expression COLON = chain(text(":"), optional(text(" ")));

    private static final Expression DIGIT = new Expression.Range('0', '9');
    private static final Expression NATURAL =
            choice(text("0"), chain(new Expression.Range('1', '9'), repeat(DIGIT, 0, ANY)));
    static final Expression INTEGER = chain(optional(text("-")), NATURAL);
    private static final Expression FRACTION = optional(chain(text("."), repeat(DIGIT, 1, ANY)));

    /** Numbers with an exponent have one digit before the point, and are less than 1e300: readers may use doubles. */
    static final Expression NOT_NEGATIVE = choice(
            chain(NATURAL, FRACTION),
            chain(
                    new Expression.Range('1', '9'),
                    FRACTION,
                    choice(text("e"), text("E")),
                    optional(choice(text("+"), text("-"))),
                    choice(repeat(DIGIT, 1, 2), chain(new Expression.Range('1', '2'), DIGIT, DIGIT))));

    static final Expression NUMBER = chain(optional(text("-")), NOT_NEGATIVE);

    private static final Expression HEXADECIMAL =
            choice(DIGIT, new Expression.Range('a', 'f'), new Expression.Range('A', 'F'));
    private static final CharacterSet MUST_ESCAPE = CharacterSet.of(0, 0x1f).or(CharacterSet.anyOf("\"\\"));
    private static final Map<Integer, Integer> ESCAPES = Map.of(
            (int) '"',
            (int) '"',
            (int) '\\',
            (int) '\\',
            (int) '\b',
            (int) 'b',
            (int) '\f',
            (int) 'f',
            (int) '\n',
            (int) 'n',
            (int) '\r',
            (int) 'r',
            (int) '\t',
            (int) 't');

    /** Any character, escaped only if JSON requires an escape. */
    static final Expression CHARACTER = character(CharacterSet.ALL);

    /** Any string, with any escapes that are Unicode. */
    static final Expression STRING = string(repeat(anyCharacter(), 0, ANY));

    private JsonText() {}

    private static Expression anyCharacter() {
        Expression units = choice(
                chain(choice(text("d"), text("D")), new Expression.Range('0', '7'), HEXADECIMAL, HEXADECIMAL),
                chain(
                        choice(
                                new Expression.Range('0', '9'),
                                new Expression.Range('a', 'c'),
                                new Expression.Range('A', 'C'),
                                new Expression.Range('e', 'f'),
                                new Expression.Range('E', 'F')),
                        HEXADECIMAL,
                        HEXADECIMAL,
                        HEXADECIMAL));
        Expression d = choice(text("d"), text("D"));
        Expression pair = chain(
                d,
                choice(text("8"), text("9"), text("a"), text("b"), text("A"), text("B")),
                HEXADECIMAL,
                HEXADECIMAL,
                text("\\u"),
                d,
                choice(new Expression.Range('c', 'f'), new Expression.Range('C', 'F')),
                HEXADECIMAL,
                HEXADECIMAL);
        return choice(
                MUST_ESCAPE.complement().utf8(),
                chain(
                        text("\\"),
                        choice(CharacterSet.anyOf("\"\\/bfnrt").utf8(), chain(text("u"), choice(units, pair)))));
    }

    /** Returns characters between quotes. */
    static Expression string(Expression characters) {
        return chain(text("\""), characters, text("\""));
    }

    /** Returns one character of a set in a string, escaped only if JSON requires an escape. */
    static Expression character(CharacterSet set) {
        List<Expression> choices = new ArrayList<>();
        CharacterSet plain = set.and(MUST_ESCAPE.complement());
        if (!plain.isEmpty()) {
            choices.add(plain.utf8());
        }
        for (int tens = 0; tens < 2; tens++) {
            List<CharacterSet> digits = new ArrayList<>(); // the last digits of characters 0 to 15, or 16 to 31
            for (int i = 16 * tens; i < 16 * tens + 16; i++) {
                if (set.contains(i) && ESCAPES.get(i) == null) {
                    digits.add(CharacterSet.anyOf("%x%X".formatted(i & 15, i & 15)));
                }
            }
            if (!digits.isEmpty()) {
                choices.add(
                        chain(text("\\u00" + tens), CharacterSet.union(digits).utf8()));
            }
        }
        List<CharacterSet> letters = new ArrayList<>();
        ESCAPES.forEach((character, letter) -> {
            if (set.contains(character)) {
                letters.add(CharacterSet.of(letter));
            }
        });
        if (!letters.isEmpty()) {
            choices.add(chain(text("\\"), CharacterSet.union(letters).utf8()));
        }
        return choice(choices);
    }

    /**
     * Returns the string of a text.
     *
     * @throws IreeException INVALID_ARGUMENT for half a surrogate pair, which UTF-8 cannot encode
     */
    static Expression string(String text) {
        if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "a string of the JSON schema has a surrogate without the other half");
        }
        return string(chain(text.codePoints().mapToObj(JsonText::character).toList()));
    }

    private static Expression character(int character) {
        return MUST_ESCAPE.contains(character)
                ? character(CharacterSet.of(character))
                : text(Character.toString(character));
    }

    static Expression member(Expression name, Expression value) {
        return chain(name, COLON, value);
    }

    static Expression object(Expression members) {
        return chain(text("{"), members, text("}"));
    }

    static Expression array(Expression item, int least, int most) {
        return chain(text("["), repeat(item, COMMA, least, most), text("]"));
    }

    /**
     * Returns any value.
     *
     * @param levels most objects and arrays in each other
     */
    static Expression value(int levels) {
        List<Expression> choices = new ArrayList<>(List.of(STRING, NUMBER, BOOLEAN, NULL));
        if (levels > 0) {
            Expression inner = value(levels - 1);
            choices.add(anyObject(inner));
            choices.add(array(inner, 0, ANY));
        }
        return choice(choices);
    }

    /** Returns any object with values of a kind. */
    static Expression anyObject(Expression value) {
        return object(repeat(member(STRING, value), COMMA, 0, ANY));
    }

    /**
     * Returns the texts of a value of a schema.
     *
     * @throws IreeException INVALID_ARGUMENT for a number beyond doubles, or more steps than a schema may need
     */
    static Expression constant(JsonNode value, ConstructionSteps steps) {
        steps.add(STEPS_PER_CHARACTER);
        if (value.isObject()) {
            List<Expression> members = new ArrayList<>();
            value.properties().forEach(each -> {
                steps.add((long) STEPS_PER_CHARACTER * each.getKey().length());
                members.add(member(string(each.getKey()), constant(each.getValue(), steps)));
            });
            return object(list(members));
        }
        if (value.isArray()) {
            List<Expression> items = new ArrayList<>();
            value.forEach(each -> items.add(constant(each, steps)));
            return chain(text("["), list(items), text("]"));
        }
        if (value.isNumber() && !isWithin(value, LARGEST)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "a constant of the JSON schema is beyond the numbers of doubles");
        }
        String text = value.isString() ? value.stringValue() : value.toString();
        steps.add((long) STEPS_PER_CHARACTER * text.length());
        return value.isString() ? string(text) : text(text);
    }

    /** Returns whether a value is a number from -largest to largest. */
    static boolean isWithin(JsonNode value, BigDecimal largest) {
        if (value.isFloatingPointNumber()) { // a double, maybe infinite
            return Math.abs(value.doubleValue()) <= largest.doubleValue();
        }
        return value.isNumber() && value.decimalValue().abs().compareTo(largest) <= 0;
    }

    private static Expression list(List<Expression> parts) {
        return Expression.members(parts, COMMA, parts.stream().map(_ -> true).toList());
    }
}
