package io.github.iree4j.cluster.membership;

import io.github.iree4j.status.IreeException;
import java.util.List;

/**
 * Tells a node which other nodes are alive. Implementations detect crashes and silence; they carry no data.
 *
 * <p>A member that left a view MAY be in a later one, after the network has healed. Its peers have failed it by then; with {@link #report} they
 * tell each other so. Safe from any thread.
 */
public interface ClusterMembership {

    /** Learns what membership knows. Its methods MUST be quick and MUST NOT block. */
    @FunctionalInterface
    interface Listener {
        /**
         * The view has changed. Called for one view at a time, in order; the first one contains this node.
         *
         * @param view the view
         */
        void viewChanged(ClusterView view);

        /**
         * A node has reported whom it has failed. Called from any thread, also for reports of this node itself, and perhaps before the view
         * that the report is about; for one node in the order in which it sent them.
         *
         * @param member who has reported
         * @param report what it said
         */
        default void reported(ClusterMember member, FailureReport report) {}
    }

    /**
     * Joins, as the first member if there is no other. May block for some seconds. May be called again after {@link #leave()}, with another
     * identity.
     *
     * @param self this node
     * @param listener learns the views and reports
     * @throws IreeException UNAVAILABLE when it cannot join; FAILED_PRECONDITION when it has joined
     */
    void join(ClusterMember self, Listener listener);

    /**
     * Sends a report to all members of the view, this node included. It may be lost, so it should be repeated while it matters. Does nothing
     * when this has not joined. May block, so it is not for the thread that calls the listener.
     *
     * @param report what to say
     */
    void report(FailureReport report);

    /** Leaves, so that the other nodes see it go at once. Does nothing when this has not joined. No view is reported after it returns. */
    void leave();

    /**
     * Returns where this looks for nodes and reaches none. MUST NOT block on the network.
     *
     * @return the addresses with the causes; empty when all were reached, or the implementation does not know
     */
    default List<Unreached> unreached() {
        return List.of();
    }
}
