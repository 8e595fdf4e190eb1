package io.github.iree4j.async;

import io.github.iree4j.status.WaitTime;

/** Lets a waiting thread do some of the awaited work before the thread sleeps. */
final class HelpedWait {
    private static final int SPINS_PER_LOOK = 16;
    private static final long REACHED = -1;

    private HelpedWait() {}

    /**
     * Works until the value is reached, the timeline fails, there is nothing to do, or the timeout expires, exceeded by one piece of work
     * at most.
     *
     * @return the time left to wait, in nanoseconds; negative if the value is reached
     */
    static long help(TimelineSemaphore semaphore, long minimum, long timeoutNanos, WaitHelper helper) {
        if (Thread.currentThread().isVirtual() || !helper.tryBegin()) {
            return timeoutNanos;
        }
        long begun = System.nanoTime();
        long now = begun;
        long idleSince = begun;
        boolean worked = false;
        try {
            while (semaphore.failure() == null && !Thread.currentThread().isInterrupted()) {
                if (semaphore.isReached(minimum)) {
                    return REACHED;
                }
                WaitHelper.Outcome outcome = helper.help();
                Callbacks.help(); // what is awaited may depend on callbacks that this look made due
                if (outcome == WaitHelper.Outcome.NOTHING) {
                    return semaphore.isReached(minimum) ? REACHED : left(timeoutNanos, now - begun);
                }
                worked |= outcome == WaitHelper.Outcome.WORKED;
                now = System.nanoTime();
                if (outcome == WaitHelper.Outcome.WORKED) {
                    idleSince = now;
                }
                if (now - begun >= timeoutNanos || now - idleSince >= helper.spinNanos()) {
                    break;
                }
                if (outcome == WaitHelper.Outcome.BUSY) {
                    for (int i = 0; i < SPINS_PER_LOOK; i++) {
                        Thread.onSpinWait();
                    }
                }
            }
            return left(timeoutNanos, now - begun);
        } finally {
            helper.end(worked);
        }
    }

    private static long left(long timeoutNanos, long passed) {
        return timeoutNanos == WaitTime.FOREVER ? timeoutNanos : Math.max(0, timeoutNanos - passed);
    }
}
