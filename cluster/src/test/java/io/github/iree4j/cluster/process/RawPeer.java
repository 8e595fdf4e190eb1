package io.github.iree4j.cluster.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** A peer with connections of its own that sends frames of the test's choice and reads nothing unless asked. */
final class RawPeer implements AutoCloseable {
    static final int CONTROL = 0;
    static final int QUEUE = 1;
    private static final String[] STREAMS = {"control", "queue", "bulk"};
    private static final Metadata.Key<byte[]> NODE = Metadata.Key.of("iree-node-bin", Metadata.BINARY_BYTE_MARSHALLER);
    private static final Metadata.Key<byte[]> CONNECTION =
            Metadata.Key.of("iree-connection-bin", Metadata.BINARY_BYTE_MARSHALLER);
    private static final AtomicLong CONNECTIONS = new AtomicLong();

    private final NodeIdentity identity;
    private final ManagedChannel channel;
    private final Stream[] streams = new Stream[STREAMS.length];
    private final CountDownLatch answered = new CountDownLatch(STREAMS.length);

    /** How the connection ended. */
    final CompletableFuture<Status> closed = new CompletableFuture<>();

    RawPeer(ClusterMember self, String host, int port) {
        this.identity = self.identity();
        channel = NettyChannelBuilder.forAddress(host, port)
                .usePlaintext()
                .directExecutor()
                .build();
        Metadata headers = new Metadata();
        headers.put(NODE, self.encode());
        headers.put(
                CONNECTION,
                ByteBuffer.allocate(16)
                        .putLong(ProcessHandle.current().pid())
                        .putLong(CONNECTIONS.incrementAndGet())
                        .array());
        for (int stream = 0; stream < STREAMS.length; stream++) {
            streams[stream] = new Stream(stream, headers);
        }
    }

    private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** A stream with numbered frames. */
    private final class Stream extends ClientCall.Listener<byte[]> {
        private final ClientCall<byte[], byte[]> call;
        private final int heads; // bytes before a frame
        final CompletableFuture<byte[]> first = new CompletableFuture<>();
        private int number;

        Stream(int stream, Metadata headers) {
            heads = stream == CONTROL ? 1 : 0;
            call = channel.newCall(
                    MethodDescriptor.<byte[], byte[]>newBuilder()
                            .setType(MethodDescriptor.MethodType.BIDI_STREAMING)
                            .setFullMethodName(MethodDescriptor.generateFullMethodName("iree4j.Peer", STREAMS[stream]))
                            .setRequestMarshaller(new Bytes())
                            .setResponseMarshaller(new Bytes())
                            .build(),
                    CallOptions.DEFAULT);
            Metadata own = new Metadata();
            own.merge(headers);
            call.start(this, own);
        }

        @Override
        public void onHeaders(Metadata headers) {
            answered.countDown();
        }

        @Override
        public void onMessage(byte[] message) {
            if (heads > 0 && message[0] != 0) { // counts of received frames
                call.request(1);
                return;
            }
            first.complete(Arrays.copyOfRange(message, heads, message.length));
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            closed.complete(status);
            first.completeExceptionally(status.asException());
        }

        /** Sends a frame, or does nothing where the network has no room. */
        boolean send(int type, ByteBuffer fields) {
            if (!call.isReady()) {
                return false;
            }
            ByteBuffer frame = ByteBuffer.allocate(heads + 8 + fields.remaining())
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .position(heads);
            frame.put((byte) type).put((byte) 1).putShort((short) 0).putInt(++number);
            call.sendMessage(frame.put(fields.duplicate()).array());
            return true;
        }
    }

    /** Waits until the node has taken the three streams for a connection; no session yet. */
    RawPeer connect() throws InterruptedException {
        assertThat(answered.await(30, TimeUnit.SECONDS)).isTrue();
        return this;
    }

    /** Opens a session. */
    void greet(long expected) throws Exception {
        ByteBuffer hello = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
        hello.putShort((short) 4).putInt(0); // the protocol
        hello.putLong(identity.clusterId()).put((byte) identity.machine()).put((byte) identity.session());
        hello.putLong(identity.incarnation()).putLong(expected);
        hello.putInt(1 << 18).putInt(1024).putInt(1 << 16);
        hello.putShort((short) 0).putShort((short) 0).flip();
        assertThat(streams[CONTROL].send(1, hello)).isTrue();
        streams[CONTROL].call.request(1);
        byte[] answer = streams[CONTROL].first.get(30, TimeUnit.SECONDS);
        assertThat(answer[0]).as("HELLO_ACK").isEqualTo((byte) 2);
        assertThat(streams[CONTROL].send(5, ByteBuffer.allocate(0))).isTrue();
    }

    /** Sends a frame, or does nothing where the network has no room. */
    boolean send(int stream, int type, ByteBuffer fields) {
        return streams[stream].send(type, fields);
    }

    boolean isOver() {
        return closed.isDone();
    }

    @Override
    public void close() {
        channel.shutdownNow();
    }
}
