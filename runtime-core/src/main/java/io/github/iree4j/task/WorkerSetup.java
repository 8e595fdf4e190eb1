package io.github.iree4j.task;

/**
 * What is done on a worker's thread before its first drain and after its last: binding it to processors, setting how it treats
 * denormals, giving it memory.
 *
 * <p>A failure is logged and the worker works without; it must not leave the thread half set up.
 */
public interface WorkerSetup {
    /** Does nothing. */
    WorkerSetup NONE = worker -> {};

    /**
     * Called once on the worker's thread, before anything is drained. May {@link WorkerContext#attach} what drains need.
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
