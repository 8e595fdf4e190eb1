package io.github.iree4j.async;

import io.github.iree4j.api.NotForApplications;

/**
 * Lets a thread about to wait for a timeline do some of the awaited work. Platform threads only: the work may be native
 * code, which would pin a virtual thread's carrier.
 */
@NotForApplications
public interface WaitHelper {

    /** The outcome of a call. */
    enum Outcome {
        /** There is nothing to do, and nothing in progress to join. */
        NOTHING,
        /** There is nothing to do now; other threads or devices are working, and there may be more within microseconds. */
        BUSY,
        /** Some work was done. */
        WORKED
    }

    /**
     * Begins the help of a thread.
     *
     * @return false if enough threads help; otherwise {@link #end} follows on the same thread
     */
    default boolean tryBegin() {
        return true;
    }

    /**
     * Does a bounded piece of work, if there is any. MUST NOT wait for anything, and MUST NOT throw.
     *
     * @return the next step: sleep, look again for a while, or look again
     */
    Outcome help();

    /**
     * Returns how long looking again is worth while other threads or devices work: about the time in which a sleeping
     * thread is woken.
     *
     * @return nanoseconds since the last piece of work
     */
    default long spinNanos() {
        return 10_000;
    }

    /**
     * Ends the help of this thread; work reserved for the thread is released to others. MUST NOT wait for anything, and
     * MUST NOT throw.
     *
     * @param worked whether the thread did some work
     */
    default void end(boolean worked) {}
}
