package io.github.iree4j.task;

import io.github.iree4j.api.NotForApplications;

/**
 * An executor whose workers the caller drives, step by step. For tests that control the interleaving.
 *
 * <p>Not thread-safe.
 */
@NotForApplications
public final class SteppedExecutor implements AutoCloseable {
    private final ProcessExecutor executor;

    SteppedExecutor(ProcessExecutor executor) {
        this.executor = executor;
    }

    /**
     * Returns the executor.
     *
     * @return the executor for submissions
     */
    public ProcessExecutor executor() {
        return executor;
    }

    /**
     * Lets a worker look for work once: processes on the list, then a process in a slot.
     *
     * @param worker the worker's index
     * @return whether the worker found work; otherwise the worker sleeps until woken
     */
    public boolean step(int worker) {
        return executor.worker(worker).step();
    }

    /**
     * Returns whether a worker sleeps; stepping a sleeping worker does nothing.
     *
     * @param worker the worker's index
     * @return false at first, and after a wake-up
     */
    public boolean isAsleep(int worker) {
        return executor.wakes().idle().contains(worker);
    }

    /**
     * Steps all workers in turn until all sleep. Does not return while a process keeps itself awake.
     *
     * @return number of steps that found work
     */
    public int runUntilAsleep() {
        int found = 0;
        for (boolean any = true; any; ) {
            any = false;
            for (int i = 0; i < executor.workers(); i++) {
                if (step(i)) {
                    any = true;
                    found++;
                }
            }
        }
        return found;
    }

    /** Cancels all processes and steps the workers until the processes have ended. */
    @Override
    public void close() {
        executor.close();
    }
}
