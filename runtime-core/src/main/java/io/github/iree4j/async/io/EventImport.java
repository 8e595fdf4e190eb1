package io.github.iree4j.async.io;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.jspecify.annotations.Nullable;

/** The import of one event into a timeline. */
final class EventImport implements Cancellation, Completion {
    private final SystemEvent event;
    private final TimelineSemaphore semaphore;
    private final long value;
    private Cancellation watch = OVER; // set before this import is published

    private EventImport(SystemEvent event, TimelineSemaphore semaphore, long value) {
        this.event = event;
        this.semaphore = semaphore;
        this.value = value;
    }

    static Cancellation register(SystemIo io, SystemEvent event, TimelineSemaphore semaphore, long value) {
        event.retain();
        boolean retained = false;
        boolean promised = false;
        boolean registered = false;
        try {
            semaphore.retain();
            retained = true;
            promise(semaphore, value, event);
            promised = true;
            EventImport added = new EventImport(event, semaphore, value);
            added.watch = io.watch(event, added);
            registered = true;
            return added;
        } finally {
            if (!registered) {
                if (promised) {
                    semaphore.withdrawPromise(value, event);
                }
                if (retained) {
                    semaphore.release();
                }
                event.release();
            }
        }
    }

    private static void promise(TimelineSemaphore semaphore, long value, SystemEvent event) {
        if (!semaphore.promiseExternal(value, event)) {
            IreeException failure = semaphore.failure();
            throw failure != null
                    ? failure.during("import of semaphore value " + value)
                    : IreeException.of(
                            StatusCode.INVALID_ARGUMENT,
                            "semaphore value " + value + " is reached or promised already; the semaphore is at "
                                    + semaphore.value());
        }
    }

    @Override
    public boolean cancel() {
        if (!watch.cancel()) { // EVENT-1
            return false;
        }
        semaphore.withdrawPromise(value, event);
        release();
        return true;
    }

    /** Called when the event was signalled, or never will be. */
    @Override
    public void ended(long result, @Nullable IreeException failure) {
        try {
            if (failure == null) {
                semaphore.signalExternal(value);
            } else {
                semaphore.fail(failure);
            }
        } catch (IreeException e) {
            semaphore.fail(e);
        } finally {
            release();
        }
    }

    private void release() {
        event.release();
        semaphore.release();
    }
}
