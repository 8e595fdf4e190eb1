package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;
import java.util.List;

/**
 * A queue of the hardware: what is submitted begins in the order of submission, once its waits are reached. Every submission ends by raising
 * the lane's timeline to its ticket.
 */
public interface Lane {

    /**
     * Returns which lanes take the same commands.
     *
     * @return a number that lanes of one kind share
     */
    int family();

    /**
     * Returns whether it runs dispatches.
     *
     * @return false for hardware that only copies
     */
    boolean computes();

    /**
     * Returns the timeline whose value is the ticket of the last submission that is complete.
     *
     * @return the timeline, which belongs to the lane
     */
    DriverTimeline timeline();

    /**
     * Gives the driver submissions, all or none. One thread at a time; the tickets rise.
     *
     * @param submissions in order, at least one
     * @throws IreeException why the driver refuses them
     */
    void submit(List<Submission> submissions);
}
