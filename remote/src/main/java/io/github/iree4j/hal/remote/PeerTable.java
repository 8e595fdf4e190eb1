package io.github.iree4j.hal.remote;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The peers of a node: peers with a session, and failed peers. A peer is known by the incarnation. An incarnation has
 * at most one session, and none after a failure: failing is sticky. A session that ends within the handshake is no
 * failure of the peer. Safe from any thread.
 */
final class PeerTable {
    /** Limit on the axes kept of a failed peer, for observers. */
    private static final int MOST_LOST = 64;

    private final NodeIdentity identity;

    // Guarded by this.
    private final Map<Long, RemoteSession> sessions = new TreeMap<>(); // by incarnation, accepted or open
    private final Set<RemoteSession> handshakes = new HashSet<>(); // sessions with a peer not known yet
    private final Map<Long, IreeException> failed = new TreeMap<>(); // by incarnation; kept for ever
    private final Map<Integer, Long> slots = new TreeMap<>(); // the incarnation of each (machine, session), leased once
    private final Map<Long, List<Long>> lost = new TreeMap<>(); // axes, by incarnation
    private @Nullable IreeException closed;
    private @Nullable IreeException leaving;

    /** Creates the table of a node. */
    PeerTable(NodeIdentity identity) {
        this.identity = identity;
        slots.put(slot(identity), identity.incarnation());
    }

    private static int slot(NodeIdentity of) {
        return of.machine() << 8 | of.session();
    }

    /**
     * Begins the handshake of a session.
     *
     * @param peer the expected incarnation; 0 for any
     * @return the reason against a session; null when there is none
     */
    synchronized @Nullable IreeException begin(RemoteSession session, long peer) {
        if (closed != null || leaving != null) {
            return closed != null ? closed : leaving;
        }
        if (failed.containsKey(peer)) {
            return hasFailed(peer);
        }
        handshakes.add(session);
        return null;
    }

    /**
     * Accepts a peer for a session, or returns the reason against the peer.
     *
     * @param dialed whether this node dialed
     * @return the reason for the rejection; null when the peer is accepted, so that no other session with the peer
     *     begins
     */
    @Nullable
    IreeException admit(RemoteSession session, Hello hello, boolean dialed) {
        NodeIdentity peer = hello.identity();
        String why = null;
        StatusCode code = StatusCode.FAILED_PRECONDITION;
        synchronized (this) {
            long incarnation = peer.incarnation();
            Long ofSlot = slots.get(slot(peer));
            NodeIdentity connected = session.connection().peer();
            if (closed != null || leaving != null) {
                return closed != null ? closed : leaving;
            }
            boolean isOther = connected != null && !connected.equals(peer);
            if (!isOther && failed.containsKey(incarnation)) {
                return hasFailed(incarnation);
            }
            if (isOther) {
                why = "%s says that it is %s, and its connection is one of %s".formatted(session, peer, connected);
                code = StatusCode.PERMISSION_DENIED;
            } else if (peer.clusterId() != identity.clusterId()) {
                why = "%s is of cluster %x, and %s of cluster %x"
                        .formatted(peer, peer.clusterId(), identity, identity.clusterId());
                code = StatusCode.INCOMPATIBLE;
            } else if (hello.expected() != 0 && hello.expected() != identity.incarnation()) {
                why = "%s looks for node %d, and this is %s".formatted(peer, hello.expected(), identity);
                code = StatusCode.NOT_FOUND;
            } else if (peer.incarnation() == identity.incarnation()) {
                why = "both sides are %s; identities are leased once".formatted(peer);
            } else if (dialed != identity.incarnation() < incarnation) {
                why = "%s and %s: the one with the lower incarnation dials".formatted(peer, identity);
            } else if (sessions.containsKey(incarnation)) {
                why = "%s has a session with %s already".formatted(peer, identity);
                code = StatusCode.ALREADY_EXISTS;
            } else if (ofSlot != null && ofSlot != incarnation) {
                why = "%s has the machine and session of node %d; a slot is leased once".formatted(peer, ofSlot);
                code = StatusCode.ALREADY_EXISTS;
            }
            if (why != null) {
                return IreeException.of(code, why);
            }
            IreeException over = session.failure();
            if (over != null) { // REMOTE-1: ended() has been here, or finds nothing to remove
                return over;
            }
            session.admitted(hello); // under the lock, so that ended() knows the peer
            slots.put(slot(peer), incarnation);
            sessions.put(incarnation, session);
            handshakes.remove(session);
        }
        return null;
    }

