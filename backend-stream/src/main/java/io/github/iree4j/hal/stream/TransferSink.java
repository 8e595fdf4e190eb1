package io.github.iree4j.hal.stream;

/** Receives fills and copies between checked ranges. Offsets and lengths may have any alignment. */
public interface TransferSink {

    /**
     * Fills a range with a repeated pattern, beginning at the first byte.
     *
     * @param target the storage filled
     * @param offset first byte, in the storage
     * @param length bytes, a multiple of the pattern's length
     * @param pattern the pattern in the low bytes, little-endian
     * @param patternLength 1, 2, 4 or 8 bytes
     */
    void fill(StreamStorage target, long offset, long length, long pattern, int patternLength);

    /**
     * Copies between ranges without overlap.
     *
     * @param source the storage read
     * @param sourceOffset first byte read, in the storage
     * @param target the storage written
     * @param targetOffset first byte written, in the storage
     * @param length bytes
     */
    void copy(StreamStorage source, long sourceOffset, StreamStorage target, long targetOffset, long length);
}
