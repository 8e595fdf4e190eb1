package io.github.iree4j.cluster;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.cluster.membership.ClusterView;
import io.github.iree4j.status.IreeException;

/** Receives events of a {@link ClusterNode}. Called on the node's threads, without locks; MUST NOT block. */
@NotForApplications
public interface ClusterListener {
    /** Does nothing. */
    ClusterListener NONE = new ClusterListener() {};

    /**
     * Nodes have come or gone.
     *
     * @param view the present members
     */
    default void viewChanged(ClusterView view) {}

    /**
     * A session with a peer is open.
     *
     * @param peer the peer
     */
    default void connected(ClusterMember peer) {}

    /**
     * A peer accepts no more work, and will leave after finishing the accepted work.
     *
     * @param incarnation the peer
     * @param reason the peer's reason
     */
    default void draining(long incarnation, IreeException reason) {}

    /**
     * A peer has failed, and will not come back under the same name.
     *
     * @param incarnation the peer
     * @param cause the cause
     */
    default void failed(long incarnation, IreeException cause) {}

    /**
     * This node can take no part in the cluster any more without a new identity: the lease was lost, or this node and a
     * peer have failed each other and this node yields. All sessions of this node have ended. Called once.
     *
     * @param cause the cause
     */
    default void fenced(IreeException cause) {}
}
