package io.github.iree4j;

import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.tensor.TensorText;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The dimensions of a function's arguments and results that share an axis, so that a call can be padded to the shape of
 * a {@linkplain FunctionVariants variant}, and results cut back.
 *
 * <p>As text, with the arguments in order, an arrow, and the results:
 *
 * <pre>{@code
 * [batch length], [batch length] mask, [batch length] fill=1, _ -> [batch length 384]
 * }</pre>
 *
 * <p>A value in brackets is a tensor with a word for each dimension: the name of an axis, with one size throughout a
 * call; the dimension's size as a number; or {@code _} for any dimension that is not padded. An axis written as
 * {@code length!} is exact: no call is padded along the axis, since padding would change results. A value written as
 * {@code _} is passed on unchanged. Arguments are padded with zero, or with the value of {@code fill=}. A {@code mask}
 * argument is 1 for elements of the call and 0 for padding: callers may omit masks, all together or individually by
 * null; given masks are padded with 0. An element type after the brackets, {@code [batch length] i64}, is for values
 * not declared by the module, as in programs imported from ONNX.
 *
 * @param inputs a rule for each argument
 * @param results a rule for each result
 * @param exact axes along which no call is padded
 */
public record ShapeRules(List<Value> inputs, List<Value> results, Set<String> exact) {
    /** Far beyond any sensible declaration. */
    private static final int MAXIMUM_LENGTH = 1 << 14;

    private static final int MAXIMUM_AXES = 16;

    private static final Pattern TOKEN = Pattern.compile(
            "\\s*(?:->|[\\[\\],]|fill=[-+]?[.0-9A-Za-z]+(?:[-+][0-9]+)?|[A-Za-z](?:\\w|-(?!>)){0,63}+(?!\\w)!?|_(?!\\w)|[0-9]{1,18}+(?!\\w))");

    /**
     * The rule for an argument or result.
     *
     * @param dimensions for each dimension an axis, a number or {@code _}; null for a value passed on unchanged
     * @param fill the padding value of an argument
     * @param mask whether the argument is a mask, marking the elements of the call
     * @param type the type of the elements; null for the declared type
     */
    public record Value(
            @Nullable List<String> dimensions,
            double fill,
            boolean mask,
            @Nullable ElementType type) {
        private static final Value UNTOUCHED = new Value(null, 0, false, null);

        /** Copies the dimensions. */
        public Value {
            dimensions = dimensions == null ? null : List.copyOf(dimensions);
        }

        static boolean isAxis(String dimension) {
            return Character.isLetter(dimension.charAt(0));
        }

        @Override
        public String toString() {
            return text(Set.of());
        }

        private String text(Set<String> exact) {
            if (dimensions == null) {
                return "_";
            }
            String words = dimensions.stream()
                    .map(each -> exact.contains(each) ? each + "!" : each)
                    .collect(Collectors.joining(" ", "[", "]"));
            String number = fill == Math.rint(fill) && Math.abs(fill) < 1e15
                    ? Long.toString((long) fill)
                    : Double.toString(fill);
            return words + (type == null ? "" : " " + type) + (mask ? " mask" : fill == 0 ? "" : " fill=" + number);
        }
    }

    /**
     * Checks and copies.
     *
     * @throws IreeException INVALID_ARGUMENT when an axis, exact or not, occurs in no argument, a mask has no axis, or no argument determines the sizes
     */
    public ShapeRules {
        inputs = List.copyOf(inputs);
        results = List.copyOf(results);
        exact = Set.copyOf(exact);
        Set<String> known = axes(inputs);
        if (known.isEmpty() || known.size() > MAXIMUM_AXES) {
            throw invalid("they name %d axes, and 1 to %d are possible".formatted(known.size(), MAXIMUM_AXES));
        }
        for (String axis : axes(results)) {
            if (!known.contains(axis)) {
                throw invalid(
                        "axis '%s' occurs in a result but in no argument, so its size is unknown".formatted(axis));
            }
        }
        for (String axis : exact) {
            if (!known.contains(axis)) {
                throw invalid("axis '%s' is exact and occurs in no argument".formatted(axis));
            }
        }
        for (Value input : inputs) {
            if (input.mask() && axes(List.of(input)).isEmpty()) {
                throw invalid("a mask must have an axis");
            }
        }
        if (inputs.stream().allMatch(input -> input.mask() || input.dimensions() == null)) {
            throw invalid("only masks have axes, so the sizes are unknown");
        }
    }

    /**
     * Creates rules without exact axes.
     *
     * @param inputs a rule for each argument
     * @param results a rule for each result
     * @throws IreeException INVALID_ARGUMENT as above
     */
    public ShapeRules(List<Value> inputs, List<Value> results) {
        this(inputs, results, Set.of());
    }

