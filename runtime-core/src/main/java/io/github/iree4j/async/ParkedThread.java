package io.github.iree4j.async;

import io.github.iree4j.status.WaitTime;
import java.util.concurrent.locks.LockSupport;

/** A parked thread waiting for a value. Woken at once, not in order with callbacks. */
final class ParkedThread extends SemaphoreWaiter {
    private static final Timepoint NOTHING = (value, failure) -> {};

    private final Thread thread = Thread.currentThread();
    private volatile boolean over; // publishes the outcome

    ParkedThread(TimelineSemaphore semaphore, long minimum) {
        super(semaphore, minimum, NOTHING, false);
    }

    /** Wakes the thread; called by the thread that unlinked this waiter, once the outcome is set. */
    void wake() {
        over = true;
        LockSupport.unpark(thread);
    }

    /** Parks, on the waiter's thread: returns once the outcome is set; throws if the timeout expires or the thread is interrupted first. */
    void park(long timeoutNanos) {
        boolean forever = timeoutNanos == WaitTime.FOREVER;
        long deadline = forever ? 0 : System.nanoTime() + timeoutNanos;
        while (!over) {
            long left = forever ? WaitTime.FOREVER : deadline - System.nanoTime();
            if (left <= 0 && cancel()) {
                throw SemaphoreErrors.outOfTime(semaphore.value(), minimum, timeoutNanos);
            }
            if (Thread.interrupted()) {
                boolean cancelled = cancel();
                Thread.currentThread().interrupt();
                if (cancelled) {
                    throw SemaphoreErrors.interrupted(minimum);
                }
                left = 0;
            }
            if (left <= 0) {
                LockSupport.parkNanos(
                        this, BriefLock.SLEEP_NANOS); // unlinked already: the outcome is a few instructions away
            } else if (forever) {
                LockSupport.park(this);
            } else {
                LockSupport.parkNanos(this, left);
            }
        }
    }
}
