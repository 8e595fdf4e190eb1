package io.github.iree4j.hal;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;

/** The common check of byte ranges, with its message. */
final class Ranges {
    private Ranges() {}

    /**
     * Checks a range and resolves its length.
     *
     * @param what names the range in the message
     * @param length bytes, or {@link Buffer#WHOLE} for all bytes from the offset on
     * @param capacity length of the container
     * @param container names the container in the message
     * @return the length in bytes
     */
    static long check(String what, long offset, long length, long capacity, String container) {
        long resolved = length == Buffer.WHOLE ? capacity - offset : length;
        if (offset < 0 || resolved < 0 || offset > capacity - resolved) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    length == Buffer.WHOLE
                            ? "%s starting at %d does not fit %s of %d bytes"
                                    .formatted(what, offset, container, capacity)
                            : "%s [%d, %s) does not fit %s of %d bytes"
                                    .formatted(what, offset, end(offset, length), container, capacity));
        }
        return resolved;
    }

    private static String end(long offset, long length) {
        long end = offset + length;
        return length >= 0 && offset >= 0 && end < 0 ? offset + "+" + length : Long.toString(end);
    }
}
