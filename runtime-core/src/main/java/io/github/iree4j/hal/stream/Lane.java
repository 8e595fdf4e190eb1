package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A queue of the hardware: submissions begin in order, once its waits are reached. Every submission ends by raising
 * the lane's timeline to its ticket.
 */
public interface Lane {

    /**
     * Returns the family of lanes that accept the same commands.
     *
     * @return a number shared by lanes of one kind
     */
    int family();

    /**
     * Returns whether the lane runs dispatches.
     *
     * @return false for copy-only hardware
     */
    boolean computes();

    /**
     * Returns the timeline whose value is the ticket of the last submission that is complete.
     *
     * @return the timeline, which belongs to the lane
     */
    DriverTimeline timeline();

    /**
     * Returns what of the calling thread goes with the commands that it submits: the trace that it is in. For the thread that submits an operation
     * with commands; must be quick, and not block or throw.
     *
     * @return what {@link Submission#context} returns; null for nothing
     */
    default @Nullable Object context() {
        return null;
    }

    /**
     * Gives the driver submissions, all or none. One thread at a time; the tickets rise.
     *
     * @param submissions in order, at least one
     * @throws IreeException if the driver refuses them
     */
    void submit(List<Submission> submissions);

    /**
     * Reports submissions that a lost device is not given, though others may wait for their tickets. For lanes that those of other devices wait
     * for: they must not take a ticket for over before its waits are. Called as {@link #submit} is, after the last of it.
     *
     * @param never in order, at least one; the last has the last ticket
     */
    default void lost(List<Submission> never) {}
}
