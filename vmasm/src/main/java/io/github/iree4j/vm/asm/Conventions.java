package io.github.iree4j.vm.asm;

import io.github.iree4j.vm.isa.FieldKind;
import io.github.iree4j.vm.isa.InstructionReader;

/**
 * The letters of calling conventions such as {@code 0rI_i} ({@code iree/vm/module.h}), as far as text needs the
 * letters. Unlike {@link io.github.iree4j.vm.CallingConvention} this class accepts anything, since unverified modules
 * can be printed.
 */
final class Conventions {

    /** The most letters that matter: an operand list has a u16 count. */
    private static final int MAX_OPERANDS = 0xFFFF;

    private Conventions() {}

    /** Returns the letters of the arguments; empty for none and for a text other than a convention of version 0. */
    static String arguments(String convention) {
        return part(convention, 0);
    }

    /** Returns the letters of the results. */
    static String results(String convention) {
        return part(convention, 1);
    }

    static boolean isWide(char letter) {
        return letter == 'I' || letter == 'F';
    }

    /** Returns the convention of a function with these arguments and results, spelled as in compiled modules. */
    static String of(String arguments, String results) {
        return "0" + (arguments.isEmpty() ? "v" : arguments) + "_" + (results.isEmpty() ? "v" : results);
    }

    /** Returns the letter of a type as written in a function's signature, or NUL. */
    static char letter(String type) {
        return switch (type) {
            case "i32" -> 'i';
            case "i64" -> 'I';
            case "f32" -> 'f';
            case "f64" -> 'F';
            default -> type.startsWith("!") ? 'r' : '\0';
        };
    }

    /** Returns the spelling of a letter in a function's signature; empty for an invalid letter. */
    static String type(char letter) {
        return switch (letter) {
            case 'i' -> "i32";
            case 'I' -> "i64";
            case 'f' -> "f32";
            case 'F' -> "f64";
            case 'r' -> "!vm.ref<?>";
            default -> "";
        };
    }

    /** Returns the arguments with every span {@code C...D} repeated according to the segment sizes in {@code field}. */
    static String expand(String arguments, InstructionReader reader, int field) {
        StringBuilder letters = new StringBuilder();
        int segment = 0;
        for (int i = 0; i < arguments.length() && letters.length() <= MAX_OPERANDS; i++) {
            int size = segment < reader.count(field) ? reader.item(field, segment) : 0;
            segment++;
            if (arguments.charAt(i) != 'C') {
                letters.append(arguments.charAt(i));
                continue;
            }
            int end = arguments.indexOf('D', i);
            if (end < 0) {
                break;
            }
            letters.repeat(arguments.substring(i + 1, end), size == FieldKind.NOT_A_SEGMENT ? 0 : size);
            i = end;
        }
        return letters.toString();
    }

    private static String part(String convention, int index) {
        if (!convention.startsWith("0")) {
            return "";
        }
        int separator = convention.indexOf('_');
        String part = index == 0
                ? convention.substring(1, separator < 0 ? convention.length() : separator)
                : separator < 0 ? "" : convention.substring(separator + 1);
        return part.equals("v") ? "" : part;
    }
}
