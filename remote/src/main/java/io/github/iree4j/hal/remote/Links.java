package io.github.iree4j.hal.remote;

/**
 * Tells each peer of this node which other peers have a session with this node: a client with work on two nodes then
 * knows whether the nodes reach each other. Safe from any thread.
 */
final class Links {
    private final RemoteNode node;

    Links(RemoteNode node) {
        this.node = node;
    }

    /** Introduces the peer and the other peers to each other. Under the lock, so the end of a session is reported last. */
    synchronized void opened(RemoteSession session) {
        if (!session.isOpen()) {
            return; // failed meanwhile
        }
        long peer = session.peerIncarnation();
        for (RemoteSession other : node.sessions()) {
            if (!other.equals(session) && other.isOpen()) {
                announce(other, peer, true);
                announce(session, other.peerIncarnation(), true);
            }
        }
    }

    /** Tells the other peers of the end of a session. */
    synchronized void failed(RemoteSession session) {
        NodeIdentity peer = session.peer();
        if (peer == null) {
            return;
        }
        for (RemoteSession other : node.sessions()) {
            if (other.isOpen()) {
                announce(other, peer.incarnation(), false);
            }
        }
    }

    private static void announce(RemoteSession session, long incarnation, boolean isOpen) {
        session.post(new FrameWriter(FrameType.LINK).u64(incarnation).u8(isOpen ? 1 : 0));
    }
}
