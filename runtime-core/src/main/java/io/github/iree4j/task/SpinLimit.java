package io.github.iree4j.task;

/**
 * How long an idle worker spins before it sleeps: halved after each unsuccessful spin, doubled after each one that found work or would
 * have.
 *
 * <p>Confined to one worker's thread.
 */
final class SpinLimit {
    private final long longest;
    private long nanos;

    SpinLimit(long longest) {
        this.longest = longest;
        this.nanos = longest;
    }

    /**
     * How long to spin now; 0 to sleep at once.
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

    /** Records a sleep: a short one could have been a spin. */
    void slept(long sleptNanos) {
        if (sleptNanos < longest) {
            paid();
        }
    }
}
