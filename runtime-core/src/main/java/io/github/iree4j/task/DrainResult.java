package io.github.iree4j.task;

/** What a drain says about its process when it returns. */
public enum DrainResult {
    /**
     * There was nothing to do, and there will not be until {@link TaskProcess#schedule()} is called again, whoever is to call it: an event
     * from outside, or another drain of the same process that makes work for others. When the last drainer says so, the process sleeps.
     */
    IDLE,
    /** As {@link #IDLE}, but something is expected within microseconds: the worker keeps looking rather than going to sleep. */
    KEEP_WARM,
    /** Something was done, and there may be more: drain again. Keeps the process awake whatever concurrent drains say. */
    WORKED,
    /** Nothing was done, but nobody will call when there is: drain again, as often as there is time. */
    KEEP_ACTIVE,
    /** The process is over; no drain begins after this one returned, those under way end by themselves. */
    COMPLETED
}
