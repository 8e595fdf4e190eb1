package io.github.iree4j.cluster.transport;

import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.hal.remote.PeerStream;
import io.github.iree4j.status.IreeException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The connections of a node that are not over, by the random number of their first carrier. Thread-safe. */
final class LastingConnections {
    static final int NUMBER_BYTES = 16;
    private static final int COUNTS_BYTES = PeerStream.values().length * Long.BYTES;

    private final Duration limit;
    private final ScheduledExecutorService timer;
    private final Consumer<LastingConnection.Attempt> redial;
    private final Consumer<LastingConnection.Attempt> probe;
    private final Map<ByteBuffer, LastingConnection> connections = new HashMap<>(); // guarded by this

    /**
     * A connection to be continued, receiving nothing meanwhile.
     *
     * @param ticket as of {@link LastingConnection#resume}
     * @param answer as in {@link Frames#RESUME}
     * @param received the frames received by the peer
     */
    record Resumption(LastingConnection connection, long ticket, byte[] answer, long[] received) {
        void by(GrpcConnection carrier) {
            connection.resume(carrier, ticket, received);
        }
    }

    /**
     * The request to continue a connection.
     *
     * @param ticket as of {@link LastingConnection#resume}
     * @param bytes as in {@link Frames#RESUME}
     */
    record Request(long ticket, byte[] bytes) {}

    /**
     * Creates a set without connections.
     *
     * @param limit how long a connection lasts without a carrier
     * @param redial dials again, for a connection dialed by this node
     * @param probe looks whether a process listens at the peer's address, for a connection dialed by the peer
     */
    LastingConnections(
            Duration limit,
            ScheduledExecutorService timer,
            Consumer<LastingConnection.Attempt> redial,
            Consumer<LastingConnection.Attempt> probe) {
        this.limit = limit;
        this.timer = timer;
        this.redial = redial;
        this.probe = probe;
    }

    /** Returns a connection accepted from a peer; null if the number is in use. */
    @Nullable
    LastingConnection accepted(ByteBuffer number, ClusterMember peer, GrpcConnection carrier) {
        return add(new LastingConnection(number, peer, carrier, false, limit, timer, probe, this::remove));
    }

    /** Returns a connection dialed by this node; null if the number is in use. */
    @Nullable
    LastingConnection dialed(byte[] number, ClusterMember peer, GrpcConnection carrier) {
        return add(new LastingConnection(
                ByteBuffer.wrap(number), peer, carrier, true, limit, timer, redial, this::remove));
    }

    private synchronized @Nullable LastingConnection add(LastingConnection made) {
        return connections.putIfAbsent(made.number(), made) == null ? made : null;
    }

    private synchronized void remove(LastingConnection over) {
        connections.remove(over.number(), over);
    }

    /** Returns the connection that a peer asks to continue; null if the peer has no such connection with this node. */
    @Nullable
    LastingConnection find(ClusterMember peer, byte @Nullable [] request) {
        if (request == null || request.length != NUMBER_BYTES + COUNTS_BYTES) {
            return null;
        }
        LastingConnection found;
        synchronized (this) {
            found = connections.get(ByteBuffer.wrap(request, 0, NUMBER_BYTES));
        }
        return found == null || found.isDialed() || !found.member().equals(peer) ? null : found;
    }

    /** Prepares to continue a connection accepted from a peer; null as of {@link #find}. */
    @Nullable
    Resumption resume(ClusterMember peer, byte[] request) {
        LastingConnection found = find(peer, request);
        long[] counts = counts(request, NUMBER_BYTES);
        if (found == null || counts == null) {
            return null;
        }
        LastingConnection.Received received = found.received();
        return new Resumption(found, received.ticket(), bytes(received.counts()), counts);
    }

    /** Returns the message by which a dialing side continues a connection. Nothing is received until the connection continues. */
    Request request(LastingConnection connection) {
        LastingConnection.Received received = connection.received();
        byte[] bytes = ByteBuffer.allocate(NUMBER_BYTES + COUNTS_BYTES)
                .put(connection.number())
                .put(bytes(received.counts()))
                .array();
        return new Request(received.ticket(), bytes);
    }

    /** Doubts all connections with a member. */
    void doubt(ClusterMember member, IreeException cause) {
        List<LastingConnection> all;
        synchronized (this) {
            all = List.copyOf(connections.values());
        }
        for (LastingConnection each : all) {
            if (each.member().equals(member)) {
                each.doubt(cause);
            }
        }
    }

    /** Closes all connections. */
    void close(IreeException cause) {
        List<LastingConnection> all;
        synchronized (this) {
            all = List.copyOf(connections.values());
        }
        all.forEach(each -> each.close(cause));
    }

    private static byte[] bytes(long[] counts) {
        ByteBuffer bytes = ByteBuffer.allocate(COUNTS_BYTES);
        for (long each : counts) {
            bytes.putLong(each);
        }
        return bytes.array();
    }

    /** Reads counts; an absent or short array has none. */
    static long @Nullable [] counts(byte @Nullable [] bytes, int from) {
        if (bytes == null || bytes.length != from + COUNTS_BYTES) {
            return null;
        }
        long[] counts = new long[PeerStream.values().length];
        ByteBuffer.wrap(bytes, from, COUNTS_BYTES).asLongBuffer().get(counts);
        return counts;
    }
}
