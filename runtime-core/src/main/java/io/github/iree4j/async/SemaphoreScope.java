package io.github.iree4j.async;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;

/**
 * How far a timeline is seen by queues, from narrow to wide. Chosen when it is created and never changed: a wider scope needs a more
 * expensive primitive of the device, a narrower one cannot be used elsewhere later.
 *
 * <p>Scopes say which queues may wait for and signal a timeline. The host may always look at it, wait for it and signal it: every
 * timeline has its host side, which the completions of operations keep up to date.
 */
public enum SemaphoreScope {
    /** One queue signals and waits. Needs no primitive: the order of the queue and frontiers do it. */
    QUEUE_LOCAL,
    /** Queues of one device. */
    DEVICE_LOCAL,
    /** Devices that signal one another directly. */
    DEVICE_GROUP,
    /** Everything in this process. What a timeline gets when nobody asks for another. */
    PROCESS_LOCAL,
    /** Other processes and drivers too: points can be exported. */
    SYSTEM_WIDE;

    /**
     * Returns whether a timeline of this scope may be used where another would do.
     *
     * @param needed the scope that a use needs
     * @return true if this is as wide or wider
     */
    public boolean includes(SemaphoreScope needed) {
        return ordinal() >= needed.ordinal();
    }

    /**
     * Returns the narrowest scope for a timeline used at some places.
     *
     * @param places the queues that will signal or wait; none means host only
     * @return the scope to create it with
     */
    public static SemaphoreScope narrowest(Iterable<QueuePlace> places) {
        SemaphoreScope scope = QUEUE_LOCAL;
        QueuePlace first = null;
        for (QueuePlace place : places) {
            if (first == null) {
                first = place;
            } else {
                SemaphoreScope needed = first.scopeWith(place);
                scope = scope.includes(needed) ? scope : needed;
            }
        }
        return scope;
    }

    /**
     * Throws unless this scope is wide enough.
     *
     * @param needed the scope that a use needs
     * @param use what the use is, for example {@code export of value 3}
     * @throws IreeException FAILED_PRECONDITION, naming the scope to ask for
     */
    void require(SemaphoreScope needed, String use) {
        if (!includes(needed)) {
            throw new IreeException(
                    StatusCode.FAILED_PRECONDITION,
                    use + " needs a semaphore of scope '" + needed + "', this one has '" + this
                            + "'; scopes do not change, create it with '" + needed + "'");
        }
    }
}
