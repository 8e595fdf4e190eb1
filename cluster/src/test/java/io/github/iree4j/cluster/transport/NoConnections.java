package io.github.iree4j.cluster.transport;

import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.hal.remote.PeerConnection;
import io.github.iree4j.hal.remote.PeerListener;
import io.github.iree4j.status.IreeException;

/** Expects no connections for data. */
public abstract class NoConnections implements PeerHandler {
    @Override
    public PeerListener accepted(PeerConnection connection, ClusterMember peer) {
        throw new AssertionError(peer);
    }

    @Override
    public PeerListener dialed(PeerConnection connection, ClusterMember peer) {
        throw new AssertionError(peer);
    }

    @Override
    public void unreachable(ClusterMember peer, IreeException cause) {
        throw new AssertionError(cause);
    }
}
