package io.github.iree4j.cluster.transport;

import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.hal.remote.PeerConnection;
import io.github.iree4j.hal.remote.PeerListener;
import io.github.iree4j.status.IreeException;

/** Receives the connections of a {@link GrpcTransport}. Called on its threads; MUST NOT block. */
public interface PeerHandler {

    /**
     * Another node has connected to this one.
     *
     * @param connection the connection
     * @param peer who it says it is; its certificate names the host
     * @return receives what arrives
     */
    PeerListener accepted(PeerConnection connection, ClusterMember peer);

    /**
     * A connection that this node dialed is established.
     *
     * @param connection the connection
     * @param peer the node that was dialed
     * @return receives what arrives
     */
    PeerListener dialed(PeerConnection connection, ClusterMember peer);

    /**
     * A connection that this node dialed could not be established.
     *
     * @param peer the node that was dialed
     * @param cause why
     */
    void unreachable(ClusterMember peer, IreeException cause);
}
