package io.github.iree4j.task;

/** The state of a process. */
public enum ProcessState {
    /** Awaits events: its suspend count is not zero. */
    SUSPENDED,
    /** May be drained: waits for a worker, is being drained, or sleeps. */
    RUNNABLE,
    /** Over, in success or with a failure other than cancellation. */
    COMPLETED,
    /** Over because it was cancelled. */
    CANCELLED
}
