package io.github.iree4j.modules.parameters;

import io.github.iree4j.status.IreeException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Reads untrusted JSON (RFC 8259) in one pass over mapped bytes: the caller states the expected syntax, anything else
 * is rejected with an offset. Stricter than the RFC: duplicate keys and lone surrogates are rejected. Keeps only the
 * keys of the current objects.
 */
final class JsonReader {
    /** Deepest nesting of skipped values. */
    private static final int MAX_DEPTH = 32;

    private static final int CHUNK = 8192;

    private final ArchiveSource source;
    private final long end;
    private long at;

    /** Scratch for strings, as UTF-8. */
    private byte[] text = new byte[128];

    /**
     * Creates a reader positioned at a value.
     *
     * @throws IreeException INVALID_ARGUMENT when the range is not UTF-8
     */
    JsonReader(ArchiveSource source, long offset, long length) {
        this.source = source;
        this.at = offset;
        this.end = offset + length;
        checkUtf8();
    }

    private void checkUtf8() {
        CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
        CharBuffer characters = CharBuffer.allocate(CHUNK);
        byte[] chunk = new byte[CHUNK];
        int kept = 0;
        for (long from = at; from < end || kept > 0; ) {
            int size = (int) Math.min(CHUNK - kept, end - from);
            source.bytes().asSlice(from, size).asByteBuffer().get(chunk, kept, size);
            from += size;
            ByteBuffer bytes = ByteBuffer.wrap(chunk, 0, kept + size);
            characters.clear();
            CoderResult result = decoder.decode(bytes, characters, from == end);
            if (result.isError()) {
                throw source.invalid(from - bytes.remaining(), "the JSON header is not UTF-8 here");
            }
            kept = bytes.remaining();
            System.arraycopy(chunk, bytes.position(), chunk, 0, kept);
        }
    }

    /** Returns the offset of the next character. */
    long offset() {
        return at;
    }

    /** Reads an object; the consumer is called with each key, and must read the value. */
    void object(Consumer<String> member) {
        space();
        expect('{');
        space();
        Set<String> keys = new HashSet<>();
        if (consume('}')) {
            return;
        }
        do {
            space();
            long start = at;
            String key = string(ArchiveSource.MAX_KEY_BYTES);
            if (keys.size() > ArchiveSource.MAX_PARAMETERS) {
                throw source.invalid(
                        start, "an object of more than %d members".formatted(ArchiveSource.MAX_PARAMETERS));
            }
            if (!keys.add(key)) {
                throw source.invalid(start, "key %s is defined twice".formatted(ArchiveSource.quote(key)));
            }
            space();
            expect(':');
            member.accept(key);
            space();
        } while (consume(','));
        expect('}');
    }

    /** Reads an array; the consumer is called before each element, and must read the element. */
    void array(Runnable element) {
        space();
        expect('[');
        space();
        if (consume(']')) {
            return;
        }
        do {
            element.run();
            space();
        } while (consume(','));
        expect(']');
    }

    /** Reads a string of at most {@code limit} bytes in UTF-8. */
    String string(int limit) {
        space();
        long start = at;
        expect('"');
        int size = 0;
        while (true) {
            int c = character("a string");
            if (c == '"') {
                return new String(text, 0, size, StandardCharsets.UTF_8);
            }
            if (c < ' ') {
                throw source.invalid(at - 1, "control character %02x in a string".formatted(c));
            }
            int codePoint = c == '\\' ? escape() : -1;
            if (size + 4 > limit) {
                throw source.invalid(start, "string of more than %d bytes".formatted(limit - 4));
            }
            if (size + 4 > text.length) {
                text = Arrays.copyOf(text, 2 * text.length);
            }
            if (codePoint < 0) {
                text[size++] = (byte) c;
            } else {
                byte[] encoded = Character.toString(codePoint).getBytes(StandardCharsets.UTF_8);
                System.arraycopy(encoded, 0, text, size, encoded.length);
                size += encoded.length;
            }
        }
    }

