package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;

/**
 * Commands for one execution, lent by {@link StreamEncoder#transfers}: what is written runs after everything that was submitted to the lane
 * before, and the host sees its results. The writes of one lease are not ordered among themselves. One thread at a time.
 */
public interface TransferCommands extends TransferSink {

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
