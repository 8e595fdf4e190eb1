package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;

/**
 * Commands for one execution, lent by {@link StreamEncoder#transfers}: the commands run after everything submitted to the lane
 * before, and their results are visible to the host. The writes of one lease are not ordered among themselves. One thread at a
 * time.
 */
public interface TransferCommands extends TransferSink {

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
