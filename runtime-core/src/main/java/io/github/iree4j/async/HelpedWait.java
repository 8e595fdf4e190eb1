package io.github.iree4j.async;

/** Lets a waiting thread do some of the awaited work before the thread sleeps. */
final class HelpedWait {
    private static final int SPINS_PER_LOOK = 16;

    private HelpedWait() {}

    /**
     * Works until the value is reached, the timeline fails, there is nothing to do, or the timeout expires, exceeded by one piece of work
     * at most.
     *
     * @return whether the value is reached
     */
    static boolean help(TimelineSemaphore semaphore, long minimum, long timeoutNanos, WaitHelper helper) {
        if (Thread.currentThread().isVirtual() || !helper.tryBegin()) {
            return false;
        }
        long begun = System.nanoTime();
        long idleSince = begun;
        boolean worked = false;
        try {
            while (semaphore.failure() == null && !Thread.currentThread().isInterrupted()) {
                if (semaphore.isReached(minimum)) {
                    return true;
                }
                WaitHelper.Outcome outcome = helper.help();
                Callbacks.help(); // what is awaited may depend on callbacks that this look made due
                if (outcome == WaitHelper.Outcome.NOTHING) {
                    return semaphore.isReached(minimum);
                }
                worked |= outcome == WaitHelper.Outcome.WORKED;
                long now = System.nanoTime();
                if (now - begun >= timeoutNanos) {
                    return false;
                }
                if (outcome == WaitHelper.Outcome.WORKED) {
                    idleSince = now;
                } else if (now - idleSince >= helper.spinNanos()) {
                    return false;
                } else {
                    for (int i = 0; i < SPINS_PER_LOOK; i++) {
                        Thread.onSpinWait();
                    }
                }
            }
            return false;
        } finally {
            if (worked) {
                helper.leave(); // LANE-3
            }
            helper.end();
        }
    }
}
