package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;

/**
 * Commands for one execution, lent by {@link StreamEncoder#transfers}: the commands run after everything submitted to the lane
 * before, and their results are visible to the host. The writes of one lease are not ordered among themselves. One thread at a
 * time.
 */
public interface TransferCommands extends TransferSink {

    /**
     * Copies constants from memory of the host, which the device may have already: what differs from a copy is that a driver may find that out.
     *
     * @param source memory of the host
     * @param target where to put the bytes, from its start
     * @param targetOffset the first byte in the target
     * @param length how many bytes from the start of the source
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

    /** Returns the commands. No hardware runs them. */
    void release();
}
