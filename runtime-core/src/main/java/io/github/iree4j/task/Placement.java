package io.github.iree4j.task;

import io.github.iree4j.api.NotForApplications;

/** The place of runnable processes in an executor. */
@NotForApplications
public enum Placement {
    /** In a slot if the budget exceeds one worker when the process is scheduled, otherwise on the list. */
    BY_BUDGET,
    /** On the immediate list: first come, first served, a single worker at a time. For short work. */
    IMMEDIATE,
    /** In a compute slot, where any number of workers find and drain the process concurrently. */
    COMPUTE
}
