package io.github.iree4j.task;

/** The state of a process. */
public enum ProcessState {
    /** Awaiting events: the suspend count is not zero. */
    SUSPENDED,
    /** May be drained: waiting for a worker, being drained, or asleep. */
    RUNNABLE,
    /** Ended, in success or with a failure other than cancellation. */
    COMPLETED,
    /** Ended by cancellation. */
    CANCELLED
}
