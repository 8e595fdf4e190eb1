package io.github.iree4j.generation.sampling;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A set of byte strings, never empty: a regular expression or a JSON schema between the text and the automaton.
 * Expressions may share parts. Immutable.
 */
sealed interface Expression {
    /** Both {@link Nfa} and the writers of expressions are recursive. */
    int MOST_LEVELS = 500;

    /** The set of the empty string. */
    Expression EMPTY = new Chain(List.of(), 1);

    /** Returns the number of nested expressions, at most {@link #MOST_LEVELS}. */
    int height();

    /**
     * A byte.
     *
     * @param low lowest value
     * @param high highest value
     */
    record Range(int low, int high) implements Expression {
        @Override
        public int height() {
            return 1;
        }
    }

    /**
     * A string of each part, one after the other.
     *
     * @param parts the parts
     * @param height see {@link Expression#height}
     */
    record Chain(List<Expression> parts, int height) implements Expression {}

    /**
     * A string of one of the alternatives.
     *
     * @param alternatives one or more
     * @param height see {@link Expression#height}
     */
    record Choice(List<Expression> alternatives, int height) implements Expression {}

    /**
     * Strings of a part.
     *
     * @param part the part
     * @param separator between two strings
     * @param least fewest strings
     * @param most most strings; {@link Integer#MAX_VALUE} for any number
     * @param height see {@link Expression#height}
     */
    record Repetition(Expression part, Expression separator, int least, int most, int height) implements Expression {}

    /**
     * Strings of the parts in order, where some parts may be absent.
     *
     * @param parts the parts
     * @param separator between two strings
     * @param required which parts may not be absent
     * @param height see {@link Expression#height}
     */
    record Members(List<Expression> parts, Expression separator, List<Boolean> required, int height)
            implements Expression {}

    static Expression chain(Expression... parts) {
        return chain(Arrays.asList(parts));
    }

    static Expression chain(List<Expression> parts) {
        return parts.size() == 1 ? parts.getFirst() : new Chain(List.copyOf(parts), above(parts));
    }

    static Expression choice(Expression... alternatives) {
        return choice(Arrays.asList(alternatives));
    }

    static Expression choice(List<Expression> alternatives) {
        return alternatives.size() == 1
                ? alternatives.getFirst()
                : new Choice(List.copyOf(alternatives), above(alternatives));
    }

    static Expression optional(Expression part) {
        return choice(part, EMPTY);
    }

    static Expression repeat(Expression part, int least, int most) {
        return repeat(part, EMPTY, least, most);
    }

    static Expression repeat(Expression part, Expression separator, int least, int most) {
        return new Repetition(part, separator, least, most, above(List.of(part, separator)));
    }

    static Expression members(List<Expression> parts, Expression separator, List<Boolean> required) {
        List<Expression> all = new ArrayList<>(parts);
        all.add(separator);
        return new Members(List.copyOf(parts), separator, List.copyOf(required), above(all));
    }

    /** Returns the UTF-8 encoding of a text. */
    static Expression text(String text) {
        List<Expression> bytes = new ArrayList<>();
        for (byte each : text.getBytes(StandardCharsets.UTF_8)) {
            bytes.add(new Range(Byte.toUnsignedInt(each), Byte.toUnsignedInt(each)));
        }
        return chain(bytes);
    }

    private static int above(List<Expression> parts) {
        int height = 1;
        for (Expression each : parts) {
            height = Math.max(height, each.height() + 1);
        }
        if (height > MOST_LEVELS) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "the constraint has more than %d nested parts; nest less".formatted(MOST_LEVELS));
        }
        return height;
    }
}
