package io.github.iree4j.cluster.transport;

import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.hal.remote.PeerStream;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.Status;
import java.io.InputStream;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Combines streams opened by other nodes to connections. A connection is complete when the third stream has arrived; a
 * connection incomplete at the time limit is dropped.
 */
final class AcceptedStreams {

    /** Limit on incomplete connections at a time; of connections that continue others, separately. */
    static final int MOST_INCOMPLETE = 64;

    private static final int CONNECTION_BYTES = 16;

    private final PeerHandler handler;
    private final ClusterMember self;
    private final boolean tls;
    private final IntFunction<Integer> windows;
    private final ScheduledExecutorService executor;
    private final LastingConnections connections;
    private final Consumer<Runnable> afterTimeout;
    private final Consumer<@Nullable SocketAddress> known;
    private final Map<ByteBuffer, Half> incomplete = new HashMap<>(); // guarded by this

    /**
     * Creates a set without streams.
     *
     * @param windows bytes allowed to wait for writing, by the ordinal of the stream
     * @param afterTimeout runs a task at the time limit of a connection beginning now
     * @param connections the connections of this node
     * @param known receives the source addresses of the streams of a complete connection
     */
    AcceptedStreams(
            PeerHandler handler,
            ClusterMember self,
            boolean tls,
            IntFunction<Integer> windows,
            ScheduledExecutorService executor,
            LastingConnections connections,
            Consumer<Runnable> afterTimeout,
            Consumer<@Nullable SocketAddress> known) {
        this.handler = handler;
        this.self = self;
        this.tls = tls;
        this.windows = windows;
        this.executor = executor;
        this.connections = connections;
        this.afterTimeout = afterTimeout;
        this.known = known;
    }

    /** Accepts a kind of stream. */
    ServerCallHandler<InputStream, InputStream> accept(PeerStream stream) {
        return (call, headers) -> accept(stream, call, headers);
    }

    private ServerCall.Listener<InputStream> accept(
            PeerStream stream, ServerCall<InputStream, InputStream> call, Metadata headers) {
        Accepted accepted = new Accepted(stream, call);
        ClusterMember peer;
        try {
            peer = Frames.sender(headers, call.getAttributes(), tls);
        } catch (IreeException e) {
            return accepted.refuse(Frames.refusal(e));
        }
        byte[] number = headers.get(Frames.CONNECTION);
        if (number == null || number.length != CONNECTION_BYTES) {
            return accepted.refuse(Status.INVALID_ARGUMENT.withDescription("a stream without a connection"));
        }
        call.setOnReadyThreshold(windows.apply(stream.ordinal()));
        ByteBuffer key = ByteBuffer.wrap(number);
        Half half;
        List<Accepted> complete;
        synchronized (this) {
            half = incomplete.get(key);
            if (half == null) {
                boolean resumes = connections.find(peer, headers.get(Frames.RESUME)) != null; // strangers cannot
                if (incomplete.values().stream()
                                .filter(each -> each.resumes == resumes)
                                .count()
                        >= MOST_INCOMPLETE) {
                    return accepted.refuse(Status.RESOURCE_EXHAUSTED.withDescription(
                            MOST_INCOMPLETE + " connections are incomplete, the limit"));
                }
                half = new Half(key, peer, resumes);
                incomplete.put(key, half);
                Half begun = half;
                afterTimeout.accept(() -> drop(begun, Status.DEADLINE_EXCEEDED.withDescription("streams are missing")));
            }
            if (!half.peer.equals(peer) || half.streams[stream.ordinal()] != null) {
                return accepted.refuse(
                        Status.INVALID_ARGUMENT.withDescription("a connection has one stream of a kind"));
            }
            half.streams[stream.ordinal()] = accepted;
            accepted.half = half;
            complete = half.arrived();
            if (complete.size() == half.streams.length) {
                incomplete.remove(key);
            }
        }
        if (complete.size() == half.streams.length) {
            complete(half, complete, headers.get(Frames.RESUME));
        }
        return accepted;
    }

