package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;

/**
 * Commands for one execution, lent by {@link StreamEncoder#transfers}: what is written runs after everything that was submitted to the lane
 * before, and the host sees its results. The writes of one lease are not ordered among themselves. One thread at a time.
 */
public interface TransferCommands {

    /**
     * Fills with a repeated pattern, which begins at the first byte.
     *
     * @param target what is filled
     * @param offset first byte, in the storage; of any alignment
     * @param length bytes, more than 0, a multiple of the pattern's
     * @param pattern the pattern in the low bytes, little-endian
     * @param patternLength 1, 2, 4 or 8 bytes
     */
    void fill(StreamStorage target, long offset, long length, long pattern, int patternLength);

    /**
     * Copies between ranges that do not overlap.
     *
     * @param source what is read
     * @param sourceOffset first byte read, in the storage; of any alignment
     * @param target what is written
     * @param targetOffset first byte written, in the storage; of any alignment
     * @param length bytes, more than 0
     */
    void copy(StreamStorage source, long sourceOffset, StreamStorage target, long targetOffset, long length);

    /**
     * Ends the recording.
     *
     * @param operation the operation's name, for messages
     * @return the commands, valid until {@link #release}
     * @throws IreeException why the driver refuses them
     */
    DriverCommands finish(String operation);

    /** Gives the commands back. No hardware runs them. */
    void release();
}
