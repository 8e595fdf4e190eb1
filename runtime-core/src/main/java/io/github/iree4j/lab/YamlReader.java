package io.github.iree4j.lab;

import static io.github.iree4j.lab.Scenario.invalid;

import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads JSON and a part of YAML: mappings and lists in block or flow style, and scalars that are plain, in single or in
 * double quotes. No anchors, tags, block scalars or several documents; a key occurs once. Every scalar is a string,
 * null and ~ are empty. For untrusted text: time and memory are linear in the length of the text.
 */
final class YamlReader {
    /** The longest text, in characters. */
    private static final int MAXIMUM_LENGTH = 16 << 20;

    /** The deepest nesting. */
    private static final int MAXIMUM_DEPTH = 16;

    private final String text;
    private int at;

    private YamlReader(String text) {
        this.text = text;
    }

    /** Returns a map, a list or a string; INVALID_ARGUMENT with the line for unreadable text. */
    static Object read(String text) {
        if (text.length() > MAXIMUM_LENGTH) {
            throw invalid("the text has %d characters, more than %d".formatted(text.length(), MAXIMUM_LENGTH));
        }
        YamlReader reader = new YamlReader(text.startsWith("\uFEFF") ? text.substring(1) : text); // a byte order mark
        reader.skip();
        if (reader.isBeginningOfDocument()) {
            reader.at += 3;
            reader.skip();
        }
        Object value = reader.block(0, "");
        reader.skip();
        if (reader.at < reader.text.length()) {
            throw reader.error("nothing more is expected here");
        }
        return value;
    }

    private boolean isBeginningOfDocument() {
        int end = at + 3;
        return text.startsWith("---", at) && column() == 0 && (end == text.length() || text.charAt(end) <= ' ');
    }

    // ---- Block style.

    /** Reads a value starting here; continuations are indented by more than the parent. */
    private Object block(int depth, String parent) {
        check(depth);
        int column = column();
        if (at >= text.length()) {
            return "";
        }
        if (isDash()) {
            return sequence(column, depth);
        }
        int start = at;
        if (peek() == '{' || peek() == '[') {
            return flow(depth);
        }
        if (isKey()) {
            at = start;
            return mapping(column, depth);
        }
        at = start;
        return scalarToEnd(parent.length());
    }

    private List<Object> sequence(int column, int depth) {
        List<Object> elements = new ArrayList<>();
        do {
            at++; // the dash
            spaces();
            if (isEndOfLine()) {
                skip();
                elements.add(column() > column ? block(depth + 1, indent(column)) : "");
            } else {
                elements.add(block(depth + 1, indent(column)));
            }
            skip();
        } while (at < text.length() && column() == column && isDash());
        checkIndent(column);
        return elements;
    }

    private Map<String, Object> mapping(int column, int depth) {
        Map<String, Object> members = new LinkedHashMap<>();
        do {
            int line = at;
            String key = scalar(false);
            if (at >= text.length() || peek() != ':') {
                throw error("expected ':' after a key");
            }
            at++;
            spaces();
            Object value;
            if (isEndOfLine()) {
                skip();
                boolean inner = at < text.length() && (column() > column || column() == column && isDash());
                value = inner ? block(depth + 1, indent(column)) : "";
            } else if (peek() == '{' || peek() == '[') {
                value = flow(depth + 1);
                endLine();
            } else {
                value = scalarToEnd(column);
            }
            if (members.put(key, value) != null) {
                at = line;
                throw error("key '%s' occurs twice".formatted(shortened(key)));
            }
            skip();
        } while (at < text.length() && column() == column && !isDash());
        checkIndent(column);
        return members;
    }

    private static String indent(int column) {
        return " ".repeat(column);
    }

    private void checkIndent(int column) {
        if (at < text.length() && column() > column) {
            throw error("this line is indented by %d, more than those it belongs to".formatted(column()));
        }
    }

