package io.github.iree4j.async;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;

/**
 * The queues that may use a timeline, from narrow to wide. Chosen at creation and never changed: a wider scope needs a
 * more expensive device primitive, a narrower scope rules out later use elsewhere.
 *
 * <p>A scope restricts only queues. The host may always read, wait for and signal a timeline: every timeline has a host
 * side, kept up to date by the completions of operations.
 */
@NotForApplications
public enum SemaphoreScope {
    /** A single queue signals and waits. Needs no primitive: the queue's order and frontiers suffice. */
    QUEUE_LOCAL,
    /** Queues of one device. */
    DEVICE_LOCAL,
    /** Devices that signal one another directly. */
    DEVICE_GROUP,
    /** Everything in this process. The default. */
    PROCESS_LOCAL,
    /** Other processes and drivers too: points can be exported. */
    SYSTEM_WIDE;

    /**
     * Returns whether a timeline of this scope may be used where another suffices.
     *
     * @param needed the scope needed by a use
     * @return true if this scope is as wide or wider
     */
    public boolean includes(SemaphoreScope needed) {
        return ordinal() >= needed.ordinal();
    }

    /**
     * Throws unless this scope is wide enough.
     *
     * @param needed the scope needed by a use
     * @param use a description of the use, for example {@code export of value 3}
     * @throws IreeException FAILED_PRECONDITION, naming the scope to request
     */
    public void require(SemaphoreScope needed, String use) {
        if (!includes(needed)) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    use + " needs a semaphore of scope '" + needed + "', this one has '" + this
                            + "'; scopes do not change, create it with '" + needed + "'");
        }
    }
}
