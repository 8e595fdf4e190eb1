package io.github.iree4j.cluster;

import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.hal.remote.PeerConnection;
import io.github.iree4j.hal.remote.PeerListener;
import io.github.iree4j.hal.remote.PeerStream;
import io.github.iree4j.status.IreeException;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** A connection between the transport and the session on it, which says how it ended. */
final class PeerLink implements PeerConnection, PeerListener {
    final ClusterMember peer;
    private final PeerConnection connection;
    private final BiConsumer<PeerLink, IreeException> ended;
    private final AtomicBoolean over = new AtomicBoolean();
    private final AtomicReference<Said> said = new AtomicReference<>(Said.NOTHING);
    private volatile @Nullable PeerListener session;
    volatile boolean open;

    /** What the peer has said: a connection may be dropped only before it says who it is, since what follows fails it for good. */
    private enum Said {
        NOTHING,
        SOMETHING,
        TOO_LATE
    }

    /**
     * Creates a link without a session.
     *
     * @param peer whom the transport has authenticated
     * @param ended called once, with the cause
     */
    PeerLink(ClusterMember peer, PeerConnection connection, BiConsumer<PeerLink, IreeException> ended) {
        this.peer = peer;
        this.connection = connection;
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

    /** Whether the peer has said nothing yet. */
    boolean isSilent() {
        return said.get() == Said.NOTHING;
    }

    /** Ends the connection if the peer has said nothing yet. */
    void drop(IreeException cause) {
        if (said.compareAndSet(Said.NOTHING, Said.TOO_LATE)) {
            closed(cause);
        }
    }

    @Override
    public void received(PeerStream stream, ByteBuffer frame) {
        if (said.compareAndSet(Said.NOTHING, Said.SOMETHING) || said.get() == Said.SOMETHING) {
            session().received(stream, frame);
        }
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