    private int escape() {
        int c = character("an escape");
        return switch (c) {
            case '"', '\\', '/' -> c;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> {
                long start = at - 2;
                char first = (char) hex();
                if (!Character.isSurrogate(first)) {
                    yield first;
                }
                if (Character.isHighSurrogate(first) && consume('\\') && consume('u')) {
                    char second = (char) hex();
                    if (Character.isLowSurrogate(second)) {
                        yield Character.toCodePoint(first, second);
                    }
                }
                throw source.invalid(start, "escape of half a character");
            }
            default -> throw source.invalid(at - 2, "unknown escape in a string");
        };
    }

    private int hex() {
        int value = 0;
        for (int i = 0; i < 4; i++) {
            int c = character("an escape");
            int digit = c < 0x80 ? Character.digit(c, 16) : -1;
            if (digit < 0) {
                throw source.invalid(at - 1, "an escape needs four hexadecimal digits");
            }
            value = value << 4 | digit;
        }
        return value;
    }

    /** Reads an integer from 0 to {@link Long#MAX_VALUE}. */
    long unsigned() {
        space();
        long start = at;
        long value = 0;
        int digits = 0;
        for (; at < end && isDigit(peek()); at++, digits++) {
            int digit = peek() - '0';
            if (value > (Long.MAX_VALUE - digit) / 10) {
                throw source.invalid(start, "number greater than %d".formatted(Long.MAX_VALUE));
            }
            value = value * 10 + digit;
        }
        int next = at < end ? peek() : 0;
        if (digits == 0 || next == '.' || next == 'e' || next == 'E') {
            throw source.invalid(start, "expected an integer of 0 or more");
        }
        if (digits > 1 && source.bytes().get(ValueLayout.JAVA_BYTE, start) == '0') {
            throw source.invalid(start, "number with a leading zero");
        }
        return value;
    }

    /** Skips a value of any type. */
    void skip() {
        skip(0);
    }

    private void skip(int depth) {
        space();
        if (depth > MAX_DEPTH) {
            throw source.invalid(at, "values nested deeper than %d".formatted(MAX_DEPTH));
        }
        switch (at < end ? peek() : 0) {
            case '{' -> object(_ -> skip(depth + 1));
            case '[' -> array(() -> skip(depth + 1));
            case '"' -> skipString();
            case 't' -> word("true");
            case 'f' -> word("false");
            case 'n' -> word("null");
            default -> skipNumber();
        }
    }

    /** Skips a string of any length. */
    void skipString() {
        space();
        expect('"');
        while (true) {
            int c = character("a string");
            if (c == '"') {
                return;
            }
            if (c < ' ') {
                throw source.invalid(at - 1, "control character %02x in a string".formatted(c));
            }
            if (c == '\\') {
                escape();
            }
        }
    }

    private void word(String word) {
        for (int i = 0; i < word.length(); i++) {
            expect(word.charAt(i));
        }
    }

    private void skipNumber() {
        long start = at;
        consume('-');
        if (!consume('0')) {
            digits(start);
        }
        if (consume('.')) {
            digits(start);
        }
        if (consume('e') || consume('E')) {
            if (!consume('+')) {
                consume('-');
            }
            digits(start);
        }
    }

    private void digits(long start) {
        long first = at;
        while (at < end && isDigit(peek())) {
            at++;
        }
        if (at == first) {
            throw source.invalid(start, "expected a value");
        }
    }

    /** Checks that only white space follows. */
    void end() {
        space();
        if (at < end) {
            throw source.invalid(at, "%d bytes after the JSON header's object".formatted(end - at));
        }
    }

    private static boolean isDigit(int c) {
        return c >= '0' && c <= '9';
    }

    private void space() {
        while (at < end) {
            int c = peek();
            if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
                return;
            }
            at++;
        }
    }

    private int peek() {
        return source.bytes().get(ValueLayout.JAVA_BYTE, at) & 0xFF;
    }

    private int character(String where) {
        if (at >= end) {
            throw source.invalid(at, "the JSON header ends within " + where);
        }
        return source.bytes().get(ValueLayout.JAVA_BYTE, at++) & 0xFF;
    }

    private boolean consume(char wanted) {
        if (at < end && peek() == wanted) {
            at++;
            return true;
        }
        return false;
    }

    private void expect(char wanted) {
        if (!consume(wanted)) {
            throw source.invalid(
                    at,
                    at >= end
                            ? "the JSON header ends where '%c' is expected".formatted(wanted)
                            : "expected '%c'".formatted(wanted));
        }
    }
}
