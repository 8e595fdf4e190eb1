package io.github.iree4j.hal.remote;

import io.github.iree4j.status.IreeException;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * A span of a sampled trace, as identified by the W3C's Trace Context: the parent of work run by other nodes for the
 * span's thread.
 *
 * @param traceHigh the first half of the trace's id
 * @param traceLow the second half; not 0 together with the first
 * @param span the id of the span, not 0
 */
public record TraceParent(long traceHigh, long traceLow, long span) {
    private static final int BYTES = 3 * Long.BYTES;
    private static final HexFormat HEX = HexFormat.of();

    /**
     * Reads ids from their digits.
     *
     * @param trace 32 hexadecimal digits, or 16 for a trace whose first half is 0
     * @param span 16 hexadecimal digits
     * @return the span; null when the arguments have another form, or are zeros
     */
    public static @Nullable TraceParent of(String trace, String span) {
        if (trace.length() != 32 && trace.length() != 16 || span.length() != 16) {
            return null;
        }
        try {
            int half = trace.length() - 16;
            return valid(
                    half == 0 ? 0 : HexFormat.fromHexDigitsToLong(trace, 0, half),
                    HexFormat.fromHexDigitsToLong(trace, half, half + 16),
                    HexFormat.fromHexDigitsToLong(span));
        } catch (NumberFormatException e) {
            return null;
        }
    }

    private static @Nullable TraceParent valid(long traceHigh, long traceLow, long span) {
        return (traceHigh | traceLow) == 0 || span == 0 ? null : new TraceParent(traceHigh, traceLow, span);
    }

    /**
     * Returns the id of the trace.
     *
     * @return 32 hexadecimal digits
     */
    public String traceId() {
        return HEX.toHexDigits(traceHigh) + HEX.toHexDigits(traceLow);
    }

    /**
     * Returns the id of the span.
     *
     * @return 16 hexadecimal digits
     */
    public String spanId() {
        return HEX.toHexDigits(span);
    }

    static void write(@Nullable TraceParent of, FrameWriter out) {
        if (of == null) {
            out.u16(0);
        } else {
            out.u16(BYTES).u64(of.traceHigh).u64(of.traceLow).u64(of.span);
        }
    }

    /**
     * Reads a span sent by a peer.
     *
     * @return null for nothing
     * @throws IreeException DATA_LOSS for anything but nothing and a span
     */
    static @Nullable TraceParent read(FrameReader in) {
        int length = in.u16("trace");
        if (length == 0) {
            return null;
        }
        if (length != BYTES) {
            throw in.corrupt("'trace' has %d bytes, not 0 or %d".formatted(length, BYTES));
        }
        TraceParent parent = valid(in.u64("trace"), in.u64("trace"), in.u64("span"));
        if (parent == null) {
            throw in.corrupt("'trace' has an id of zeros");
        }
        return parent;
    }
}
