package io.github.iree4j.hal.schedule;

/**
 * Follows the dispatches of an operation, see {@link QueueOperation#observeDispatches}. Called by the threads that run
 * the dispatches. Methods MUST NOT block, throw, signal or submit, and MUST return within a microsecond or so.
 */
public interface DispatchObserver {
    /** How a dispatch ended. */
    enum Outcome {
        /** All workgroups have run. */
        ENDED,
        /** A workgroup failed, or the dispatch could not begin. */
        FAILED,
        /** Some workgroups have not run: the operation was stopped, or another dispatch failed. */
        STOPPED
    }

    /**
     * Returns the time.
     *
     * @return nanoseconds, by the clock of the observer
     */
    long now();

    /**
     * Reports a dispatch that has begun and is over.
     *
     * @param operation the operation
     * @param index the position in {@link DispatchingOperation#forEachDispatch}
     * @param dispatch the workgroups, times and outcome
     */
    void dispatched(QueueOperation operation, int index, Dispatch dispatch);

    /**
     * A dispatch that is over.
     *
     * @param x workgroups along x
     * @param y workgroups along y
     * @param z workgroups along z
     * @param begin when the first workgroup began, by the clock of the observer
     * @param end when the last workgroup had run
     * @param workers the number of threads that ran workgroups
     * @param outcome how the dispatch ended
     */
    record Dispatch(long x, long y, long z, long begin, long end, int workers, Outcome outcome) {}
}
