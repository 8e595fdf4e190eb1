package io.github.iree4j.task;

/** Where a process is in its life. */
public enum ProcessState {
    /** Waits for events: its suspend count is not zero. */
    SUSPENDED,
    /** May be drained: waits for a worker, is being drained, or sleeps. */
    RUNNABLE,
    /** Over, in success or with a failure other than cancellation. */
    COMPLETED,
    /** Over because it was cancelled, or inherited that. */
    CANCELLED
}
