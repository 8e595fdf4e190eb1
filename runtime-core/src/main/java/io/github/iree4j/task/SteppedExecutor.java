package io.github.iree4j.task;

/**
 * An executor whose workers do nothing but what the caller makes them do, one look at a time. For tests: what happens in which order is the test's to say.
 *
 * <p>One thread at a time.
 */
public final class SteppedExecutor implements AutoCloseable {
    private final ProcessExecutor executor;

    SteppedExecutor(ProcessExecutor executor) {
        this.executor = executor;
    }

    /**
     * Returns the executor that is driven.
     *
     * @return for submitting processes to it
     */
    public ProcessExecutor executor() {
        return executor;
    }

    /**
     * Lets a worker look for work once: processes off the list, then one in a slot.
     *
     * @param worker its index
     * @return whether it found some; if not it sleeps until it is woken
     */
    public boolean step(int worker) {
        return executor.worker(worker).step();
    }

    /**
     * Returns whether a worker sleeps; a step of one that does is none.
     *
     * @param worker its index
     * @return false from the beginning, and once it was woken
     */
    public boolean isAsleep(int worker) {
        return executor.wakes().idle().contains(worker);
    }

    /**
     * Lets all workers look in turn until all sleep. Does not return while a process keeps itself awake.
     *
     * @return how many looks found something
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
