package io.github.iree4j.cluster;

import io.github.iree4j.cluster.transport.TransportOptions;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Drainable;
import io.grpc.InsecureChannelCredentials;
import io.grpc.InsecureServerCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerServiceDefinition;
import io.grpc.TlsChannelCredentials;
import io.grpc.TlsServerCredentials;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import javax.net.ssl.KeyManager;
import javax.net.ssl.TrustManager;

/**
 * The peer of the cluster's figures: streams of gRPC between the same processes, with the options of the transport and
 * on the same event loops, and nothing else. A frame is passed on from node to node by the threads of the network; bytes
 * go from an array of the sender into an array of the receiver.
 */
final class BareGrpc implements AutoCloseable {
    private static final byte HOP = 0; // hops left, number of nodes in the ring
    private static final byte PUSH = 1; // node to send bytes to
    private static final byte DONE = 2;
    private static final int CONTROL_BYTES = 3;

    private final int index;
    private final int chunk;
    private final byte[] memory;
    private final Server server;
    private final List<ManagedChannel> channels = new ArrayList<>();
    private final List<Stream> frames = new ArrayList<>(); // by node
    private final List<Stream> bulk = new ArrayList<>();
    private final Semaphore done = new Semaphore(0);
    private int received; // bytes; from a single sender at a time

    /**
     * Listens, and opens streams to all nodes.
     *
     * @param index the number of this node
     * @param ports of all nodes, by number
     * @param options of the transport beside which this is measured
     * @param bytes the bytes of a transfer, a multiple of the chunk
     * @param chunk the bytes of a message of a transfer
     */
    BareGrpc(int index, List<Integer> ports, TransportOptions options, int bytes, int chunk) throws IOException {
        this.index = index;
        this.chunk = chunk;
        this.memory = new byte[bytes];
        TransportOptions.Tls tls = options.tls();
        server = NettyServerBuilder.forAddress(
                        new InetSocketAddress(options.address(), ports.get(index)),
                        tls == null
                                ? InsecureServerCredentials.create()
                                : TlsServerCredentials.newBuilder()
                                        .keyManager(tls.keys().toArray(KeyManager[]::new))
                                        .trustManager(tls.authorities().toArray(TrustManager[]::new))
                                        .clientAuth(TlsServerCredentials.ClientAuth.REQUIRE)
                                        .build())
                .directExecutor()
                .maxInboundMessageSize(options.maximumFrameBytes())
                .addService(ServerServiceDefinition.builder("bare")
                        .addMethod(method("frames"), accept(this::frame))
                        .addMethod(method("bulk"), accept(this::chunk))
                        .build())
                .build()
                .start();
        for (int port : ports) {
            ManagedChannel channel = NettyChannelBuilder.forAddress(
                            options.address().getHostAddress(),
                            port,
                            tls == null
                                    ? InsecureChannelCredentials.create()
                                    : TlsChannelCredentials.newBuilder()
                                            .keyManager(tls.keys().toArray(KeyManager[]::new))
                                            .trustManager(tls.authorities().toArray(TrustManager[]::new))
                                            .build())
                    .directExecutor()
                    .proxyDetector(_ -> null)
                    .disableRetry()
                    .disableServiceConfigLookUp()
                    .maxInboundMessageSize(options.maximumFrameBytes())
                    .build();
            channels.add(channel);
            frames.add(new Stream(channel, "frames", options.queueWindow()));
            bulk.add(new Stream(channel, "bulk", options.bulkWindow()));
        }
    }

    private static MethodDescriptor<InputStream, InputStream> method(String name) {
        return MethodDescriptor.<InputStream, InputStream>newBuilder()
                .setType(MethodDescriptor.MethodType.BIDI_STREAMING)
                .setFullMethodName(MethodDescriptor.generateFullMethodName("bare", name))
                .setRequestMarshaller(Raw.INSTANCE)
                .setResponseMarshaller(Raw.INSTANCE)
                .build();
    }

