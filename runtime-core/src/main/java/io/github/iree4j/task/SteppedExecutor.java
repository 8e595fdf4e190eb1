package io.github.iree4j.task;

/**
 * An executor whose workers the caller drives, one step at a time. For tests, which control the interleaving.
 *
 * <p>Not thread-safe.
 */
public final class SteppedExecutor implements AutoCloseable {
    private final ProcessExecutor executor;

    SteppedExecutor(ProcessExecutor executor) {
        this.executor = executor;
    }

    /**
     * Returns the executor.
     *
     * @return the executor to submit processes to
     */
    public ProcessExecutor executor() {
        return executor;
    }

    /**
     * Lets a worker look for work once: processes on the list, then one in a slot.
     *
     * @param worker its index
     * @return whether it found work; if not, it sleeps until woken
     */
    public boolean step(int worker) {
        return executor.worker(worker).step();
    }

    /**
     * Returns whether a worker sleeps; stepping a sleeping worker does nothing.
     *
     * @param worker its index
     * @return false at first, and once it was woken
     */
    public boolean isAsleep(int worker) {
        return executor.wakes().idle().contains(worker);
    }

    /**
     * Steps all workers in turn until all sleep. Does not return while a process keeps itself awake.
     *
     * @return how many steps found work
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

    /** Cancels all processes and steps until they are over. */
    @Override
    public void close() {
        executor.close();
    }
}
