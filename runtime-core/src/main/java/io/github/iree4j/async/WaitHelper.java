package io.github.iree4j.async;

/**
 * Lets a thread that is about to wait for a timeline do some of the work that it waits for. Platform threads only: the work may be
 * native code, which a virtual thread's carrier is not to be kept with.
 */
public interface WaitHelper {

    /** What came of it. */
    enum Outcome {
        /** There is nothing to do, and nothing under way that one could join. */
        NOTHING,
        /** There is nothing to do now; others are at it, and there may be more in microseconds. */
        BUSY,
        /** Something was done. */
        WORKED
    }

    /**
     * Does a bounded piece of work, if there is any. MUST NOT wait for anything, and MUST NOT throw.
     *
     * @return what to do next: sleep, look again for a while, or look again
     */
    Outcome help();

    /**
     * The thread has helped and does not any more, whatever there is left to do: what it had to itself is others' now. MUST NOT wait for
     * anything, and MUST NOT throw.
     */
    default void leave() {}
}
