package io.github.iree4j.async;

/**
 * Lets a thread that is about to wait for a timeline do some of the work that it waits for. Platform threads only: the work may be native
 * code, which would pin a virtual thread's carrier.
 */
public interface WaitHelper {

    /** The outcome of a call. */
    enum Outcome {
        /** There is nothing to do, and nothing in progress to join. */
        NOTHING,
        /** There is nothing to do now; other threads are working, and there may be more within microseconds. */
        BUSY,
        /** Some work was done. */
        WORKED
    }

    /**
     * Does a bounded piece of work, if there is any. MUST NOT wait for anything, and MUST NOT throw.
     *
     * @return what to do next: sleep, look again for a while, or look again
     */
    Outcome help();

    /**
     * The thread stops helping, whatever is left to do: work reserved for it is released to others. MUST NOT wait for anything, and MUST
     * NOT throw.
     */
    default void leave() {}
}
