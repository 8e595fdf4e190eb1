package io.github.iree4j.cluster.transport;

import io.github.iree4j.hal.remote.PeerConnection;
import io.github.iree4j.hal.remote.PeerListener;
import io.github.iree4j.hal.remote.PeerStream;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.grpc.Status;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A connection of three streams of gRPC. The first ending stream ends the others.
 *
 * <p>Messages are requested one at a time, so a slow listener slows down the peer through the windows of HTTP/2, and
 * nothing accumulates. A stream is written under the stream's lock; no call of the listener takes this lock.
 */
final class GrpcConnection implements PeerConnection {
    /*
     * gRPC calls a stream's listener from a single thread at a time. Between start() and the end of the connection the
     * listener is set; requests for messages begin in start(), so no message arrives before.
     */
    private static final AtomicLong CONNECTIONS = new AtomicLong();
    private static final long FINISH_MILLIS = 5_000; // for the peer to hear of the end, behind all that was sent

    private final String peer;
    private final StreamEnd[] streams = new StreamEnd[PeerStream.values().length];
    private final ScheduledExecutorService later;
    private final Runnable ended;
    // the cause of the end, set once
    private final AtomicReference<@Nullable IreeException> end = new AtomicReference<>();
    private final AtomicBoolean told = new AtomicBoolean(); // whether the listener has been notified
    private volatile boolean finished; // whether the peer has said that the connection is over
    private volatile @Nullable PeerListener listener;

    /**
     * Creates a connection with open streams.
     *
     * @param peer the description in messages; a unique number is added
     * @param streams by ordinal
     * @param later runs tasks without locks
     * @param ended called once, when the connection has ended and the peer has had time to hear so
     */
    GrpcConnection(String peer, List<? extends StreamEnd> streams, ScheduledExecutorService later, Runnable ended) {
        this.peer = peer + " #" + CONNECTIONS.incrementAndGet();
        this.later = later;
        this.ended = ended;
        for (PeerStream stream : PeerStream.values()) {
            this.streams[stream.ordinal()] = streams.get(stream.ordinal());
        }
    }

    /** Begins to deliver. */
    void start(PeerListener receiver) {
        listener = receiver;
        IreeException already = end.get();
        if (already != null) {
            notifyClosed(already);
            return;
        }
        for (PeerStream stream : PeerStream.values()) {
            receiver.ready(stream); // possibly ready before there was a receiver
            streams[stream.ordinal()].request();
        }
    }

    /** Returns whether a frame would be accepted; if not, the listener hears {@code ready} later. */
    boolean isReady(PeerStream stream) {
        return end.get() != null || streams[stream.ordinal()].isReady();
    }

    @Override
    public boolean trySend(PeerStream stream, ByteBuffer head, ByteBuffer body) {
        StreamEnd to = streams[stream.ordinal()];
        synchronized (to) {
            if (end.get() != null) {
                return true;
            }
            if (!to.isReady()) {
                return false;
            }
            try {
                to.send(Frames.outgoing(head, body));
            } catch (IllegalStateException e) {
                // The stream ended a moment ago; the listener is notified.
            }
            return true;
        }
    }

    /** A message has arrived. */
    void received(PeerStream stream, InputStream message) {
        PeerListener receiver = listener;
        try (message) {
            if (receiver == null || end.get() != null) {
                return;
            }
            Frames.deliver(message, stream, receiver);
        } catch (IOException e) {
            fail(
                    Status.DATA_LOSS.withDescription(String.valueOf(e.getMessage())),
                    IreeException.of(StatusCode.DATA_LOSS, "connection to " + peer + ": " + e.getMessage(), e));
            return;
        }
        streams[stream.ordinal()].request();
    }

    /** A stream may have room. */
    void ready(PeerStream stream) {
        PeerListener receiver = listener;
        if (receiver != null && end.get() == null) {
            receiver.ready(stream);
        }
    }

    /** The peer has said that the connection is over. */
    void finished(Status status) {
        finished = true;
        ended(status);
    }

    /** Returns whether the peer has said that the connection is over, so that no other connection continues it. */
    boolean isFinished() {
        return finished;
    }

    /** A stream has ended at the peer or in between. */
    void ended(Status status) {
        fail(Status.CANCELLED.withDescription("another stream of the connection ended"), Frames.failure(peer, status));
    }

    @Override
    public void close(IreeException cause) {
        if (end.compareAndSet(null, cause)) {
            Status status = Status.CANCELLED.withDescription(cause.toString());
            for (StreamEnd each : streams) {
                synchronized (each) {
                    each.finish(status);
                }
            }
            later.execute(() -> notifyClosed(cause));
            later.schedule(
                    () -> {
                        endStreams(status);
                        ended.run();
                    },
                    FINISH_MILLIS,
                    TimeUnit.MILLISECONDS);
        }
    }

    /** Ends the streams as the network would: another connection may continue this one. */
    void abandon(IreeException cause) {
        fail(Status.CANCELLED.withDescription("abandoned"), cause);
    }

    private void fail(Status status, IreeException cause) {
        if (end.compareAndSet(null, cause)) {
            endStreams(status);
            ended.run();
            notifyClosed(cause);
        }
    }

    private void endStreams(Status status) {
        for (StreamEnd each : streams) {
            synchronized (each) {
                each.end(status);
            }
        }
    }

    /** Notifies the listener, once set. */
    private void notifyClosed(IreeException cause) {
        PeerListener receiver = listener;
        if (receiver != null && told.compareAndSet(false, true)) {
            receiver.closed(cause);
        }
    }

    @Override
    public String describe() {
        return peer;
    }
}
