package io.github.iree4j.task;

import io.github.iree4j.api.NotForApplications;

/** The result of a drain. */
@NotForApplications
public enum DrainResult {
    /**
     * There was nothing to do. Nothing will be to do until the next {@link TaskProcess#schedule()}, called for an
     * external event or by another drain of the same process that produces work. The process sleeps when the last
     * drainer returns this result.
     */
    IDLE,
    /** Like {@link #IDLE}, but work is expected within microseconds: the worker keeps polling instead of sleeping. */
    KEEP_WARM,
    /** Like {@link #IDLE}, but the drain did the last of the work. */
    DONE,
    /** Some work was done, and there may be more: drain again. Keeps the process awake regardless of the results of concurrent drains. */
    WORKED,
    /** The process has ended. No drain begins after this drain has returned; drains in progress end by themselves. */
    COMPLETED
}
