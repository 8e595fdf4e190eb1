package io.github.iree4j.task;

/**
 * How long a worker with nothing to do looks for more before it sleeps: half as long after each time in vain, twice as long after each that paid, or would have.
 *
 * <p>Of one worker's thread.
 */
final class SpinLimit {
    private final long longest;
    private long nanos;

    SpinLimit(long longest) {
        this.longest = longest;
        this.nanos = longest;
    }

    /**
     * How long to spin now; 0 for not at all.
     *
     * @param wanted more workers are wanted than are awake, or work is expected: then as long as may be
     */
    long nanos(boolean wanted) {
        long limit = wanted ? longest : nanos;
        return limit < Tuning.LEAST_SPIN_NANOS ? 0 : limit;
    }

    void paid() {
        nanos = Math.min(longest, nanos * 2);
    }

    void inVain() {
        nanos = Math.min(longest, Math.max(Tuning.LEAST_SPIN_NANOS, nanos / 2));
    }

    /** Woken after a sleep: a short one could have been a spin. */
    void slept(long sleptNanos) {
        if (sleptNanos < longest) {
            paid();
        }
    }
}
