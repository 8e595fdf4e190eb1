package io.github.iree4j.async.io;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.SemaphoreScope;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.status.IreeException;

/**
 * Connects points on timelines to events signalled or waited for by external code.
 *
 * <p>Imported values are tainted, because the history before them is unknown; see
 * {@link TimelineSemaphore#signalExternal}, which also serves code of this process that does not run on a queue.
 * Exports need scope SYSTEM_WIDE.
 */
@NotForApplications
public final class ExternalTimepoints {
    private ExternalTimepoints() {}

    /**
     * Signals a timeline when an event becomes readable. The value is promised at once. No backend waits for the event
     * itself: dependent operations are issued after the timeline has reached the value. The timeline fails with
     * UNAVAILABLE if the event can no longer be signalled because the other end is closed, and with INVALID_ARGUMENT if
     * the timeline is at or beyond the value by then. A sync_fd with failed work fails the timeline with ABORTED or
     * CANCELLED; events of other kinds carry no failure.
     *
     * <p>The owner of {@link SystemIo#ofProcess()} waits for all events of the process and runs the timepoints becoming
     * due.
     *
     * @param event the event; retained until signalled or the import cancelled
     * @param semaphore the timeline; retained likewise
     * @param value the value represented by the event
     * @return cancels the import; another party may then signal the value
     * @throws IreeException INVALID_ARGUMENT when the kind of event cannot be waited for, or the value is reached or
     *     promised; FAILED_PRECONDITION when either is closed; the timeline's failure when the timeline has failed
     */
    public static Cancellation importEvent(SystemEvent event, TimelineSemaphore semaphore, long value) {
        return EventImport.register(SystemIo.ofProcess(), event, semaphore, value);
    }

    /**
     * Creates an event that becomes readable when a timeline reaches a value or fails: the waiter reads the counter,
     * {@link SystemEvent#REACHED} or {@link SystemEvent#FAILED}.
     *
     * @param semaphore the timeline, of scope SYSTEM_WIDE
     * @param value the value
     * @return the event; the caller closes it, ending the export
     * @throws IreeException FAILED_PRECONDITION when the scope is narrower; RESOURCE_EXHAUSTED without descriptors;
     *     UNAVAILABLE without the native library
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
