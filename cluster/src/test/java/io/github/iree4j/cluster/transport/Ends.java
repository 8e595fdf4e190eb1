package io.github.iree4j.cluster.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.hal.remote.PeerConnection;
import io.github.iree4j.hal.remote.PeerListener;
import io.github.iree4j.hal.remote.PeerStream;
import io.github.iree4j.status.IreeException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/** The connections of a node in a test, and why peers could not be reached. */
class Ends implements PeerHandler {

    final BlockingQueue<End> accepted = new LinkedBlockingQueue<>();
    final BlockingQueue<End> dialed = new LinkedBlockingQueue<>();
    final BlockingQueue<IreeException> unreachable = new LinkedBlockingQueue<>();

    @Override
    public PeerListener accepted(PeerConnection connection, ClusterMember peer) {
        return put(accepted, new End(connection, peer));
    }

    @Override
    public PeerListener dialed(PeerConnection connection, ClusterMember peer) {
        return put(dialed, new End(connection, peer));
    }

    private static End put(BlockingQueue<End> ends, End end) {
        ends.add(end);
        return end;
    }

    @Override
    public void unreachable(ClusterMember peer, IreeException cause) {
        unreachable.add(cause);
    }

    @Override
    public byte[] asked(ClusterMember peer, byte[] message) {
        return message;
    }

    static <T> T take(BlockingQueue<T> queue) throws InterruptedException {
        T taken = queue.poll(30, TimeUnit.SECONDS);
        assertThat(taken).as("within 30 s").isNotNull();
        return taken;
    }

    /** A side of a connection. */
    static final class End implements PeerListener {
        final PeerConnection connection;
        final ClusterMember peer;
        final BlockingQueue<PeerStream> ready = new LinkedBlockingQueue<>();
        final BlockingQueue<IreeException> closed = new LinkedBlockingQueue<>();
        volatile BiConsumer<PeerStream, ByteBuffer> check = (_, _) -> {};

        End(PeerConnection connection, ClusterMember peer) {
            this.connection = connection;
            this.peer = peer;
        }

        /** Sends, waiting for room. */
        void send(PeerStream stream, ByteBuffer head, ByteBuffer body) throws InterruptedException {
            while (!connection.trySend(stream, head.duplicate(), body.duplicate())) {
                take(ready);
            }
        }

        @Override
        public void received(PeerStream stream, ByteBuffer frame, ByteBuffer... rest) {
            int size = frame.remaining()
                    + Arrays.stream(rest).mapToInt(ByteBuffer::remaining).sum();
            ByteBuffer whole = ByteBuffer.allocate(size).put(frame);
            Arrays.stream(rest).forEach(whole::put);
            check.accept(stream, whole.flip());
        }

        @Override
        public void ready(PeerStream stream) {
            ready.add(stream);
        }

        @Override
        public void closed(IreeException cause) {
            closed.add(cause);
        }
    }
}
