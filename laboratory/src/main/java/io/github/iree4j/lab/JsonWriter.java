package io.github.iree4j.lab;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes maps, lists, strings, numbers and booleans as JSON, elements of the outermost lists on separate lines. */
final class JsonWriter {
    private final StringBuilder out = new StringBuilder();

    private JsonWriter() {}

    static String write(Map<String, ?> document) {
        JsonWriter writer = new JsonWriter();
        writer.members(document, 0);
        return writer.out.append('\n').toString();
    }

    private void members(Map<?, ?> members, int depth) {
        out.append('{');
        String separator = depth == 0 ? "\n  " : "";
        for (Map.Entry<?, ?> each : members.entrySet()) {
            out.append(separator);
            separator = depth == 0 ? ",\n  " : ", ";
            JsonText.quote(String.valueOf(each.getKey()), out);
            out.append(": ");
            value(each.getValue(), depth + 1);
        }
        out.append(depth == 0 ? "\n}" : "}");
    }

    private void elements(List<?> elements, int depth) {
        boolean lines = depth == 1 && elements.stream().anyMatch(Map.class::isInstance);
        out.append('[');
        String separator = lines ? "\n    " : "";
        for (Object each : elements) {
            out.append(separator);
            separator = lines ? ",\n    " : ", ";
            value(each, depth + 1);
        }
        out.append(lines ? "\n  ]" : "]");
    }

    private void value(@Nullable Object value, int depth) {
        switch (value) {
            case Map<?, ?> map -> members(map, depth);
            case List<?> list -> elements(list, depth);
            case String text -> JsonText.quote(text, out);
            case null, default -> out.append(value); // null, numbers and booleans are written unchanged
        }
    }
}
