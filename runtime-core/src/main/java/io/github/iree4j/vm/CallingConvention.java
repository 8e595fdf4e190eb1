package io.github.iree4j.vm;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;

/**
 * A calling convention, from text such as {@code 0rIrrCiiD_r} ({@code iree/vm/module.h}): a version, the arguments, and
 * after an underscore the results.
 *
 * <p>Letters: {@code i} i32, {@code I} i64, {@code f} f32, {@code F} f64, {@code r} reference, {@code v} alone for
 * none, {@code C...D} a span of tuples. Only arguments can have spans. Immutable.
 */
@NotForApplications
public final class CallingConvention {
    /** The longest text accepted. */
    private static final int MAX_LENGTH = 1 << 16;

    /** The convention without arguments and results. */
    public static final CallingConvention VOID = new CallingConvention("0v_v", "", "");

    private final String text;
    private final String arguments;
    private final String results;
    private final boolean variadic;

    private CallingConvention(String text, String arguments, String results) {
        this.text = text;
        this.arguments = arguments;
        this.results = results;
        this.variadic = arguments.indexOf('C') >= 0;
    }

    /**
     * Reads a convention.
     *
     * @param text for example {@code 0ri_r}; the empty text means no arguments and no results
     * @return the convention
     * @throws IreeException UNIMPLEMENTED for a version other than 0, INVALID_ARGUMENT for anything malformed
     */
    public static CallingConvention parse(String text) {
        if (text.isEmpty()) {
            return VOID;
        }
        if (text.length() > MAX_LENGTH) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "calling convention of %d characters is longer than %d".formatted(text.length(), MAX_LENGTH));
        }
        if (text.charAt(0) != '0') {
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED, "calling convention '" + text + "' has a version other than 0");
        }
        int split = text.indexOf('_');
        String arguments = part(text, text.substring(1, split < 0 ? text.length() : split), true);
        String results = part(text, split < 0 ? "" : text.substring(split + 1), false);
        return new CallingConvention(text, arguments, results);
    }

    private static String part(String text, String part, boolean spansAllowed) {
        if (part.equals("v")) {
            return "";
        }
        int spanStart = -1;
        for (int i = 0; i < part.length(); i++) {
            char letter = part.charAt(i);
            boolean valid = switch (letter) {
                case 'i', 'I', 'f', 'F', 'r' -> true;
                case 'C' -> spansAllowed && spanStart < 0;
                case 'D' -> spanStart >= 0 && i > spanStart + 1;
                default -> false;
            };
            if (!valid) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "calling convention '%s' has a misplaced '%c'".formatted(text, letter));
            }
            if (letter == 'C') {
                spanStart = i;
            } else if (letter == 'D') {
                spanStart = -1;
            }
        }
        if (spanStart >= 0) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "calling convention '" + text + "' has an unterminated span");
        }
        return part;
    }

    /**
     * Returns the original text.
     *
     * @return for example {@code 0v_i}
     */
    public String text() {
        return text;
    }

    /**
     * Returns the letters of the arguments, spans with their {@code C} and {@code D}.
     *
     * @return empty when there are none
     */
    public String arguments() {
        return arguments;
    }

    /**
     * Returns the letters of the results.
     *
     * @return empty when there are none
     */
    public String results() {
        return results;
    }

    /**
     * Returns whether an argument is a span.
     *
     * @return true when the number of values depends on the call
     */
    public boolean isVariadic() {
        return variadic;
    }

    /**
     * Returns whether two conventions have the same arguments and results, regardless of the spelling of empty halves.
     *
     * @param other the other convention
     * @return whether either convention can replace the other
     */
    public boolean matches(CallingConvention other) {
        return arguments.equals(other.arguments) && results.equals(other.results);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof CallingConvention convention && text.equals(convention.text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    @Override
    public String toString() {
        return text;
    }
}
