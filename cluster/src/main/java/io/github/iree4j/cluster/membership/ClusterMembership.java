package io.github.iree4j.cluster.membership;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;

/**
 * Reports to a node the other live nodes, and their standings. Implementations detect crashes and
 * silence, and carry no data.
 *
 * <p>A member that left a view MAY be in a later view, after the network has healed. Safe from any thread.
 */
@NotForApplications
public interface ClusterMembership {

    /** Receives views. */
    @FunctionalInterface
    interface Listener {
        /**
         * The view has changed. Called for a single view at a time, in order; the first view contains this node. MUST be
         * quick and MUST NOT block.
         *
         * @param view the view
         */
        void viewChanged(ClusterView view);
    }

    /** Carries messages between the memberships of nodes. */
    interface Carrier {
        /**
         * Sends a message to the node at an address.
         *
         * @param address the address, not resolved
         * @param message the message, read until the reply
         * @param limit the longest wait for the reply
         * @param reply receives the reply, once, on any thread, perhaps before the return of this method
         */
        void ask(InetSocketAddress address, byte[] message, Duration limit, Reply reply);
    }

    /** Receives the reply to a message. MUST NOT block. */
    interface Reply {
        /**
         * A node has answered.
         *
         * @param from the node, perhaps of another cluster
         * @param answer the answer, untrusted
         */
        void answered(ClusterMember from, byte[] answer);

        /**
         * No node has answered.
         *
         * @param cause UNAVAILABLE or DEADLINE_EXCEEDED where nothing answers; another status where something answers
         *     and refuses this node, or is refused
         */
        void failed(IreeException cause);
    }

    /**
     * Joins, as the first member if there is no other member. May block for some seconds. May be called again after
     * {@link #leave()}, with another identity.
     *
     * @param self this node
     * @param carrier carries the messages of the membership
     * @param listener receives the views
     * @throws IreeException UNAVAILABLE when joining fails; FAILED_PRECONDITION when already joined
     */
    void join(ClusterMember self, Carrier carrier, Listener listener);

    /**
     * Answers the message of another node's membership. MUST NOT block.
     *
     * @param from the sender, perhaps of another cluster
     * @param message the message, untrusted
     * @return the answer
     * @throws IreeException DATA_LOSS when the bytes are no message of a membership; UNAVAILABLE when this has not joined
     */
    default byte[] asked(ClusterMember from, byte[] message) {
        throw IreeException.of(
                StatusCode.UNIMPLEMENTED, "this membership has no messages, and %s sent one".formatted(from));
    }

    /**
     * Sets the standing of this node for the members of the view, present and future, until the next report.
     *
     * @param standing the standing
     */
    void report(Standing standing);

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
