package io.github.iree4j.generation.sampling;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * Reads regular expressions in the syntax of ECMAScript with the flag {@code u}, without assertions inside and without
 * references. Not thread-safe.
 */
final class RegularExpression {
    private static final int LONGEST = 1 << 13;
    private static final int MOST_REPETITIONS = 10_000;
    private static final int MOST_GROUPS = 100; // in each other: the reader is recursive

    private static final CharacterSet DIGITS = CharacterSet.of('0', '9');
    private static final CharacterSet WORD =
            DIGITS.or(CharacterSet.of('a', 'z')).or(CharacterSet.of('A', 'Z')).or(CharacterSet.of('_'));
    private static final CharacterSet SPACES = CharacterSet.anyOf(
                    "\t\n\u000b\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff")
            .or(CharacterSet.of(0x2000, 0x200a));
    private static final CharacterSet NO_LINE_END =
            CharacterSet.anyOf("\n\r\u2028\u2029").complement();
    private static final int END = -1;

    private final String pattern;
    private final int[] characters;
    private final Function<CharacterSet, Expression> encoding;
    private final boolean anywhere;
    private int at;

    private RegularExpression(String pattern, Function<CharacterSet, Expression> encoding, boolean anywhere) {
        this.pattern = pattern;
        this.characters = pattern.codePoints().toArray();
        this.encoding = encoding;
        this.anywhere = anywhere;
    }

    /**
     * Reads the expression of whole texts.
     *
     * @throws IreeException INVALID_ARGUMENT for an expression with mistakes or unsupported syntax, naming the place
     */
    static Expression whole(String pattern) {
        return read(new RegularExpression(pattern, CharacterSet::utf8, false));
    }

    /**
     * Reads the expression of texts that have a match anywhere, unless anchored.
     *
     * @param encoding encodes one character of a set
     */
    static Expression anywhere(String pattern, Function<CharacterSet, Expression> encoding) {
        return read(new RegularExpression(pattern, encoding, true));
    }

