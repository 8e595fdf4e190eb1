package io.github.iree4j.vm.asm;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Writes names, strings and types in a form read back unchanged by {@link LineCursor}. */
final class TextForms {

    /** Type names without need for quotes: no characters that end a type, begin a comment or end a line. */
    private static final Pattern PLAIN_TYPE = Pattern.compile("[!A-Za-z0-9_.$?*<>,]+");

    private TextForms() {}

    /** Writes a name with the sigil, quoted when the name has characters not allowed in plain names. */
    static String symbol(char sigil, @Nullable String name) {
        String text = name == null ? "" : name;
        boolean plain = !text.isEmpty() && text.chars().allMatch(c -> LineCursor.isSymbolChar((char) c));
        return plain ? sigil + text : sigil + quote(text);
    }

    static String quote(String text) {
        return quote(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Writes a string: verbatim where possible, else with escapes. */
    static String quote(byte[] bytes) {
        String text;
        try {
            text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            return escaped(new String(bytes, StandardCharsets.ISO_8859_1), true);
        }
        boolean verbatim =
                text.codePoints().noneMatch(c -> c == '"' || Character.isISOControl(c) || c == 0x2028 || c == 0x2029);
        return verbatim ? '"' + text + '"' : escaped(text, false);
    }

    /** Writes escapes. With {@code bytewise}, every character stands for a byte, so characters above ASCII are escaped too. */
    private static String escaped(String text, boolean bytewise) {
        StringBuilder out = new StringBuilder("e\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                default -> {
                    if (c < ' ' || c == 0x7F || bytewise && c > 0x7F) {
                        out.append("\\x%02x".formatted((int) c));
                    } else {
                        out.append(c);
                    }
                }
            }
        }
        return out.append('"').toString();
    }

    /** Writes a type in the {@code vm.type} line. */
    static String typeDeclaration(String name) {
        return PLAIN_TYPE.matcher(name).matches() ? name : quote(name);
    }

    /** Writes a type in an instruction: the name, or {@code type[n]} when the name is not unique or not plain. */
    static String typeReference(List<String> types, int ordinal) {
        String name = ordinal >= 0 && ordinal < types.size() ? types.get(ordinal) : "";
        boolean isClear = PLAIN_TYPE.matcher(name).matches() && types.indexOf(name) == ordinal && isBalanced(name);
        return isClear ? name : "type[%s]".formatted(Integer.toUnsignedString(ordinal));
    }

    /** Returns whether brackets match and no comma is outside of brackets, so that the end of the name can be recognized. */
    private static boolean isBalanced(String name) {
        int depth = 0;
        for (char c : name.toCharArray()) {
            if (c == '<') {
                depth++;
            } else if (c == '>' && --depth < 0 || c == ',' && depth == 0) {
                return false;
            }
        }
        return depth == 0;
    }
}