    /** Reads a scalar ending with its line, or continued in lines with a larger indent. */
    private String scalarToEnd(int indent) {
        char first = peek();
        if (first == '"' || first == '\'') {
            String value = scalar(false);
            endLine();
            return value;
        }
        StringBuilder value = new StringBuilder(plain(false));
        while (true) {
            endLine();
            int end = at;
            skip();
            if (at >= text.length() || column() <= indent) {
                return withoutNull(value.toString());
            }
            if (at == end) {
                throw error("unexpected text");
            }
            if (isDash() || peek() == '#') {
                throw error("a list cannot continue a text; put quotes around the text");
            }
            value.append(' ').append(plain(false));
            if (at < text.length() && peek() == ':') {
                throw error(
                        "a text that goes on from the line before contains ': '; put quotes around it, or correct the indent");
            }
        }
    }

    private void endLine() {
        spaces();
        if (!isEndOfLine()) {
            throw error("unexpected text at the end of the line; put quotes around a text with special characters");
        }
    }

    // ---- Flow style.

    private Object flow(int depth) {
        check(depth);
        skip();
        if (at >= text.length()) {
            throw error("the text ends where a value is expected");
        }
        return switch (peek()) {
            case '{' -> flowMapping(depth);
            case '[' -> flowSequence(depth);
            case '"', '\'' -> scalar(true);
            default -> withoutNull(plain(true));
        };
    }

    private List<Object> flowSequence(int depth) {
        List<Object> elements = new ArrayList<>();
        at++;
        skip();
        while (!isNext(']')) {
            elements.add(flow(depth + 1));
            separator(']');
        }
        at++;
        return elements;
    }

    private Map<String, Object> flowMapping(int depth) {
        Map<String, Object> members = new LinkedHashMap<>();
        at++;
        skip();
        while (!isNext('}')) {
            String key = scalar(true);
            skip();
            if (!isNext(':')) {
                throw error("expected ':' after key '%s'".formatted(shortened(key)));
            }
            at++;
            if (members.put(key, flow(depth + 1)) != null) {
                throw error("key '%s' occurs twice".formatted(shortened(key)));
            }
            separator('}');
        }
        at++;
        return members;
    }

    private void separator(char end) {
        skip();
        if (isNext(',')) {
            at++;
            skip();
        } else if (!isNext(end)) {
            throw error("expected ',' or '%c'".formatted(end));
        }
    }

    private boolean isNext(char c) {
        if (at >= text.length()) {
            throw error("the text ends where '%c' is expected".formatted(c));
        }
        return peek() == c;
    }

    // ---- Scalars.

    private String scalar(boolean inFlow) {
        return switch (at < text.length() ? peek() : ' ') {
            case '"' -> doubleQuoted();
            case '\'' -> singleQuoted();
            default -> plain(inFlow);
        };
    }

    /** Returns the empty text for a plain scalar meaning no value. */
    private static String withoutNull(String plain) {
        return switch (plain) {
            case "~", "null", "Null", "NULL" -> "";
            default -> plain;
        };
    }

    private String plain(boolean inFlow) {
        int start = at;
        while (at < text.length() && !isEndOfPlain(inFlow)) {
            at++;
        }
        String value = text.substring(start, at).stripTrailing();
        if (value.isEmpty()) {
            throw error("a value is expected here");
        }
        if ("&*!|>%@`".indexOf(value.charAt(0)) >= 0 || value.equals("?") || value.equals("-")) {
            at = start;
            throw error("'%c' at the beginning of a value is not supported; put quotes around a text"
                    .formatted(value.charAt(0)));
        }
        return value;
    }

