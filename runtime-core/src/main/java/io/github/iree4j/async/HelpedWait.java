package io.github.iree4j.async;

/** What a thread does before it sleeps: some of the work it waits for. */
final class HelpedWait {
    /** Sleeping and being woken costs about as much. */
    private static final long SPIN_NANOS = 10_000;

    private static final int SPINS_PER_LOOK = 16;

    private HelpedWait() {}

    /**
     * Works until the value is reached, the timeline fails, there is nothing to do, or time is up; no longer than a piece of work more.
     *
     * @return whether the value is reached
     */
    static boolean help(TimelineSemaphore semaphore, long minimum, long timeoutNanos, WaitHelper helper) {
        if (Thread.currentThread().isVirtual()) {
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
                } else if (now - idleSince >= SPIN_NANOS) {
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
        }
    }
}