    private static Expression read(RegularExpression reader) {
        if (reader.pattern.length() > LONGEST) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "the regular expression has %d characters, at most %d are read"
                            .formatted(reader.pattern.length(), LONGEST));
        }
        Expression expression = reader.alternatives(0);
        if (reader.peek() != END) {
            throw reader.invalid("')' closes no group");
        }
        return expression;
    }

    private Expression alternatives(int depth) {
        List<Expression> alternatives = new ArrayList<>();
        do {
            alternatives.add(alternative(depth));
        } while (take('|'));
        return Expression.choice(alternatives);
    }

    private Expression alternative(int depth) {
        List<Expression> parts = new ArrayList<>();
        boolean atStart = depth == 0 && take('^');
        boolean atEnd = false;
        while (!atEnd && peek() != END && peek() != '|' && peek() != ')') {
            if (depth == 0 && take('$')) {
                atEnd = true;
            } else {
                parts.add(repeated(depth));
            }
        }
        if (atEnd && peek() != END && peek() != '|') {
            throw invalid("nothing can follow '$'");
        }
        if (anywhere && depth == 0) {
            Expression any = Expression.repeat(encoding.apply(CharacterSet.ALL), 0, Integer.MAX_VALUE);
            parts.addFirst(atStart ? Expression.EMPTY : any);
            parts.addLast(atEnd ? Expression.EMPTY : any);
        }
        return Expression.chain(parts);
    }

    private Expression repeated(int depth) {
        Expression part = part(depth);
        int least;
        int most;
        if (take('*')) {
            least = 0;
            most = Integer.MAX_VALUE;
        } else if (take('+')) {
            least = 1;
            most = Integer.MAX_VALUE;
        } else if (take('?')) {
            least = 0;
            most = 1;
        } else if (take('{')) {
            least = number();
            most = least;
            if (take(',')) {
                most = peek() == '}' ? Integer.MAX_VALUE : number();
            }
            expect('}', "'{' begins a repetition {n}, {n,} or {n,m}; write \\{ for the character");
            if (most < least) {
                throw invalid("a repetition of at least %d and at most %d".formatted(least, most));
            }
        } else {
            return part;
        }
        take('?'); // as few as possible: the same texts
        return Expression.repeat(part, least, most);
    }

    private int number() {
        int number = 0;
        int first = at;
        while (peek() >= '0' && peek() <= '9') {
            number = 10 * number + next() - '0';
            if (number > MOST_REPETITIONS) {
                throw invalid("a repetition of more than %d".formatted(MOST_REPETITIONS));
            }
        }
        if (at == first) {
            throw invalid("'{' begins a repetition {n}, {n,} or {n,m}; write \\{ for the character");
        }
        return number;
    }

    private Expression part(int depth) {
        int character = next();
        return switch (character) {
            case '(' -> group(depth + 1);
            case '[' -> encoding.apply(set());
            case '.' -> encoding.apply(NO_LINE_END);
            case '\\' -> encoding.apply(escaped());
            case '*', '+', '?', '{' -> throw invalid("nothing to repeat");
            case '^', '$' ->
                throw invalid(
                        "'%c' inside; anchors are supported at the ends of the expression and its alternatives only"
                                .formatted(character));
            default -> encoding.apply(literal(character));
        };
    }

    private Expression group(int depth) {
        if (depth > MOST_GROUPS) {
            throw invalid("more than %d groups in each other".formatted(MOST_GROUPS));
        }
        if (take('?') && !take(':')) {
            if (!take('<') || peek() == '=' || peek() == '!') {
                throw invalid(
                        "lookahead, lookbehind and flags are not supported; groups are (…), (?:…) and (?<name>…)");
            }
            while (peek() != '>' && peek() != END) {
                next();
            }
            expect('>', "the name of a group has no end");
        }
        Expression inside = alternatives(depth);
        expect(')', "a group has no ')'");
        return inside;
    }

    private CharacterSet set() {
        boolean negated = take('^');
        List<CharacterSet> sets = new ArrayList<>();
        while (peek() != ']') {
            CharacterSet from = member();
            if (peek() == '-' && at + 1 < characters.length && characters[at + 1] != ']') {
                next();
                int low = single(from);
                int high = single(member());
                if (high < low) {
                    throw invalid("a range of characters from high to low");
                }
                from = CharacterSet.of(low, high);
            }
            sets.add(from);
        }
        next();
        CharacterSet union = CharacterSet.union(sets);
        CharacterSet result = negated ? union.complement() : union;
        if (result.isEmpty()) {
            throw invalid("a set without characters");
        }
        return result;
    }

    private CharacterSet member() {
        int character = next();
        return character == '\\' ? escaped() : literal(character);
    }

    private int single(CharacterSet set) {
        return set.single().orElseThrow(() -> invalid("a range from or to a set of characters"));
    }

    private CharacterSet literal(int character) {
        if (character >= Character.MIN_SURROGATE && character <= Character.MAX_SURROGATE) {
            throw invalid("a surrogate without the other half");
        }
        return CharacterSet.of(character);
    }

    private CharacterSet escaped() {
        int character = next();
        return switch (character) {
            case 'd' -> DIGITS;
            case 'D' -> DIGITS.complement();
            case 'w' -> WORD;
            case 'W' -> WORD.complement();
            case 's' -> SPACES;
            case 'S' -> SPACES.complement();
            case 't' -> CharacterSet.of('\t');
            case 'n' -> CharacterSet.of('\n');
            case 'r' -> CharacterSet.of('\r');
            case 'f' -> CharacterSet.of('\f');
            case 'v' -> CharacterSet.of(0xb);
            case '0' -> CharacterSet.of(0);
            case 'x' -> literal(hexadecimal(2));
            case 'u' -> literal(take('{') ? braced() : unit());
            default -> {
                if (Character.isLetterOrDigit(character)) {
                    throw invalid(
                            "'\\%s' is not supported: no word boundaries, references, properties or control letters"
                                    .formatted(Character.toString(character)));
                }
                yield literal(character);
            }
        };
    }

    private int braced() {
        int value = 0;
        while (!take('}')) {
            value = 16 * value + digit();
            if (value > Character.MAX_CODE_POINT) {
                throw invalid("a character above U+10FFFF");
            }
        }
        return value;
    }

    /** Reads four digits, and, after the first half of a pair, the other half. */
    private int unit() {
        int high = hexadecimal(4);
        if (high <= Character.MAX_HIGH_SURROGATE && high >= Character.MIN_HIGH_SURROGATE && take('\\')) {
            expect('u', "a surrogate without the other half");
            int low = hexadecimal(4);
            if (low >= Character.MIN_LOW_SURROGATE && low <= Character.MAX_LOW_SURROGATE) {
                return Character.toCodePoint((char) high, (char) low);
            }
        }
        return high;
    }

    private int hexadecimal(int digits) {
        int value = 0;
        for (int i = 0; i < digits; i++) {
            value = 16 * value + digit();
        }
        return value;
    }

    private int digit() {
        int digit = Character.digit(next(), 16);
        if (digit < 0) {
            throw invalid("a character's number has another than hexadecimal digits");
        }
        return digit;
    }

    private int peek() {
        return at < characters.length ? characters[at] : END;
    }

    private int next() {
        if (at == characters.length) {
            throw invalid("unexpected end");
        }
        return characters[at++];
    }

    private boolean take(int character) {
        if (peek() != character) {
            return false;
        }
        at++;
        return true;
    }

    private void expect(int character, String otherwise) {
        if (!take(character)) {
            throw invalid(otherwise);
        }
    }

    private IreeException invalid(String why) {
        String text = pattern.length() <= 80 ? pattern : pattern.substring(0, 80) + "…";
        return IreeException.of(
                StatusCode.INVALID_ARGUMENT, "regular expression '%s', character %d: %s".formatted(text, at, why));
    }
}
