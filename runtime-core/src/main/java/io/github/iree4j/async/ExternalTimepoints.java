package io.github.iree4j.async;

import io.github.iree4j.status.IreeException;

/**
 * Points on timelines that the outside signals, or waits for.
 *
 * <p>What comes in is tainted: nobody knows what led to it, see {@link TimelineSemaphore#signalExternal}, which is also the way for
 * code of this process that no queue of ours runs. What goes out needs scope SYSTEM_WIDE.
 */
public final class ExternalTimepoints {
    private ExternalTimepoints() {}

    /**
     * Signals a timeline when an event becomes readable. The value is promised at once, with the event as what devices can wait for.
     * An event that can no longer be signalled (its other end is closed) fails the timeline with UNAVAILABLE; so does, with
     * INVALID_ARGUMENT, a timeline that is beyond the value by then. A sync_fd whose work has failed
     * fails it with ABORTED, or CANCELLED; events of other kinds say nothing about success.
     *
     * <p>The owner of {@link SystemIo#ofProcess()} waits for all events of the process; it runs the timepoints that become due.
     *
     * @param event the event; retained until it is signalled or the import cancelled
     * @param semaphore the timeline; retained likewise
     * @param value the value that the event stands for
     * @return takes the import back; the value then is somebody else's to signal
     * @throws IreeException INVALID_ARGUMENT when the event is of a kind that cannot be waited for, or the value is reached or promised;
     *     FAILED_PRECONDITION when one of both is closed; the timeline's failure when it has failed
     */
    public static Cancellation importEvent(SystemEvent event, TimelineSemaphore semaphore, long value) {
        return EventImport.register(SystemIo.ofProcess(), event, semaphore, value);
    }

    /**
     * Makes an event that becomes readable when a timeline reaches a value, and also when it fails: whoever waits reads the counter,
     * which is {@link SystemEvent#REACHED} or {@link SystemEvent#FAILED}.
     *
     * @param semaphore the timeline, of scope SYSTEM_WIDE
     * @param value the value
     * @return the event; the caller closes it, which ends the export
     * @throws IreeException FAILED_PRECONDITION when the scope is narrower; RESOURCE_EXHAUSTED without descriptors; UNAVAILABLE without
     *     the native library
     */
    public static SystemEvent exportEvent(TimelineSemaphore semaphore, long value) {
        semaphore.scope().require(SemaphoreScope.SYSTEM_WIDE, "export of value " + value);
        SystemEvent event = SystemEvent.create();
        event.cancelOnClose(semaphore.whenReached(
                value,
                (reached, failure) -> event.signalIfOpen(failure == null ? SystemEvent.REACHED : SystemEvent.FAILED)));
        return event;
    }
}
