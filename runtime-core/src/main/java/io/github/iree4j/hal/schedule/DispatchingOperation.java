package io.github.iree4j.hal.schedule;

/** An operation that runs the dispatches of a command buffer, listed for the observer. Asked within the submission. */
public interface DispatchingOperation {
    /** Receives the dispatches of an operation. */
    @FunctionalInterface
    interface Visitor {
        /**
         * Receives a dispatch.
         *
         * @param export the name of the entry point
         * @param x workgroups along x; {@link #UNKNOWN_COUNT} for counts read from a buffer when the dispatch begins
         * @param y workgroups along y, as for x
         * @param z workgroups along z, as for x
         */
        void dispatch(String export, long x, long y, long z);
    }

    /** A number of workgroups that is not known at the submission. */
    long UNKNOWN_COUNT = -1;

    /**
     * Returns whether there are dispatches. Quick, for any number of commands.
     *
     * @return false for transfers alone
     */
    boolean hasDispatches();

    /**
     * Returns whether the backend reports when dispatches begin and end, see {@link QueueOperation#dispatchObserver}.
     *
     * @return a constant value
     */
    boolean timesDispatches();

    /**
     * Lists the dispatches.
     *
     * @param visitor receives each dispatch, in the order of recording
     */
    void forEachDispatch(Visitor visitor);
}
