package io.github.iree4j.flight;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads JSON: maps, lists, texts, whole numbers as {@link Long}, booleans and null. */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** Reads an object; fails if a key is there twice, or something follows. */
    @SuppressWarnings("unchecked")
    static Map<String, Object> object(String text) {
        Json reader = new Json(text);
        Map<String, Object> read = (Map<String, Object>) reader.value();
        if (!text.substring(reader.at).isBlank()) {
            throw reader.malformed();
        }
        return read;
    }

    private IllegalArgumentException malformed() {
        return new IllegalArgumentException("at %d: %s"
                .formatted(at, text.substring(at, Math.min(text.length(), at + 40))));
    }

    private char next() {
        while (Character.isWhitespace(text.charAt(at))) {
            at++;
        }
        return text.charAt(at);
    }

    private boolean skips(char expected) {
        boolean isThere = next() == expected;
        at += isThere ? 1 : 0;
        return isThere;
    }

    private void require(char expected) {
        if (!skips(expected)) {
            throw malformed();
        }
    }

    private @Nullable Object value() {
        return switch (next()) {
            case '{' -> members();
            case '[' -> elements();
            case '"' -> string();
            default -> literal();
        };
    }

    private Map<String, @Nullable Object> members() {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        require('{');
        while (!skips('}')) {
            if (!members.isEmpty()) {
                require(',');
            }
            String key = string();
            require(':');
            if (members.containsKey(key)) {
                throw malformed();
            }
            members.put(key, value());
        }
        return members;
    }

    private List<@Nullable Object> elements() {
        List<@Nullable Object> elements = new ArrayList<>();
        require('[');
        while (!skips(']')) {
            if (!elements.isEmpty()) {
                require(',');
            }
            elements.add(value());
        }
        return elements;
    }

    private String string() {
        require('"');
        StringBuilder read = new StringBuilder();
        while (text.charAt(at) != '"') {
            char each = text.charAt(at++);
            if (each != '\\') {
                read.append(each);
                continue;
            }
            char escaped = text.charAt(at++);
            switch (escaped) {
                case 'n' -> read.append('\n');
                case 'r' -> read.append('\r');
                case 't' -> read.append('\t');
                case 'u' -> {
                    read.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
                    at += 4;
                }
                default -> read.append(escaped);
            }
        }
        at++;
        return read.toString();
    }

    private @Nullable Object literal() {
        int begin = at;
        while (at < text.length() && (Character.isLetterOrDigit(text.charAt(at)) || text.charAt(at) == '-')) {
            at++;
        }
        String literal = text.substring(begin, at);
        return switch (literal) {
            case "null" -> null;
            case "true" -> true;
            case "false" -> false;
            default -> Long.valueOf(literal);
        };
    }
}
