package io.github.iree4j.call;

import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.tensor.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A function's source signature as the compiler leaves it in the {@code iree.abi.declaration} attribute: {@code sync func @add(%input0:
 * tensor<4xf32>, %input1: tensor<4xf32>) -> (%output0: tensor<4xf32>)}.
 *
 * <p>The text comes from a module and is untrusted: an unparseable declaration counts as absent, and an unparseable
 * type is not checked.
 *
 * @param arguments the declared arguments, without the fences of asynchronous functions
 * @param results the declared results
 */
public record AbiDeclaration(List<Value> arguments, List<Value> results) {
    /** Longer declarations are ignored. */
    private static final int MAX_LENGTH = 1 << 16;

    /** Copies. */
    public AbiDeclaration {
        arguments = List.copyOf(arguments);
        results = List.copyOf(results);
    }

    /**
     * An argument or result.
     *
     * @param name such as {@code input0}, or empty
     * @param type the type's text, such as {@code tensor<4xf32>}, {@code i32} or {@code !hal.buffer}
     * @param tensor the tensor type, or null when the type is not a tensor or not understood
     */
    public record Value(String name, String type, @Nullable TensorType tensor) {
        /** Type of references about which nothing is known. */
        public static final String UNKNOWN = "!vm.ref<?>";

        private String text() {
            return name.isEmpty() ? type : "%" + name + ": " + type;
        }
    }

    /** The declaration of a function with the name and attributes in {@code head}. */
    String text(String head) {
        return head + "(" + text(arguments) + ")" + (results.isEmpty() ? "" : " -> (" + text(results) + ")");
    }

    private static String text(List<Value> values) {
        return values.stream().map(Value::text).collect(Collectors.joining(", "));
    }

    /** Parses a declaration; null when the text is not understood. */
    public static @Nullable AbiDeclaration parse(@Nullable String text) {
        if (text == null || text.length() > MAX_LENGTH) {
            return null;
        }
        int at = text.indexOf('@');
        int open = text.indexOf('(', Math.max(at, 0));
        int close = open < 0 ? -1 : matching(text, open);
        if (at < 0 || close < 0) {
            return null;
        }
        List<Value> arguments = values(text.substring(open + 1, close));
        String rest = text.substring(close + 1).trim();
        if (!rest.startsWith("->")) {
            return rest.isEmpty() ? new AbiDeclaration(arguments, List.of()) : null;
        }
        rest = rest.substring(2).trim();
        if (rest.startsWith("(")) {
            int end = matching(rest, 0);
            if (end < 0) {
                return null;
            }
            rest = rest.substring(1, end);
        }
        return new AbiDeclaration(arguments, values(rest));
    }

    /** The index of the bracket closing the bracket at {@code open}, or -1. */
    private static int matching(String text, int open) {
        int depth = 0;
        boolean quoted = false;
        for (int i = open; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"') {
                quoted = !quoted;
            } else if (!quoted) {
                depth += opens(c) ? 1 : closes(text, i) ? -1 : 0;
                if (depth == 0) {
                    return i;
                }
            }
        }
        return -1;
    }

    private static boolean opens(char c) {
        return c == '(' || c == '<' || c == '{' || c == '[';
    }

    private static boolean closes(String text, int i) {
        char c = text.charAt(i);
        return c == ')' || c == '}' || c == ']' || (c == '>' && (i == 0 || text.charAt(i - 1) != '-'));
    }

    private static List<Value> values(String list) {
        List<Value> values = new ArrayList<>();
        int depth = 0;
        int start = 0;
        boolean quoted = false;
        for (int i = 0; i <= list.length(); i++) {
            char c = i < list.length() ? list.charAt(i) : ',';
            if (c == '"') {
                quoted = !quoted;
            } else if (i == list.length() || (!quoted && depth == 0 && c == ',')) {
                String item = list.substring(start, i).trim();
                if (!item.isEmpty()) {
                    values.add(value(item));
                }
                start = i + 1;
            } else if (!quoted) {
                depth += opens(c) ? 1 : closes(list, i) ? -1 : 0;
            }
        }
        return values;
    }

    private static Value value(String item) {
        String name = "";
        String type = item;
        if (item.startsWith("%")) {
            int colon = item.indexOf(':');
            name = item.substring(1, colon < 0 ? item.length() : colon).trim();
            type = colon < 0 ? "" : item.substring(colon + 1).trim();
        }
        int attributes = type.indexOf('{');
        if (attributes >= 0) {
            type = type.substring(0, attributes).trim();
        }
        return new Value(name, type, tensor(type));
    }

    private static @Nullable TensorType tensor(String type) {
        if (!type.startsWith("tensor<") || !type.endsWith(">")) {
            return null;
        }
        String inner = type.substring("tensor<".length(), type.length() - 1);
        int comma = inner.indexOf(',');
        String[] parts = (comma < 0 ? inner : inner.substring(0, comma)).trim().split("x", -1);
        if (parts.length > Shape.MAXIMUM_RANK + 1) {
            return null;
        }
        long[] shape = new long[parts.length - 1];
        try {
            for (int i = 0; i < shape.length; i++) {
                shape[i] = parts[i].equals("?") ? -1 : Long.parseLong(parts[i]);
                if (shape[i] < -1) {
                    return null;
                }
            }
            Shape.of(Arrays.stream(shape).filter(dim -> dim >= 0).toArray()); // checks the sizes
            return new TensorType(ElementType.parse(parts[shape.length]), shape);
        } catch (NumberFormatException | IreeException e) {
            return null; // complex<f32>, index, or dimensions beyond any memory: left to the program's own checks
        }
    }
}
