package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;

/**
 * Commands for an execution, lent by {@link StreamEncoder#transfers}. The commands run after everything submitted to
 * the lane before, and the results are visible to the host. The writes of a lease are not ordered among themselves. One
 * thread at a time.
 */
public interface TransferCommands extends TransferSink {

    /**
     * Copies constants from memory of the host. Unlike for a plain copy, a driver may find that the device already has
     * the constants.
     *
     * @param source memory of the host
     * @param target the storage written
     * @param targetOffset the first byte in the target
     * @param length number of bytes from the start of the source
     */
    default void copyConstants(StreamStorage source, StreamStorage target, long targetOffset, long length) {
        copy(source, 0, target, targetOffset, length);
    }

    /**
     * Ends the recording.
     *
     * @param operation the operation's name, for messages
     * @return the commands, valid until {@link #release}
     * @throws IreeException if the driver refuses them
     */
    DriverCommands finish(String operation);

    /** Returns the commands to the encoder. No hardware runs them. */
    void release();
}