    private IreeException hasFailed(long incarnation) { // under the lock
        IreeException cause = Objects.requireNonNull(failed.get(incarnation));
        return IreeException.of(
                StatusCode.ABORTED,
                "node %d has failed for %s and cannot come back; it needs a new identity: %s"
                        .formatted(incarnation, identity, cause.getMessage()),
                cause);
    }

    /** Records the failure of a session: the peer, if accepted and past the handshake, will never be accepted again. */
    void ended(RemoteSession session, IreeException cause) {
        boolean hasBegun = session.hasBegun(); // nothing begins after the failure
        synchronized (this) {
            NodeIdentity peer = session.peer();
            handshakes.remove(session);
            if (peer != null && sessions.remove(peer.incarnation(), session) && hasBegun) {
                failed.putIfAbsent(peer.incarnation(), cause);
                lost.put(
                        peer.incarnation(),
                        session.axes().stream().limit(MOST_LOST).toList());
            }
        }
    }

    /** Fails a peer, known or not. */
    void fail(long incarnation, IreeException cause) {
        RemoteSession session;
        synchronized (this) {
            session = sessions.get(incarnation);
            failed.putIfAbsent(incarnation, cause); // also before the session begins
        }
        if (session != null) {
            session.fail(cause);
        }
    }

    /** Records that the node accepts no more work and no more sessions. Returns the sessions to notify; none if recorded before. */
    synchronized List<RemoteSession> leave(IreeException cause) {
        if (leaving != null) {
            return List.of();
        }
        leaving = cause;
        return sessions();
    }

    synchronized @Nullable IreeException leaving() {
        return leaving;
    }

    /** Closes the table with the node. Returns the sessions to end; null if closed before. */
    synchronized @Nullable List<RemoteSession> close(IreeException cause) {
        if (closed != null) {
            return null;
        }
        closed = cause;
        List<RemoteSession> all = new ArrayList<>(sessions.values());
        all.addAll(handshakes);
        return all;
    }

    /** The sessions with known peers, by incarnation. */
    synchronized List<RemoteSession> sessions() {
        return List.copyOf(sessions.values());
    }

    /**
     * Returns the session with a peer.
     *
     * @throws IreeException NOT_FOUND when there is none; ABORTED when the peer has failed
     */
    synchronized RemoteSession session(long incarnation) {
        RemoteSession session = sessions.get(incarnation);
        if (session != null) {
            return session;
        }
        if (failed.containsKey(incarnation)) {
            throw hasFailed(incarnation);
        }
        throw IreeException.of(StatusCode.NOT_FOUND, "%s has no session with node %d".formatted(identity, incarnation));
    }

    /**
     * Returns the session with the peer that allocated an axis.
     *
     * @throws IreeException NOT_FOUND when there is none; ABORTED when the peer has failed
     */
    synchronized RemoteSession ofAxis(long axis) {
        Long incarnation = slots.get(Axis.machine(axis) << 8 | Axis.session(axis));
        RemoteSession session = incarnation == null ? null : sessions.get(incarnation);
        if (session != null) {
            return session;
        }
        if (incarnation != null && failed.containsKey(incarnation)) {
            throw hasFailed(incarnation);
        }
        throw IreeException.of(StatusCode.NOT_FOUND, "%s has no lane '%s'".formatted(identity, Axis.toString(axis)));
    }

    /** The causes of the failures of peers, by incarnation. */
    synchronized Map<Long, IreeException> failures() {
        return new TreeMap<>(failed);
    }

    /** The axes failed together with peers, by the peer's incarnation. */
    synchronized Map<Long, List<Long>> failedAxes() {
        return new TreeMap<>(lost);
    }
}
