package io.github.iree4j.cluster.membership;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import java.util.List;

/**
 * Reports to a node the other live nodes. Implementations detect crashes and silence, and carry no data.
 *
 * <p>A member that left a view MAY be in a later view, after the network has healed. The member's peers have failed the
 * member by then, and report the failure to each other with {@link #report}. Safe from any thread.
 */
@NotForApplications
public interface ClusterMembership {

    /** Receives views and reports. Methods MUST be quick and MUST NOT block. */
    @FunctionalInterface
    interface Listener {
        /**
         * The view has changed. Called for a single view at a time, in order; the first view contains this node.
         *
         * @param view the view
         */
        void viewChanged(ClusterView view);

        /**
         * A node has reported the nodes failed by it. Called from any thread, also for reports of this node itself, and
         * perhaps before the view of the report; for each node in the order of sending.
         *
         * @param member the reporter
         * @param report the report
         */
        default void reported(ClusterMember member, FailureReport report) {}
    }

    /**
     * Joins, as the first member if there is no other member. May block for some seconds. May be called again after
     * {@link #leave()}, with another identity.
     *
     * @param self this node
     * @param listener receives the views and reports
     * @throws IreeException UNAVAILABLE when joining fails; FAILED_PRECONDITION when already joined
     */
    void join(ClusterMember self, Listener listener);

    /**
     * Sends a report to all members of the view, including this node. A report may be lost, so reports should be
     * repeated while relevant. Does nothing when this has not joined. May block, so this method is not for the thread
     * calling the listener.
     *
     * @param report the report
     */
    void report(FailureReport report);

    /**
     * Leaves, so that the other nodes notice the departure at once. Does nothing when this has not joined. No view is
     * reported after the return of this method.
     */
    void leave();

    /**
     * Returns the addresses where this membership looks for nodes without success. MUST NOT block on the network.
     *
     * @return the addresses with the causes; empty when all nodes were reached, or when unknown to the implementation
     */
    default List<Unreached> unreached() {
        return List.of();
    }
}
