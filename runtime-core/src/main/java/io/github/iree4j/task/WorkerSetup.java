package io.github.iree4j.task;

import io.github.iree4j.api.NotForApplications;

/**
 * Sets up a worker's thread before the first drain and cleans up after the last: processor affinity, treatment of
 * denormals.
 *
 * <p>A failure is logged, and the worker runs without the setup. A failing setup must not leave the thread partly set
 * up.
 */
@NotForApplications
public interface WorkerSetup {
    /** Does nothing. */
    WorkerSetup NONE = worker -> {};

    /**
     * Called once on the worker's thread, before the first drain.
     *
     * @param worker the beginning worker
     */
    void begin(WorkerContext worker);

    /**
     * Called once on the worker's thread after its last drain.
     *
     * @param worker the ending worker
     */
    default void end(WorkerContext worker) {}
}