    private boolean isEndOfPlain(boolean inFlow) {
        char c = peek();
        if (c == '\n' || c == '\r' || c == '#' && at > 0 && text.charAt(at - 1) <= ' ') {
            return true;
        }
        if (c < ' ' && c != '\t' || c == 0x7F) {
            throw error("control character %02x".formatted((int) c));
        }
        if (c == ':') {
            char next = at + 1 < text.length() ? text.charAt(at + 1) : '\n';
            return next <= ' ' || inFlow && ",[]{}".indexOf(next) >= 0;
        }
        return inFlow && ",[]{}".indexOf(c) >= 0;
    }

    private String singleQuoted() {
        StringBuilder value = new StringBuilder();
        int start = at++;
        while (at < text.length()) {
            char c = text.charAt(at++);
            if (c == '\'') {
                if (at >= text.length() || peek() != '\'') {
                    return value.toString();
                }
                at++;
            }
            append(value, c);
        }
        at = start;
        throw error("a text in quotes has no end");
    }

    private String doubleQuoted() {
        StringBuilder value = new StringBuilder();
        int start = at++;
        while (at < text.length()) {
            char c = text.charAt(at++);
            if (c == '"') {
                return value.toString();
            }
            if (c == '\\') {
                value.append(escape());
            } else {
                append(value, c);
            }
        }
        at = start;
        throw error("a text in quotes has no end");
    }

    /** Appends a character of a text in quotes; the end of a line and the indent of the next are a single space. */
    private void append(StringBuilder value, char c) {
        if (c != '\n' && c != '\r') {
            value.append(c == '\t' ? ' ' : c);
        } else if (!value.isEmpty() && value.charAt(value.length() - 1) != ' ') {
            value.append(' ');
        }
        if (c == '\n') {
            while (at < text.length() && peek() == ' ') {
                at++;
            }
        }
    }

    private char escape() {
        char c = at < text.length() ? text.charAt(at++) : ' ';
        return switch (c) {
            case '"', '\\', '/' -> c;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> {
                int value = 0;
                for (int i = 0; i < 4; i++) {
                    int digit = at < text.length() ? Character.digit(text.charAt(at++), 16) : -1;
                    if (digit < 0) {
                        throw error("an escape needs four hexadecimal digits");
                    }
                    value = value << 4 | digit;
                }
                yield (char) value;
            }
            default -> throw error("unknown escape in a text");
        };
    }

    // ---- Characters.

    private char peek() {
        return text.charAt(at);
    }

    private boolean isDash() {
        return peek() == '-' && (at + 1 == text.length() || text.charAt(at + 1) <= ' ');
    }

    /** Returns whether a key starts here; moves. */
    private boolean isKey() {
        scalar(false);
        return at < text.length() && peek() == ':';
    }

    private void spaces() {
        while (at < text.length() && (peek() == ' ' || peek() == '\t')) {
            at++;
        }
    }

    /** Returns whether nothing but a comment is left of the line. */
    private boolean isEndOfLine() {
        return at >= text.length() || peek() == '\n' || peek() == '\r' || peek() == '#';
    }

    /** Skips white space, line ends and comments. */
    private void skip() {
        while (at < text.length()) {
            char c = peek();
            if (c == '#' && (at == 0 || text.charAt(at - 1) <= ' ')) {
                while (at < text.length() && peek() != '\n') {
                    at++;
                }
            } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
                at++;
            } else {
                return;
            }
        }
    }

    /** Returns the position of the next character in its line. */
    private int column() {
        int column = 0;
        for (int i = at - 1; i >= 0 && text.charAt(i) != '\n'; i--) {
            column++;
        }
        return column;
    }

    private void check(int depth) {
        if (depth > MAXIMUM_DEPTH) {
            throw error("values are nested deeper than %d".formatted(MAXIMUM_DEPTH));
        }
    }

    private static String shortened(String key) {
        return key.length() > 60 ? key.substring(0, 60) + "…" : key;
    }

    private IreeException error(String what) {
        long line = 1
                + text.substring(0, Math.min(at, text.length()))
                        .chars()
                        .filter(c -> c == '\n')
                        .count();
        return invalid("line %d: %s".formatted(line, what));
    }
}
