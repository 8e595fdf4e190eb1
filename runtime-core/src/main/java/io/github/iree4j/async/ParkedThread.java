package io.github.iree4j.async;

import java.util.concurrent.locks.LockSupport;

/** A waiter that is a thread, asleep until the value is reached. Woken at once, not in line with callbacks. */
final class ParkedThread extends SemaphoreWaiter {
    private static final Timepoint NOTHING = (value, failure) -> {};

    private final Thread thread = Thread.currentThread();
    private volatile boolean over; // publishes the outcome

    ParkedThread(TimelineSemaphore semaphore, long minimum) {
        super(semaphore, minimum, NOTHING, false);
    }

    /** Whether the outcome is there. */
    boolean isOver() {
        return over;
    }

    /** On the thread that took this off the list, once the outcome is set. */
    void wake() {
        over = true;
        LockSupport.unpark(thread);
    }
}
