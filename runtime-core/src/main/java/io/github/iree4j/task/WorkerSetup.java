package io.github.iree4j.task;

/**
 * Sets up a worker's thread before its first drain and cleans up after its last: processor affinity, treatment of denormals.
 *
 * <p>A failure is logged, and the worker runs without the setup; it must not leave the thread partly set up.
 */
public interface WorkerSetup {
    /** Does nothing. */
    WorkerSetup NONE = worker -> {};

    /**
     * Called once on the worker's thread, before anything is drained.
     *
     * @param worker the worker that begins
     */
    void begin(WorkerContext worker);

    /**
     * Called once on the worker's thread after its last drain.
     *
     * @param worker the worker that ends
     */
    default void end(WorkerContext worker) {}
}