    private static Set<String> axes(List<Value> values) {
        Set<String> axes = new LinkedHashSet<>();
        for (Value value : values) {
            if (value.dimensions() != null) {
                value.dimensions().stream().filter(Value::isAxis).forEach(axes::add);
            }
        }
        return axes;
    }

    /**
     * Returns the axes.
     *
     * @return in the order of occurrence in arguments
     */
    public List<String> axes() {
        return List.copyOf(axes(inputs));
    }

    /**
     * Parses rules.
     *
     * @param text in the form above
     * @return the rules
     * @throws IreeException INVALID_ARGUMENT for malformed text, naming the error and the position
     */
    public static ShapeRules parse(String text) {
        if (text.length() > MAXIMUM_LENGTH) {
            throw invalid("they have %d characters, and the limit is %d".formatted(text.length(), MAXIMUM_LENGTH));
        }
        return new Parser(text).parse();
    }

    /** Parses a text, once. */
    private static final class Parser {
        private final String text;
        private final Matcher matcher;
        private @Nullable String token; // the next token; null at the end
        private final Set<String> exact = new LinkedHashSet<>();
        private int at;

        Parser(String text) {
            this.text = text;
            this.matcher = TOKEN.matcher(text);
            next();
        }

        ShapeRules parse() {
            List<Value> inputs = values(true);
            List<Value> results = List.of();
            if ("->".equals(token)) {
                next();
                results = values(false);
            }
            if (token != null) {
                throw unexpected("',', '->' or the end");
            }
            return new ShapeRules(inputs, results, exact);
        }

        private List<Value> values(boolean arguments) {
            List<Value> values = new ArrayList<>();
            if (token == null || "->".equals(token)) {
                return values;
            }
            values.add(value(arguments));
            while (",".equals(token)) {
                next();
                values.add(value(arguments));
            }
            return values;
        }

        private Value value(boolean argument) {
            if ("_".equals(token)) {
                next();
                return Value.UNTOUCHED;
            }
            if (!"[".equals(token)) {
                throw unexpected("'[' or '_'");
            }
            next();
            List<String> dimensions = new ArrayList<>();
            while (!"]".equals(token)) {
                String word = token;
                if (word == null
                        || !(word.equals("_") || Character.isLetterOrDigit(word.charAt(0)))
                        || word.startsWith("fill=")) {
                    throw unexpected("an axis, a number, '_' or ']'");
                }
                if (word.endsWith("!")) {
                    word = word.substring(0, word.length() - 1);
                    exact.add(word);
                }
                dimensions.add(word);
                if (dimensions.size() > Shape.MAXIMUM_RANK) {
                    throw invalid("a value has more than %d dimensions".formatted(Shape.MAXIMUM_RANK));
                }
                next();
            }
            next();
            boolean mask = false;
            double fill = 0;
            ElementType type = null;
            for (String word = token; word != null && !word.equals(",") && !word.equals("->"); word = token) {
                if (argument && word.equals("mask") && fill == 0) {
                    mask = true;
                } else if (argument && word.startsWith("fill=") && !mask) {
                    fill = number(word.substring(5));
                } else if (type == null) {
                    type = type(word);
                } else {
                    throw unexpected("',', '->' or the end");
                }
                next();
            }
            return new Value(dimensions, fill, mask, type);
        }

        private ElementType type(String word) {
            try {
                ElementType type = ElementType.parse(word);
                if (type.isByteAligned() && type.bitCount() > 0) {
                    return type;
                }
            } catch (IreeException e) {
                // Reported below.
            }
            throw unexpected("an element type of whole bytes, 'mask', 'fill=', ',', '->' or the end");
        }

        private double number(String digits) {
            try {
                return Double.parseDouble(digits);
            } catch (NumberFormatException e) {
                throw unexpected("a number after 'fill='");
            }
        }

        private void next() {
            at = matcher.regionStart();
            if (text.substring(at).isBlank()) {
                token = null;
                return;
            }
            if (!matcher.lookingAt()) {
                token = text.substring(at).strip();
                throw unexpected("another word");
            }
            token = matcher.group().strip();
            matcher.region(matcher.end(), text.length());
        }

        private IreeException unexpected(String wanted) {
            return invalid("expected %s at character %d, where there is %s"
                    .formatted(wanted, at, token == null ? "the end" : "'" + TensorText.abbreviate(token) + "'"));
        }
    }

    private static IreeException invalid(String what) {
        return IreeException.of(
                StatusCode.INVALID_ARGUMENT,
                "shape rules cannot be used: %s; they look like '[batch length], [batch length] mask -> [batch 384]'"
                        .formatted(what));
    }

    /** Returns the text, in the form accepted by {@link #parse}. */
    @Override
    public String toString() {
        String text = inputs.stream().map(each -> each.text(exact)).collect(Collectors.joining(", "));
        return results.isEmpty()
                ? text
                : text + results.stream().map(each -> each.text(exact)).collect(Collectors.joining(", ", " -> ", ""));
    }
}
