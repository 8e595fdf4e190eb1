package io.github.iree4j.task;

/** Where an executor keeps a runnable process. */
public enum Placement {
    /** In a slot if its budget is more than one worker when it is scheduled, else on the list. */
    BY_BUDGET,
    /** On the immediate list: first come, first served, one worker at a time. For short work. */
    IMMEDIATE,
    /** In a compute slot, where any number of workers find it and drain it concurrently. */
    COMPUTE
}
