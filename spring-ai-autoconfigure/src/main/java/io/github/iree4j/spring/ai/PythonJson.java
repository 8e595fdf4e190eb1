package io.github.iree4j.spring.ai;

import java.util.Collection;
import java.util.Iterator;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** JSON as Python's {@code json.dumps(value, ensure_ascii=False)} writes it. */
final class PythonJson {
    private static final int DEEPEST = 100;
    private static final int MOST_CHARACTERS = 1 << 24;

    private final StringBuilder out = new StringBuilder();
    private final int indent;

    private PythonJson(int indent) {
        this.indent = indent;
    }

    /**
     * Writes a value.
     *
     * @param value null, texts, numbers, booleans, collections and maps; anything else as text
     * @param indent number of spaces per level, or negative for a single line
     * @throws IllegalArgumentException for values that are too deep or too long
     */
    static String write(@Nullable Object value, int indent) {
        PythonJson json = new PythonJson(Math.min(indent, 16));
        json.value(value, 0);
        return json.out.toString();
    }

    private void value(@Nullable Object value, int depth) {
        if (depth > DEEPEST || out.length() > MOST_CHARACTERS) {
            throw new IllegalArgumentException(
                    "JSON deeper than %d, or longer than %d".formatted(DEEPEST, MOST_CHARACTERS));
        }
        switch (value) {
            case null -> out.append("null");
            case Boolean flag -> out.append(flag);
            case Number number -> out.append(number);
            case Map<?, ?> map -> {
                Iterator<? extends Map.Entry<?, ?>> entries = map.entrySet().iterator();
                items('{', '}', map.isEmpty(), depth, () -> {
                    Map.Entry<?, ?> entry = entries.next();
                    text(String.valueOf(entry.getKey()));
                    out.append(": ");
                    value(entry.getValue(), depth + 1);
                    return entries.hasNext();
                });
            }
            case Collection<?> list -> {
                Iterator<?> elements = list.iterator();
                items('[', ']', list.isEmpty(), depth, () -> {
                    value(elements.next(), depth + 1);
                    return elements.hasNext();
                });
            }
            default -> text(value.toString());
        }
    }

    /** Writes an item, and returns whether there are more. */
    private interface Item {
        boolean write();
    }

    private void items(char begin, char end, boolean empty, int depth, Item item) {
        out.append(begin);
        if (!empty) {
            line(depth + 1);
            while (item.write()) {
                out.append(indent < 0 ? ", " : ",");
                line(depth + 1);
            }
            line(depth);
        }
        out.append(end);
    }

    private void line(int depth) {
        if (indent >= 0) {
            out.append('\n').repeat(' ', indent * depth);
        }
    }

    private void text(String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char letter = text.charAt(i);
            switch (letter) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                case '\b' -> out.append("\\b");
                case '\f' -> out.append("\\f");
                default -> {
                    if (letter < ' ') {
                        out.append("\\u%04x".formatted((int) letter));
                    } else {
                        out.append(letter);
                    }
                }
            }
        }
        out.append('"');
    }
}
