package io.github.iree4j.generation.sampling;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** A set of Unicode characters without surrogates, which UTF-8 cannot encode. Immutable. */
final class CharacterSet {
    static final CharacterSet ALL = of(0, Character.MAX_CODE_POINT);

    private static final int[] LAST_BY_LENGTH = {0x7f, 0x7ff, 0xffff, Character.MAX_CODE_POINT};

    /** Characters from {@code low} to {@code high}. */
    private record Span(int low, int high) {}

    private final List<Span> spans; // ascending, neither touching nor overlapping

    private CharacterSet(List<Span> spans) {
        this.spans = spans;
    }

    static CharacterSet of(int character) {
        return of(character, character);
    }

    /** Returns the characters from a character to another. */
    static CharacterSet of(int low, int high) {
        List<Span> spans = new ArrayList<>();
        add(spans, low, Math.min(high, Character.MIN_SURROGATE - 1));
        add(spans, Math.max(low, Character.MAX_SURROGATE + 1), high);
        return new CharacterSet(spans);
    }

    /** Returns the characters of a text. */
    static CharacterSet anyOf(String text) {
        return union(text.codePoints().mapToObj(CharacterSet::of).toList());
    }

    private static void add(List<Span> spans, int low, int high) {
        if (low <= high) {
            spans.add(new Span(low, high));
        }
    }

    CharacterSet or(CharacterSet other) {
        return union(List.of(this, other));
    }

    static CharacterSet union(List<CharacterSet> sets) {
        List<Span> all = new ArrayList<>();
        sets.forEach(each -> all.addAll(each.spans));
        all.sort(Comparator.comparingInt(Span::low));
        List<Span> merged = new ArrayList<>();
        for (Span each : all) {
            if (!merged.isEmpty() && each.low <= merged.getLast().high + 1) {
                Span last = merged.removeLast();
                merged.add(new Span(last.low, Math.max(last.high, each.high)));
            } else {
                merged.add(each);
            }
        }
        return new CharacterSet(merged);
    }

    CharacterSet complement() {
        List<Span> gaps = new ArrayList<>();
        int next = 0;
        for (Span each : spans) {
            gaps.addAll(of(next, each.low - 1).spans);
            next = each.high + 1;
        }
        gaps.addAll(of(next, Character.MAX_CODE_POINT).spans);
        return new CharacterSet(gaps);
    }

    CharacterSet and(CharacterSet other) {
        return complement().or(other.complement()).complement();
    }

    boolean isEmpty() {
        return spans.isEmpty();
    }

    boolean contains(int character) {
        return spans.stream().anyMatch(each -> each.low <= character && character <= each.high);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof CharacterSet that && spans.equals(that.spans);
    }

    @Override
    public int hashCode() {
        return spans.hashCode();
    }

    /** Returns the only character. */
    OptionalInt single() {
        boolean one = spans.size() == 1 && spans.getFirst().low == spans.getFirst().high;
        return one ? OptionalInt.of(spans.getFirst().low) : OptionalInt.empty();
    }

    /** Returns the UTF-8 encodings of the characters, of a set that is not empty. */
    Expression utf8() {
        List<Expression> encodings = new ArrayList<>();
        for (Span each : spans) {
            int low = each.low;
            for (int length = 1; length <= LAST_BY_LENGTH.length; length++) {
                int high = Math.min(each.high, LAST_BY_LENGTH[length - 1]);
                if (low <= high) {
                    encode(low, high, length, encodings);
                    low = high + 1;
                }
            }
        }
        return Expression.choice(encodings);
    }

    /** Adds encodings of a length. Ranges of bytes suffice if all bytes after the first that differs have all values. */
    private static void encode(int low, int high, int length, List<Expression> encodings) {
        for (int following = 1; following < length; following++) {
            int mask = (1 << 6 * following) - 1;
            if ((low & ~mask) != (high & ~mask)) {
                if ((low & mask) != 0) {
                    encode(low, low | mask, length, encodings);
                    encode((low | mask) + 1, high, length, encodings);
                    return;
                }
                if ((high & mask) != mask) {
                    encode(low, (high & ~mask) - 1, length, encodings);
                    encode(high & ~mask, high, length, encodings);
                    return;
                }
            }
        }
        List<Expression> bytes = new ArrayList<>();
        for (int i = 0; i < length; i++) {
            bytes.add(new Expression.Range(utf8Byte(low, length, i), utf8Byte(high, length, i)));
        }
        encodings.add(Expression.chain(bytes));
    }

    private static int utf8Byte(int character, int length, int index) {
        int bits = character >>> 6 * (length - 1 - index);
        if (index > 0) {
            return 0x80 | bits & 0x3f;
        }
        return length == 1 ? bits : 0xf00 >>> length & 0xff | bits;
    }
}