    /** Sends a frame around a ring of nodes, from this node to this node, and waits for the frame. */
    void ring(int nodes, int hops, int frameBytes) throws InterruptedException {
        byte[] frame = new byte[Math.max(frameBytes, CONTROL_BYTES)];
        frame[1] = (byte) hops;
        frame[2] = (byte) nodes;
        hop(frame);
        await();
    }

    /** Sends the bytes from one node to another, and waits until the bytes have arrived. Called on the first node. */
    void transfer(int from, int to) throws InterruptedException {
        if (from == index) {
            bulk.get(to).push();
        } else {
            frames.get(from).send(new byte[] {PUSH, (byte) to, 0});
        }
        await();
    }

    private void await() throws InterruptedException {
        Duration limit = SpeedNode.LIMIT;
        if (!done.tryAcquire(limit.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new IllegalStateException("bare gRPC gave no answer within " + limit);
        }
    }

    private void hop(byte[] frame) {
        if (frame[1]-- == 0) {
            done.release();
        } else {
            frames.get((index + 1) % frame[2]).send(frame);
        }
    }

    private void frame(InputStream message) {
        byte[] frame = new byte[available(message)];
        read(message, frame, 0, frame.length);
        switch (frame[0]) {
            case HOP -> hop(frame);
            case PUSH -> bulk.get(frame[1]).push();
            default -> done.release();
        }
    }

    private void chunk(InputStream message) {
        int length = available(message);
        read(message, memory, received, length);
        received += length;
        if (received == memory.length) {
            received = 0;
            if (index == 0) {
                done.release();
            } else {
                frames.getFirst().send(new byte[] {DONE, 0, 0});
            }
        }
    }

    private static int available(InputStream message) {
        try {
            return message.available();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void read(InputStream message, byte[] target, int at, int length) {
        try (message) {
            if (message.readNBytes(target, at, length) != length) {
                throw new IOException("a message ended early");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static ServerCallHandler<InputStream, InputStream> accept(Consumer<InputStream> handler) {
        return (call, _) -> {
            call.sendHeaders(new Metadata());
            call.request(1);
            return new ServerCall.Listener<>() {
                @Override
                public void onMessage(InputStream message) {
                    handler.accept(message);
                    call.request(1);
                }
            };
        };
    }

    @Override
    public void close() {
        channels.forEach(ManagedChannel::shutdownNow);
        server.shutdownNow();
    }

    /** A stream to a node. */
    private final class Stream extends ClientCall.Listener<InputStream> {
        private final ClientCall<InputStream, InputStream> call;
        private int sent = memory.length; // bytes; guarded by this, like the calls

        Stream(ManagedChannel channel, String name, int window) {
            call = channel.newCall(
                    method(name), CallOptions.DEFAULT.withWaitForReady().withOnReadyThreshold(window));
            call.start(this, new Metadata());
        }

        synchronized void send(byte[] frame) {
            call.sendMessage(new Message(frame, 0, frame.length));
        }

        synchronized void push() {
            sent = 0;
            onReady();
        }

        @Override
        public synchronized void onReady() {
            while (sent < memory.length && call.isReady()) {
                call.sendMessage(new Message(memory, sent, chunk));
                sent += chunk;
            }
        }
    }

    /** Bytes that gRPC takes without another copy. */
    private static final class Message extends ByteArrayInputStream implements Drainable {
        Message(byte[] bytes, int from, int length) {
            super(bytes, from, length);
        }

        @Override
        public int drainTo(OutputStream target) throws IOException {
            int length = count - pos;
            target.write(buf, pos, length);
            pos = count;
            return length;
        }
    }

    private enum Raw implements MethodDescriptor.Marshaller<InputStream> {
        INSTANCE;

        @Override
        public InputStream stream(InputStream value) {
            return value;
        }

        @Override
        public InputStream parse(InputStream stream) {
            return stream;
        }
    }
}
