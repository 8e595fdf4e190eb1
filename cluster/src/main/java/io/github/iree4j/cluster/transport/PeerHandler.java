package io.github.iree4j.cluster.transport;

import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.hal.remote.PeerConnection;
import io.github.iree4j.hal.remote.PeerListener;
import io.github.iree4j.status.IreeException;

/** Receives the connections of a {@link GrpcTransport}. Called on the transport's threads; MUST NOT block. */
public interface PeerHandler {

    /**
     * Another node has connected to this node.
     *
     * @param connection the connection
     * @param peer the peer as claimed; the peer's certificate names the host
     * @return receives the peer's frames
     */
    PeerListener accepted(PeerConnection connection, ClusterMember peer);

    /**
     * A connection dialed by this node is established.
     *
     * @param connection the connection
     * @param peer the dialed node
     * @return receives the peer's frames
     */
    PeerListener dialed(PeerConnection connection, ClusterMember peer);

    /**
     * A connection dialed by this node could not be established.
     *
     * @param peer the dialed node
     * @param cause the cause
     */
    void unreachable(ClusterMember peer, IreeException cause);

    /**
     * The membership of another node has sent a message.
     *
     * @param peer the sender as claimed; the sender's certificate names the host
     * @param message the message, untrusted
     * @return the answer
     * @throws IreeException when the message is refused
     */
    byte[] asked(ClusterMember peer, byte[] message);
}