    /**
     * Answers on all streams.
     *
     * @param resumed the connection to continue, as in {@link Frames#RESUME}; null for none
     */
    private void complete(Half half, List<Accepted> streams, byte @Nullable [] resumed) {
        ClusterMember peer = half.peer;
        Metadata headers = new Metadata();
        headers.put(Frames.NODE, self.encode());
        LastingConnections.Resumption resumption = null;
        if (resumed != null) {
            resumption = connections.resume(peer, resumed);
            if (resumption == null) {
                Status status = Status.NOT_FOUND.withDescription("no such connection to continue");
                streams.forEach(each -> each.refuse(status));
                return;
            }
            headers.put(Frames.RESUME, resumption.answer());
        }
        GrpcConnection connection = new GrpcConnection(peer.host() + ":" + peer.port(), streams, executor, () -> {});
        for (Accepted each : streams) {
            known.accept(each.call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR));
            each.connection = connection;
            synchronized (each) {
                if (!each.over) {
                    each.call.sendHeaders(headers);
                }
            }
        }
        if (resumption != null) {
            resumption.by(connection);
        } else {
            LastingConnection lasting = connections.accepted(half.key, peer, connection);
            if (lasting == null) {
                connection.close(IreeException.of(StatusCode.ALREADY_EXISTS, "the number of the connection is in use"));
                return;
            }
            lasting.start(handler.accepted(lasting, peer));
        }
        for (Accepted each : streams) {
            if (each.over) { // before the connection was attached
                connection.ended(Status.CANCELLED);
            }
        }
    }

    private void drop(Half half, Status status) {
        synchronized (this) {
            if (!incomplete.remove(half.key, half)) {
                return;
            }
        }
        for (Accepted each : half.arrived()) {
            synchronized (each) {
                each.end(status);
            }
        }
    }

    /** A connection with some streams arrived. */
    private static final class Half {
        final ByteBuffer key;
        final ClusterMember peer;
        final boolean resumes; // whether the peer continues a connection
        final @Nullable Accepted[] streams = new Accepted[PeerStream.values().length];

        Half(ByteBuffer key, ClusterMember peer, boolean resumes) {
            this.key = key;
            this.peer = peer;
            this.resumes = resumes;
        }

        /** Returns the arrived streams, by ordinal. */
        List<Accepted> arrived() {
            List<Accepted> arrived = new ArrayList<>();
            for (Accepted each : streams) {
                if (each != null) {
                    arrived.add(each);
                }
            }
            return arrived;
        }
    }

    /** A stream opened by a peer. */
    private final class Accepted extends ServerCall.Listener<InputStream> implements StreamEnd {
        final PeerStream stream;
        final ServerCall<InputStream, InputStream> call;
        volatile @Nullable Half half;
        volatile @Nullable GrpcConnection connection;
        volatile boolean over; // set once, by either side
        private boolean closed; // guarded by this

        Accepted(PeerStream stream, ServerCall<InputStream, InputStream> call) {
            this.stream = stream;
            this.call = call;
        }

        synchronized Accepted refuse(Status status) {
            end(status);
            return this;
        }

        @Override
        public boolean isReady() {
            return !over && call.isReady();
        }

        @Override
        public void send(InputStream message) {
            call.sendMessage(message);
        }

        @Override
        public void request() {
            call.request(1);
        }

        @Override
        public void finish(Status status) {
            Metadata trailers = new Metadata();
            trailers.put(Frames.END, new byte[0]);
            close(status, trailers);
        }

        @Override
        public void end(Status status) {
            close(status, new Metadata());
        }

        private void close(Status status, Metadata trailers) {
            if (!closed) {
                closed = true;
                over = true;
                try {
                    call.close(status, trailers);
                } catch (IllegalStateException e) {
                    // The peer has ended the stream.
                }
            }
        }

        @Override
        public void onMessage(InputStream message) {
            GrpcConnection of = connection;
            if (of != null) {
                of.received(stream, message);
            }
        }

        @Override
        public void onReady() {
            GrpcConnection of = connection;
            if (of != null) {
                of.ready(stream);
            }
        }

        @Override
        public void onHalfClose() {
            Status status = Status.CANCELLED.withDescription("the peer ended it");
            GrpcConnection of = connection;
            if (of != null) {
                of.finished(status);
            }
            over(status);
        }

        @Override
        public void onCancel() {
            over(Status.CANCELLED.withDescription("the peer or the network ended it"));
        }

        private void over(Status status) {
            over = true;
            GrpcConnection of = connection;
            if (of != null) {
                of.ended(status);
                return;
            }
            Half begun = half;
            if (begun != null) {
                drop(begun, status);
            }
        }
    }
}
