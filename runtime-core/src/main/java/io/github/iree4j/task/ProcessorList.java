package io.github.iree4j.task;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.BitSet;

/** Sets of processors in the notation of Linux, {@code 0-3,8}: cpuset(7), section "Formats", list format. */
final class ProcessorList {
    /** The largest processor number plus one: the limit of the largest kernels. */
    static final int LIMIT = 8192;

    private ProcessorList() {}

    /**
     * Parses a list; an empty element is an error, an empty text is the empty set.
     *
     * @param what names the text in messages
     * @throws IreeException INVALID_ARGUMENT, naming the error
     */
    static BitSet parse(String what, String text) {
        BitSet processors = new BitSet();
        if (text.isBlank()) {
            return processors;
        }
        for (String range : text.strip().split(",", -1)) {
            int dash = range.indexOf('-');
            int first = number(what, text, dash < 0 ? range : range.substring(0, dash));
            int last = dash < 0 ? first : number(what, text, range.substring(dash + 1));
            if (last < first) {
                throw bad(what, text, "range '%s' ends before it starts".formatted(abbreviate(range)));
            }
            processors.set(first, last + 1);
        }
        return processors;
    }

    private static int number(String what, String list, String text) {
        String digits = text.strip();
        int value = 0;
        boolean good = !digits.isEmpty() && digits.length() <= 9;
        for (int i = 0; good && i < digits.length(); i++) {
            int digit = digits.charAt(i) - '0';
            good = digit >= 0 && digit <= 9;
            value = 10 * value + digit;
        }
        if (!good) {
            throw bad(what, list, "'%s' is not a number".formatted(abbreviate(text)));
        }
        if (value >= LIMIT) {
            throw bad(what, list, "%d is beyond the limit of %d".formatted(value, LIMIT - 1));
        }
        return value;
    }

    private static IreeException bad(String what, String text, String why) {
        return IreeException.of(
                StatusCode.INVALID_ARGUMENT,
                "'%s' is '%s': %s; write a list as in 0-3,8".formatted(what, abbreviate(text), why));
    }

    /** Formats a set in the notation read by {@link #parse}. */
    static String format(BitSet processors) {
        StringBuilder text = new StringBuilder();
        for (int first = processors.nextSetBit(0); first >= 0; ) {
            int end = processors.nextClearBit(first);
            text.append(text.isEmpty() ? "" : ",").append(first);
            if (end - 1 > first) {
                text.append(end - 1 == first + 1 ? ',' : '-').append(end - 1);
            }
            first = processors.nextSetBit(end);
        }
        return text.toString();
    }

    /** Returns the beginning of untrusted text, with control characters replaced. */
    static String abbreviate(String text) {
        String start = text.length() <= 60 ? text : text.substring(0, 60) + "…";
        return start.replaceAll("\\p{Cntrl}", "?");
    }
}
