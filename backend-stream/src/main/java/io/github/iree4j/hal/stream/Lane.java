package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A queue of the hardware. Submissions begin in order, each once its waits are reached. Every submission ends by
 * raising the lane's timeline to the submission's ticket.
 *
 * <p>Commands that rely on failed operations must not run (SCHED-8). The caller of {@link #submit} looks for known
 * failures before the call. A lane that learns of refusals later calls {@link Submission#due} right before giving
 * commands to the driver.
 */
public interface Lane {

    /**
     * Returns the family of lanes accepting the same commands.
     *
     * @return a number shared by lanes of the same kind
     */
    int family();

    /**
     * Returns whether the lane runs dispatches.
     *
     * @return false for copy-only hardware
     */
    boolean computes();

    /**
     * Returns the lane's timeline. The value of the timeline is the ticket of the last completed submission.
     *
     * @return the timeline, owned by the lane
     */
    DriverTimeline timeline();

    /**
     * Returns the calling thread's context for commands submitted by the thread: its current trace. For a thread
     * submitting an operation with commands; must be quick, and must not block or throw.
     *
     * @return the value for {@link Submission#context}; null for no context
     */
    default @Nullable Object context() {
        return null;
    }

    /**
     * Passes submissions to the driver, or adds them to the list of {@link #give}; all or none. One thread at a time, under
     * the lock of the queue; the tickets rise.
     *
     * @param submissions in order, at least one submission
     * @throws IreeException if the driver refuses the submissions
     */
    void submit(List<Submission> submissions);

    /**
     * Passes listed submissions to the driver. Called after {@link #submit}, without the lock of the queue, so a thread
     * ending earlier work does not wait for the driver. Must not throw.
     */
    default void give() {}

    /**
     * Reports submissions withheld from a lost device although other lanes may wait for the tickets. For lanes awaited
     * by lanes of other devices: a waiting lane must not consider a ticket complete before the waits of the ticket's
     * submission are reached. Called like {@link #submit}, after the last such call.
     *
     * @param never in order, at least one submission; the last has the last ticket
     */
    default void lost(List<Submission> never) {}
}
