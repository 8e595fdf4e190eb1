package io.github.iree4j.hal.stream;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Combines requests for a single job without a lock. A thread finding the job idle runs the job. A request during a run
 * is left to the running thread, for a repetition before stopping.
 */
public final class RunRequests {
    private final AtomicInteger asked = new AtomicInteger();
    private int seen; // requests covered by the current run; owned by the running thread

    /** Creates an instance without requests. */
    public RunRequests() {}

    /**
     * Requests a run.
     *
     * @return whether the caller must run the job, now and as long as {@link #again} returns true
     */
    public boolean ask() {
        if (asked.getAndIncrement() != 0) {
            return false;
        }
        seen = 1;
        return true;
    }

    /**
     * Ends the run, unless there were requests during the run.
     *
     * @return true if there were requests: the caller must run the job again
     */
    public boolean again() {
        int more = asked.addAndGet(-seen); // from 0 on, the next request runs the job
        if (more == 0) {
            return false;
        }
        seen = more;
        return true;
    }
}
