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
    private final Consumer<LastingConnection> redial;
    private final Consumer<LastingConnection> probe;
    private final Map<ByteBuffer, LastingConnection> connections = new HashMap<>(); // guarded by this

    /** A connection to be continued, receiving nothing meanwhile. */
    record Resumption(LastingConnection connection, byte[] answer, long[] received) {
        void by(GrpcConnection carrier) {
            connection.resume(carrier, received);
        }
    }

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
            Consumer<LastingConnection> redial,
            Consumer<LastingConnection> probe) {
        this.limit = limit;
        this.timer = timer;
        this.redial = redial;
        this.probe = probe;
    }

    LastingConnection accepted(ByteBuffer number, ClusterMember peer, GrpcConnection carrier) {
        return add(number, new LastingConnection(peer, carrier, false, limit, timer, probe, this::remove));
    }

    LastingConnection dialed(byte[] number, ClusterMember peer, GrpcConnection carrier) {
        return add(
                ByteBuffer.wrap(number),
                new LastingConnection(peer, carrier, true, limit, timer, redial, this::remove));
    }

    private synchronized LastingConnection add(ByteBuffer number, LastingConnection made) {
        connections.put(number, made);
        return made;
    }

    private synchronized void remove(LastingConnection over) {
        connections.values().remove(over);
    }

    /**
     * Prepares to continue a connection accepted from a peer.
     *
     * @param request as in {@link Frames#RESUME}
     * @return the connection; null if the peer has no such connection with this node
     */
    @Nullable
    Resumption resume(ClusterMember peer, byte[] request) {
        if (request.length != NUMBER_BYTES + COUNTS_BYTES) {
            return null;
        }
        LastingConnection connection;
        synchronized (this) {
            connection = connections.get(ByteBuffer.wrap(request, 0, NUMBER_BYTES));
        }
        if (connection == null || connection.isDialed() || !connection.member().equals(peer)) {
            return null;
        }
        byte[] answer = bytes(connection.receivedForGood());
        return new Resumption(connection, answer, counts(request, NUMBER_BYTES));
    }

    /** Returns what a dialing side sends to continue a connection. Nothing is received until the connection continues. */
    byte[] request(LastingConnection connection) {
        ByteBuffer number = null;
        synchronized (this) {
            for (Map.Entry<ByteBuffer, LastingConnection> each : connections.entrySet()) {
                if (each.getValue() == connection) {
                    number = each.getKey().duplicate();
                }
            }
        }
        ByteBuffer request = ByteBuffer.allocate(NUMBER_BYTES + COUNTS_BYTES);
        if (number != null) { // otherwise over, and the peer finds no such connection
            request.put(number);
        }
        return request.position(NUMBER_BYTES)
                .put(bytes(connection.receivedForGood()))
                .array();
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
