package io.github.iree4j.vm.asm;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A cursor reading a line of VMASM from left to right.
 *
 * <p>Comments ({@code #} and {@code //} outside of strings) and a leading {@code [offset]} of a disassembly are
 * skipped. Every failure names line and column, the expected text and the text found.
 */
final class LineCursor {

    private final int lineNumber;
    private final String text;
    private final int end;
    private int at;

    LineCursor(int lineNumber, String text) {
        this.lineNumber = lineNumber;
        this.text = text;
        this.end = endOfCode(text);
        skipSpace();
        if (at < end && text.charAt(at) == '[') {
            int close = text.indexOf(']', at);
            if (close < 0 || close >= end) {
                throw error("']' after the bytecode offset");
            }
            at = close + 1;
            skipSpace();
        }
    }

    /** Returns the end of a line's code: before the comment, without trailing space. */
    private static int endOfCode(String text) {
        int stop = text.length();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"') {
                i = closingQuote(text, i, isEscapedString(text, i));
                if (i < 0) {
                    break;
                }
            } else if (c == '#' || (c == '/' && i + 1 < text.length() && text.charAt(i + 1) == '/')) {
                stop = i;
                break;
            }
        }
        while (stop > 0 && Character.isWhitespace(text.charAt(stop - 1))) {
            stop--;
        }
        return stop;
    }

    /** Returns whether the quote at {@code quote} opens an {@code e"..."} string, in which a backslash escapes. */
    private static boolean isEscapedString(String text, int quote) {
        return quote > 0 && text.charAt(quote - 1) == 'e' && (quote == 1 || !isSymbolChar(text.charAt(quote - 2)));
    }

    private static int closingQuote(String text, int open, boolean escapes) {
        for (int i = open + 1; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"') {
                return i;
            }
            if (escapes && c == '\\') {
                i++;
            }
        }
        return -1;
    }

    static boolean isSymbolChar(char c) {
        return (c >= 'a' && c <= 'z')
                || (c >= 'A' && c <= 'Z')
                || (c >= '0' && c <= '9')
                || c == '_'
                || c == '$'
                || c == '.';
    }

    int lineNumber() {
        return lineNumber;
    }

    /** Returns the column of the next character, from 1. */
    int column() {
        return at + 1;
    }

    /** Returns a position for {@link #reset}. */
    int mark() {
        skipSpace();
        return at;
    }

    void reset(int mark) {
        at = mark;
    }

    boolean atEnd() {
        skipSpace();
        return at >= end;
    }

    void skipSpace() {
        while (at < end && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
    }

    /** Returns the next character except spaces, or NUL at the end. */
    char peek() {
        skipSpace();
        return at < end ? text.charAt(at) : '\0';
    }

    /** Takes everything up to the end of the line. */
    String rest() {
        skipSpace();
        String rest = text.substring(at, end);
        at = end;
        return rest;
    }

    /** Returns the rest of the line, without moving the cursor. */
    String peekRest() {
        skipSpace();
        return text.substring(at, end);
    }

    /** Takes {@code literal} if found next, after spaces; a literal ending in a letter must not continue into a longer word. */
    boolean tryTake(String literal) {
        skipSpace();
        if (!text.startsWith(literal, at) || at + literal.length() > end) {
            return false;
        }
        int after = at + literal.length();
        boolean isWord = isSymbolChar(literal.charAt(literal.length() - 1));
        if (isWord && after < end && isSymbolChar(text.charAt(after))) {
            return false;
        }
        at = after;
        return true;
    }

    /** Takes {@code literal} if found next, regardless of the following text. */
    boolean tryTakeRaw(String literal) {
        skipSpace();
        if (!text.startsWith(literal, at) || at + literal.length() > end) {
            return false;
        }
        at += literal.length();
        return true;
    }

    /** Takes {@code c} if found next, without preceding spaces, and followed by a digit. */
    boolean tryTakeBeforeDigit(char c) {
        if (at + 1 < end && text.charAt(at) == c && text.charAt(at + 1) >= '0' && text.charAt(at + 1) <= '9') {
            at++;
            return true;
        }
        return false;
    }

    /** Moves on by {@code count} characters. */
    void skip(int count) {
        at = Math.min(end, at + count);
    }

    void take(String literal) {
        if (!tryTake(literal)) {
            throw error("'" + literal + "'");
        }
    }

    /** Takes a run of symbol characters, possibly empty. */
    String word() {
        skipSpace();
        int start = at;
        while (at < end && isSymbolChar(text.charAt(at))) {
            at++;
        }
        return text.substring(start, at);
    }

    /** Takes a name after {@code sigil}: plain, or quoted when the name has other characters. */
    String name(char sigil, String expected) {
        skipSpace();
        if (at >= end || text.charAt(at) != sigil) {
            throw error(expected);
        }
        int start = at++;
        if (text.startsWith("\"", at) || text.startsWith("e\"", at)) {
            return string(expected);
        }
        if (at < end && Character.isWhitespace(text.charAt(at))) {
            at = start;
            throw error(expected);
        }
        String name = word();
        if (name.isEmpty()) {
            at = start;
            throw error(expected);
        }
        return name;
    }

    String symbol(String what) {
        return name('@', what + " like '@name'");
    }

    String label() {
        return name('^', "block label like '^bb0'");
    }

    /** Takes a quoted string as text. */
    String string(String what) {
        return new String(bytes(what), StandardCharsets.UTF_8);
    }

    /**
     * Takes a quoted string as bytes: {@code "..."} is verbatim, as in IREE; in {@code e"..."} a backslash escapes
     * ({@code \" \\ \n \r \t} and {@code \xNN} for any byte).
     */
    byte[] bytes(String what) {
        skipSpace();
        boolean escapes = at + 1 < end && text.charAt(at) == 'e' && text.charAt(at + 1) == '"';
        int open = escapes ? at + 1 : at;
        if (open >= end || text.charAt(open) != '"') {
            throw error(what + " in quotes");
        }
        int close = closingQuote(text, open, escapes);
        if (close < 0 || close >= end) {
            throw error(what + " with a closing quote");
        }
        String body = text.substring(open + 1, close);
        if (!escapes) {
            at = close + 1;
            return body.getBytes(StandardCharsets.UTF_8);
        }
        byte[] result = unescape(body, open + 1);
        at = close + 1;
        return result;
    }

    private byte[] unescape(String body, int column) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        int plain = 0;
        for (int i = 0; i < body.length(); i++) {
            if (body.charAt(i) != '\\') {
                continue;
            }
            out.writeBytes(body.substring(plain, i).getBytes(StandardCharsets.UTF_8));
            at = column + i;
            char c = i + 1 < body.length() ? body.charAt(i + 1) : '\0';
            switch (c) {
                case '"', '\\' -> out.write(c);
                case 'n' -> out.write('\n');
                case 'r' -> out.write('\r');
                case 't' -> out.write('\t');
                case 'x' -> {
                    int high = i + 2 < body.length() ? Character.digit(body.charAt(i + 2), 16) : -1;
                    int low = i + 3 < body.length() ? Character.digit(body.charAt(i + 3), 16) : -1;
                    if (high < 0 || low < 0) {
                        throw error("two hex digits after '\\x'");
                    }
                    out.write(high << 4 | low);
                    i += 2;
                }
                default -> throw error("one of the escapes \\\" \\\\ \\n \\r \\t \\xNN");
            }
            i++;
            plain = i + 1;
        }
        out.writeBytes(body.substring(plain).getBytes(StandardCharsets.UTF_8));
        return out.toByteArray();
    }

    /**
     * Takes an integer: decimal or {@code 0x}, possibly negative. Values up to the unsigned maximum of the width are
     * taken as bits.
     *
     * @param bits the width, 16, 32 or 64
     */
    long integer(int bits, String what) {
        long min = bits == 64 ? Long.MIN_VALUE : -(1L << (bits - 1));
        BigInteger max = BigInteger.ONE.shiftLeft(bits).subtract(BigInteger.ONE);
        skipSpace();
        int start = at;
        BigInteger value = tryInteger();
        if (value == null) {
            at = start;
            throw error(what);
        }
        if (value.compareTo(BigInteger.valueOf(min)) < 0 || value.compareTo(max) > 0) {
            at = start;
            throw error(what + " of " + bits + " bits");
        }
        return value.longValue();
    }

    /** Takes a non-negative integer. */
    long unsigned(long max, String what) {
        skipSpace();
        int start = at;
        BigInteger value = tryInteger();
        if (value == null || value.signum() < 0 || value.compareTo(BigInteger.valueOf(max)) > 0) {
            at = start;
            throw error(what + " from 0 to " + max);
        }
        return value.longValue();
    }

    private @Nullable BigInteger tryInteger() {
        int i = at;
        boolean negative = false;
        if (i < end && (text.charAt(i) == '-' || text.charAt(i) == '+')) {
            negative = text.charAt(i++) == '-';
        }
        int radix = 10;
        if (i + 1 < end && text.charAt(i) == '0' && (text.charAt(i + 1) | 0x20) == 'x') {
            radix = 16;
            i += 2;
        }
        int digits = i;
        while (i < end && Character.digit(text.charAt(i), radix) >= 0 && text.charAt(i) < 128) {
            i++;
        }
        if (i == digits || i - digits > 20) {
            return null;
        }
        if (radix == 10 && i - digits > 1 && text.charAt(digits) == '0') {
            at = digits;
            throw error("a number without leading zeros");
        }
        at = i;
        BigInteger value = new BigInteger(text.substring(digits, i), radix);
        return negative ? value.negate() : value;
    }

    /** Takes the characters up to a space or comma, for literals with a separate grammar. */
    String token() {
        skipSpace();
        int start = at;
        while (at < end && !Character.isWhitespace(text.charAt(at)) && text.charAt(at) != ',') {
            at++;
        }
        return text.substring(start, at);
    }

    void expectEnd() {
        if (!atEnd()) {
            throw error("the end of the line");
        }
    }

    IreeException error(String expected) {
        return IreeException.of(
                StatusCode.INVALID_ARGUMENT,
                "line %d:%d: expected %s, found %s".formatted(lineNumber, column(), expected, found()));
    }

    /** Creates a failure whose text is not of the form expected/found. */
    IreeException failure(String what) {
        return IreeException.of(StatusCode.INVALID_ARGUMENT, "line %d:%d: %s".formatted(lineNumber, column(), what));
    }

    private String found() {
        int i = at;
        while (i < end && Character.isWhitespace(text.charAt(i))) {
            i++;
        }
        if (i >= end) {
            return "the end of the line";
        }
        int stop = i + 1;
        if (isTokenChar(text.charAt(i))) {
            while (stop < end && isTokenPart(stop) && stop - i < 40) {
                stop++;
            }
        }
        return "'" + text.substring(i, stop) + "'";
    }

    /** A colon belongs to the token when joining a pair of registers, not when separating. */
    private boolean isTokenPart(int i) {
        return text.charAt(i) == ':'
                ? i + 1 < end && Character.isDigit(text.charAt(i + 1))
                : isTokenChar(text.charAt(i));
    }

    private static boolean isTokenChar(char c) {
        return isSymbolChar(c) || "%@^!-+\"\\<>?".indexOf(c) >= 0;
    }
}
