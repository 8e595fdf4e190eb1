package io.github.iree4j.task;

/**
 * The time that an idle worker spins before sleeping: halved after each unsuccessful spin, doubled after each
 * successful spin and after each sleep short enough for a spin.
 *
 * <p>Confined to a worker's thread.
 */
final class SpinLimit {
    private final long longest;
    private long nanos;

    SpinLimit(long longest) {
        this.longest = longest;
        this.nanos = longest;
    }

    /**
     * Returns the time to spin now; 0 to sleep at once.
     *
     * @param wanted whether more workers are wanted than are awake, or work is expected: then the longest time
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

    /** Records a sleep: a spin could have replaced a short sleep. */
    void slept(long sleptNanos) {
        if (sleptNanos < longest) {
            paid();
        }
    }
}
