package io.github.iree4j.task;

import io.github.iree4j.api.NotForApplications;

/** The state of a process. */
@NotForApplications
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
