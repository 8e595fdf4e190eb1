package io.github.iree4j.cluster.transport;

import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.hal.remote.PeerStream;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import java.io.InputStream;
import java.util.Arrays;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** The streams of a connection dialed by this node. The connection is established when the peer has answered on each stream. */
final class DialedStreams {
    /** The outcome of the streams; called once. */
    interface Outcome {
        /**
         * The connection is established, and delivers once started.
         *
         * @param answer the headers of the peer's answer
         */
        void established(GrpcConnection connection, Metadata answer);

        void failed(IreeException cause);
    }

    private final Outcome outcome;
    private final ClusterMember peer;
    private final ScheduledExecutorService executor;
    private final Runnable ended;
    private final Dialed[] streams = new Dialed[PeerStream.values().length];
    private int answered; // guarded by this, like the rest
    private boolean over;
    private volatile @Nullable GrpcConnection connection;

    DialedStreams(Outcome outcome, ClusterMember peer, ScheduledExecutorService executor, Runnable ended) {
        this.outcome = outcome;
        this.peer = peer;
        this.executor = executor;
        this.ended = ended;
    }

    /**
     * Opens the streams.
     *
     * @param number the number of the connection
     * @param resumed the connection to continue, as in {@link Frames#RESUME}; null for none
     * @param channels by the ordinal of the stream
     * @param windows bytes allowed to wait for writing, by the ordinal of the stream
     */
    void open(
            ClusterMember self,
            byte[] number,
            byte @Nullable [] resumed,
            IntFunction<ManagedChannel> channels,
            IntFunction<Integer> windows) {
        for (PeerStream stream : PeerStream.values()) {
            CallOptions options = CallOptions.DEFAULT.withOnReadyThreshold(windows.apply(stream.ordinal()));
            streams[stream.ordinal()] =
                    new Dialed(stream, channels.apply(stream.ordinal()).newCall(Frames.method(stream), options));
        }
        for (Dialed each : streams) {
            Metadata headers = new Metadata();
            headers.put(Frames.NODE, self.encode());
            headers.put(Frames.CONNECTION, number);
            if (resumed != null) {
                headers.put(Frames.RESUME, resumed);
            }
            try {
                each.call.start(each, headers);
            } catch (IllegalStateException e) {
                return; // an earlier stream has failed and cancelled this stream
            }
            if (isOver()) { // perhaps too early for cancelling this stream
                each.call.cancel("an earlier stream has failed", null);
                return;
            }
        }
    }

    private synchronized boolean isOver() {
        return over;
    }

    /** Gives up, unless the connection is established or given up. */
    void giveUp(IreeException cause) {
        synchronized (this) {
            if (over || answered == streams.length) {
                return;
            }
            over = true;
        }
        endAll(Status.CANCELLED.withDescription(cause.getMessage()));
        ended.run();
        outcome.failed(cause);
    }

    private void endAll(Status status) {
        for (Dialed each : streams) {
            synchronized (each) {
                each.end(status);
            }
        }
    }

    private void answered(Metadata headers) {
        byte[] node = headers.get(Frames.NODE);
        try {
            ClusterMember there = node == null ? null : ClusterMember.decode(node);
            if (there == null || !there.identity().equals(peer.identity())) {
                giveUp(IreeException.of(
                        StatusCode.NOT_FOUND, "%s answers, and this node dialed %s".formatted(there, peer)));
                return;
            }
        } catch (IreeException e) {
            giveUp(e);
            return;
        }
        GrpcConnection established;
        synchronized (this) {
            if (over || ++answered < streams.length) {
                return;
            }
            established = new GrpcConnection(peer.host() + ":" + peer.port(), Arrays.asList(streams), executor, ended);
            connection = established; // with the last answer, so that a stream closing now ends the connection
        }
        outcome.established(established, headers);
    }

    private void closed(Status status, boolean isFinished) {
        giveUp(Frames.failure(peer.toString(), status));
        GrpcConnection established = connection;
        if (established != null && isFinished) {
            established.finished(status);
        } else if (established != null) {
            established.ended(status);
        }
    }

    /** A stream opened by this node. */
    private final class Dialed extends ClientCall.Listener<InputStream> implements StreamEnd {
        private final PeerStream stream;
        private final ClientCall<InputStream, InputStream> call;
        private boolean ended; // guarded by this
        private boolean finished; // guarded by this

        Dialed(PeerStream stream, ClientCall<InputStream, InputStream> call) {
            this.stream = stream;
            this.call = call;
        }

        @Override
        public boolean isReady() {
            return call.isReady();
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
            if (!ended && !finished) {
                finished = true;
                call.halfClose();
            }
        }

        @Override
        public void end(Status status) {
            if (!ended) {
                ended = true;
                try {
                    call.cancel(status.getDescription(), null);
                } catch (IllegalStateException e) {
                    // Just being started, and cancelled afterwards.
                }
            }
        }

        @Override
        public void onHeaders(Metadata headers) {
            answered(headers);
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
        public void onClose(Status status, Metadata trailers) {
            closed(status, trailers.containsKey(Frames.END));
        }
    }
}
