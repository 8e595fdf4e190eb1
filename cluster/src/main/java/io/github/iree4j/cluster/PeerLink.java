package io.github.iree4j.cluster;

import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.hal.remote.PeerConnection;
import io.github.iree4j.hal.remote.PeerListener;
import io.github.iree4j.hal.remote.PeerStream;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A connection between the transport and its session, reporting how the connection ended. The session receives the
 * peer's frames once membership knows the peer: until then, the first frame is held, and a peer sends no second frame
 * without an answer.
 */
final class PeerLink implements PeerConnection, PeerListener {
    private static final int MOST_HELD = 64 << 10; // bytes

    final ClusterMember peer;
    final boolean dialed;
    private final PeerConnection connection;
    private final Predicate<ClusterMember> known;
    private final BiConsumer<PeerLink, IreeException> ended;
    private final AtomicBoolean over = new AtomicBoolean();
    private volatile Delivery delivery = Delivery.NONE; // changed under the lock of this
    private @Nullable ByteBuffer held; // the first frame; guarded by this
    private volatile @Nullable PeerListener session;
    volatile boolean open;

    /**
     * The frames received by the session: a connection may be dropped only before the session receives the peer's
     * identity, since a later failure fails the peer permanently.
     */
    private enum Delivery {
        NONE,
        BEGUN,
        DROPPED
    }

    /**
     * Creates a link without a session.
     *
     * @param peer the peer authenticated by the transport
     * @param dialed whether this node opened the connection
     * @param known whether membership knows the peer
     * @param ended called once, with the cause
     */
    PeerLink(
            ClusterMember peer,
            PeerConnection connection,
            boolean dialed,
            Predicate<ClusterMember> known,
            BiConsumer<PeerLink, IreeException> ended) {
        this.peer = peer;
        this.connection = connection;
        this.dialed = dialed;
        this.known = known;
        this.ended = ended;
    }

    /** Attaches the session, before the transport delivers anything. */
    PeerLink attach(PeerListener listener) {
        session = listener;
        return this;
    }

    private PeerListener session() {
        return Objects.requireNonNull(session, "the transport delivers before the session is attached");
    }

    @Override
    public boolean trySend(PeerStream stream, ByteBuffer head, ByteBuffer body) {
        return connection.trySend(stream, head, body);
    }

    @Override
    public void close(IreeException cause) {
        end(cause);
        connection.close(cause);
    }

    @Override
    public String describe() {
        return connection.describe();
    }

    @Override
    public NodeIdentity peer() {
        return peer.identity();
    }

    /** Returns whether the connection has ended. */
    boolean isOver() {
        return over.get();
    }

    /** Returns whether the session has received nothing yet. */
    boolean isSilent() {
        return delivery == Delivery.NONE;
    }

    /** Returns whether the peer has sent a frame before membership knew the peer. */
    synchronized boolean isHeld() {
        return held != null;
    }

    /** Ends the connection if the session has received nothing yet. */
    void drop(IreeException cause) {
        synchronized (this) {
            if (delivery != Delivery.NONE) {
                return;
            }
            delivery = Delivery.DROPPED;
            held = null;
        }
        closed(cause);
    }

    /** Handles a changed view: the session receives the held frame, if the peer is known now. */
    void look() {
        synchronized (this) {
            ByteBuffer first = held;
            if (first != null && known.test(peer)) {
                held = null;
                session().received(PeerStream.CONTROL, first); // under the lock, so that later frames come later
                delivery = Delivery.BEGUN;
            }
        }
    }

    @Override
    public void received(PeerStream stream, ByteBuffer frame, ByteBuffer... rest) {
        if (delivery == Delivery.BEGUN || hears(stream, frame)) {
            session().received(stream, frame, rest);
        }
    }

    /** Returns whether the session receives a frame now; otherwise the frame is held, or the connection ends. */
    private boolean hears(PeerStream stream, ByteBuffer frame) {
        synchronized (this) {
            if (delivery == Delivery.NONE && held == null && (dialed || known.test(peer))) {
                delivery = Delivery.BEGUN;
            }
            if (delivery != Delivery.NONE) {
                return delivery == Delivery.BEGUN;
            }
            if (held == null && stream == PeerStream.CONTROL && frame.remaining() <= MOST_HELD) {
                held = ByteBuffer.allocate(frame.remaining())
                        .order(frame.order())
                        .put(frame)
                        .flip();
                return false;
            }
        }
        drop(IreeException.of(
                StatusCode.PERMISSION_DENIED,
                "%s says more than a greeting of %d bytes, and membership does not know it"
                        .formatted(peer, MOST_HELD)));
        return false;
    }

    @Override
    public void ready(PeerStream stream) {
        session().ready(stream);
    }

    @Override
    public void closed(IreeException cause) {
        session().closed(cause);
        end(cause);
    }

    private void end(IreeException cause) {
        if (over.compareAndSet(false, true)) {
            ended.accept(this, cause);
        }
    }
}
