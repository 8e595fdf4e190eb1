package io.github.iree4j.cluster;

import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.cluster.membership.ClusterView;
import io.github.iree4j.status.IreeException;

/** Learns what happens to a {@link ClusterNode}. Called on its threads, without locks; MUST NOT block. */
public interface ClusterListener {
    /** Does nothing. */
    ClusterListener NONE = new ClusterListener() {};

    /**
     * Nodes have come or gone.
     *
     * @param view who is there now
     */
    default void viewChanged(ClusterView view) {}

    /**
     * A session with a peer is open.
     *
     * @param peer the peer
     */
    default void connected(ClusterMember peer) {}

    /**
     * A peer accepts no more work, and will leave once it has finished what it has.
     *
     * @param incarnation the peer
     * @param reason what it said
     */
    default void draining(long incarnation, IreeException reason) {}

    /**
     * A peer has failed, and will not come back under its name.
     *
     * @param incarnation the peer
     * @param cause why
     */
    default void failed(long incarnation, IreeException cause) {}

    /**
     * This node can take no part in the cluster any more unless it gets a new identity: it lost its lease, or it and a peer have failed each
     * other and it is the one that yields. Its sessions have ended. Called once.
     *
     * @param cause why
     */
    default void fenced(IreeException cause) {}
}
