package io.github.iree4j.task;

/** The result of a drain. */
public enum DrainResult {
    /**
     * There was nothing to do, and there will not be until {@link TaskProcess#schedule()} is called again, by an external event or by
     * another drain of the same process that makes work for others. When the last drainer returns this, the process sleeps.
     */
    IDLE,
    /** Like {@link #IDLE}, but work is expected within microseconds: the worker keeps polling rather than going to sleep. */
    KEEP_WARM,
    /** Some work was done, and there may be more: drain again. Keeps the process awake whatever concurrent drains return. */
    WORKED,
    /** The process is over; no drain begins after this one has returned, those in progress end by themselves. */
    COMPLETED
}
