package io.github.iree4j.cluster.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.cluster.transport.Ends.End;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.hal.remote.PeerStream;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.DataInputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** In one JVM over loopback, in plain text. */
class GrpcTransportTests {

    static final String HOST = "127.0.0.1";
    static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final List<GrpcTransport> opened = new ArrayList<>();
    private final Ends one = new Ends();
    private final Ends two = new Ends();

    static NodeIdentity identity(int incarnation) {
        return new NodeIdentity(1, incarnation, 1, incarnation);
    }

    private GrpcTransport open(Ends ends) {
        GrpcTransport transport = new GrpcTransport(TransportOptions.of(LOOPBACK, 0), ends);
        opened.add(transport);
        return transport;
    }

    @AfterEach
    void close() {
        opened.forEach(GrpcTransport::close);
    }

    /** Connects the first node to the second, and returns the second. */
    private ClusterMember connect() {
        GrpcTransport from = open(one);
        from.listen(identity(1), HOST);
        ClusterMember there = open(two).listen(identity(2), HOST);
        from.dial(there);
        return there;
    }

    @Test
    void framesArriveWholeAndInOrderOnEachStream() throws InterruptedException {
        long seed = Long.getLong("iree4j.test.seed", System.nanoTime());
        System.out.println("random: transport seed " + seed);
        connect();
        End near = Ends.take(one.dialed);
        End far = Ends.take(two.accepted);
        assertThat(far.peer.identity()).isEqualTo(identity(1));
        assertThat(near.peer.identity()).isEqualTo(identity(2));
        for (End[] way : new End[][] {{near, far}, {far, near}}) {
            for (PeerStream stream : PeerStream.values()) {
                int frames = 60;
                AtomicInteger arrived = new AtomicInteger();
                CountDownLatch all = new CountDownLatch(1);
                List<String> wrong = new ArrayList<>();
                way[1].check = (on, frame) -> {
                    int number = arrived.getAndIncrement();
                    ByteBuffer expected = content(seed, number, stream);
                    if (on != stream || !frame.equals(expected)) {
                        wrong.add("frame %d on %s has %d bytes, not %d"
                                .formatted(number, on, frame.remaining(), expected.remaining()));
                    }
                    if (number == frames - 1) {
                        all.countDown();
                    }
                };
                for (int number = 0; number < frames; number++) {
                    ByteBuffer content = content(seed, number, stream);
                    int head = Math.min(number % 7, content.remaining());
                    ByteBuffer rest = content.slice(head, content.remaining() - head);
                    ByteBuffer direct = ByteBuffer.allocateDirect(rest.remaining());
                    ByteBuffer body = number % 2 == 0 ? rest : direct.put(rest).flip();
                    way[0].send(stream, content.slice(0, head), body);
                }
                all.await();
                assertThat(wrong).isEmpty();
            }
        }
    }

    private static ByteBuffer content(long seed, int number, PeerStream stream) {
        Random random = new Random(seed + number);
        int[] sizes = {0, 1, 8, 300, 16 << 10, stream == PeerStream.BULK ? 256 << 10 : 40 << 10};
        byte[] bytes = new byte[sizes[random.nextInt(sizes.length)]];
        random.nextBytes(bytes);
        return ByteBuffer.wrap(bytes);
    }

    @Test
    void closingEndsBothSidesOnce() throws InterruptedException {
        connect();
        End near = Ends.take(one.dialed);
        End far = Ends.take(two.accepted);
        near.connection.close(IreeException.of(StatusCode.CANCELLED, "enough"));
        near.connection.close(IreeException.of(StatusCode.CANCELLED, "twice"));
        assertThat(Ends.take(near.closed)).hasMessageContaining("enough");
        assertThat(Ends.take(far.closed).code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(near.closed).isEmpty();
        assertThat(far.closed).isEmpty();
        assertThat(near.connection.trySend(PeerStream.QUEUE, NOTHING, NOTHING)).isTrue();
    }

    @Test
    void closingOnTheAcceptingSideSaysWhy() throws InterruptedException {
        connect();
        End near = Ends.take(one.dialed);
        Ends.take(two.accepted).connection.close(IreeException.of(StatusCode.CANCELLED, "enough"));
        assertThat(Ends.take(near.closed)).hasMessageContaining("enough");
    }

    @Test
    void aClosingTransportEndsItsConnections() throws InterruptedException {
        connect();
        End near = Ends.take(one.dialed);
        End far = Ends.take(two.accepted);
        opened.getLast().close();
        Ends.take(near.closed);
        Ends.take(far.closed);
    }

    @Test
    void aFrameOverTheLimitEndsTheConnection() throws InterruptedException {
        connect();
        End near = Ends.take(one.dialed);
        End far = Ends.take(two.accepted);
        AtomicInteger arrived = new AtomicInteger();
        far.check = (_, _) -> arrived.incrementAndGet();
        near.send(PeerStream.BULK, NOTHING, ByteBuffer.allocate((1 << 20) + (64 << 10) + 1));
        Ends.take(near.closed);
        Ends.take(far.closed);
        assertThat(arrived).hasValue(0);
    }

    @Test
    void aSlowReceiverMakesTheSenderWait() throws InterruptedException {
        connect();
        End near = Ends.take(one.dialed);
        End far = Ends.take(two.accepted);
        CountDownLatch go = new CountDownLatch(1);
        far.check = (_, _) -> {
            try {
                go.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        };
        ByteBuffer chunk = ByteBuffer.allocate(256 << 10);
        int sent = 0;
        near.ready.clear();
        while (near.connection.trySend(PeerStream.BULK, NOTHING, chunk.duplicate())) {
            assertThat(++sent).as("chunks that wait").isLessThan(200);
        }
        int before = sent;
        go.countDown();
        for (; sent < before + 100; sent++) {
            near.send(PeerStream.BULK, NOTHING, chunk);
        }
        assertThat(near.closed).isEmpty();
    }

    @Test
    @Tag("nightly")
    void howFastChunksAndSmallFramesAre() throws InterruptedException {
        connect();
        End near = Ends.take(one.dialed);
        End far = Ends.take(two.accepted);
        int chunks = 4000;
        CountDownLatch all = new CountDownLatch(2 * chunks);
        far.check = (_, _) -> all.countDown();
        ByteBuffer chunk = ByteBuffer.allocateDirect(256 << 10);
        long began = 0;
        for (int i = 0; i < 2 * chunks; i++) {
            if (i == chunks) {
                began = System.nanoTime();
            }
            near.send(PeerStream.BULK, NOTHING, chunk);
        }
        all.await();
        double seconds = (System.nanoTime() - began) / 1e9;
        System.out.println("random: %.0f MB/s in chunks".formatted(chunks * (double) chunk.capacity() / seconds / 1e6));
        BlockingQueue<Long> echoes = new LinkedBlockingQueue<>();
        ByteBuffer small = ByteBuffer.allocate(300);
        far.check = (stream, _) -> far.connection.trySend(stream, small.duplicate(), NOTHING);
        near.check = (_, _) -> echoes.add(System.nanoTime());
        long[] nanos = new long[20_000];
        for (int i = -nanos.length; i < nanos.length; i++) {
            long sent = System.nanoTime();
            near.send(PeerStream.QUEUE, small, NOTHING);
            long took = Ends.take(echoes) - sent;
            if (i >= 0) {
                nanos[i] = took;
            }
        }
        Arrays.sort(nanos);
        System.out.println("random: %d us there and back, median; %d us 99th percentile"
                .formatted(nanos[nanos.length / 2] / 1000, nanos[nanos.length * 99 / 100] / 1000));
    }

    @Test
    void aPortWhereNothingListensIsUnreachable() throws Exception {
        GrpcTransport from = open(one);
        from.listen(identity(1), HOST);
        int free;
        try (ServerSocket socket = new ServerSocket(0, 1, LOOPBACK)) {
            free = socket.getLocalPort();
        }
        from.dial(new ClusterMember(identity(2), HOST, free));
        assertThat(Ends.take(one.unreachable).code()).isEqualTo(StatusCode.UNAVAILABLE);
    }

    @Test
    void anotherNodeThanDialedIsNotConnected() throws InterruptedException {
        GrpcTransport from = open(one);
        from.listen(identity(1), HOST);
        ClusterMember there = open(two).listen(identity(2), HOST);
        from.dial(new ClusterMember(identity(3), there.host(), there.port()));
        assertThat(Ends.take(one.unreachable).code()).isEqualTo(StatusCode.NOT_FOUND);
        assertThat(one.dialed).isEmpty();
    }

    @Test
    void strangersWithoutHttp2AreDroppedAndOthersConnect() throws Exception {
        ClusterMember there = connect();
        Ends.take(two.accepted);
        try (Socket stranger = new Socket(LOOPBACK, there.port())) {
            stranger.setSoTimeout(30_000);
            stranger.getOutputStream().write(new byte[4096]);
            while (stranger.getInputStream().read() >= 0) {
                // The server's answer before the close.
            }
        } catch (SocketException e) {
            // Closed by a reset.
        }
        opened.getFirst().dial(there);
        Ends.take(two.accepted);
    }

    @Test
    void aPortInUseIsUnavailable() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, LOOPBACK)) {
            GrpcTransport transport = new GrpcTransport(TransportOptions.of(LOOPBACK, taken.getLocalPort()), one);
            opened.add(transport);
            assertThatThrownBy(() -> transport.listen(identity(1), HOST))
                    .isInstanceOfSatisfying(IreeException.class, e -> {
                        assertThat(e.code()).isEqualTo(StatusCode.UNAVAILABLE);
                        assertThat(e).hasMessageContaining(String.valueOf(taken.getLocalPort()));
                    });
        }
    }

    @Test
    void plainTextOffLoopbackIsRefused() throws Exception {
        InetAddress reachable = InetAddress.getByName("0.0.0.0");
        assertThatThrownBy(() -> TransportOptions.of(reachable, 0))
                .hasMessageContaining("iree.cluster.ssl.bundle")
                .hasMessageContaining("iree.cluster.insecure=true");
    }

    static TransportOptions connectingWithin(Duration time) {
        TransportOptions usual = TransportOptions.of(LOOPBACK, 0);
        return new TransportOptions(
                usual.address(),
                usual.port(),
                null,
                false,
                usual.maximumFrameBytes(),
                usual.queueWindow(),
                usual.bulkWindow(),
                false,
                time,
                usual.keepAlive(),
                usual.keepAliveTimeout(),
                usual.resumeTimeout());
    }

    @Test
    void aSilentPeerIsGivenUpHoweverShortTheTime() throws Exception {
        TransportOptions hasty = connectingWithin(Duration.ofNanos(1));
        try (ServerSocket silent = new ServerSocket(0, 10, LOOPBACK);
                GrpcTransport from = new GrpcTransport(hasty, one)) {
            from.listen(identity(1), HOST);
            for (int i = 0; i < 5; i++) {
                from.dial(new ClusterMember(identity(2), HOST, silent.getLocalPort()));
                assertThat(Ends.take(one.unreachable).code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
            }
        }
    }

    /** The peer speaks HTTP/2 and answers signs of life, so only idleness sets it apart. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aConnectionWithoutStreamsEnds() throws Exception {
        TransportOptions hasty = connectingWithin(Duration.ofMillis(100));
        GrpcTransport transport = new GrpcTransport(hasty, one);
        opened.add(transport);
        ClusterMember there = transport.listen(identity(1), HOST);
        try (Socket idle = new Socket(LOOPBACK, there.port())) {
            idle.getOutputStream().write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            idle.getOutputStream().write(http2(4, 0, new byte[0]));
            DataInputStream from = new DataInputStream(idle.getInputStream());
            List<Integer> types = new ArrayList<>();
            for (int first = from.read(); first >= 0; first = from.read()) {
                int length = first << 16 | from.readUnsignedShort();
                int type = from.readUnsignedByte();
                int flags = from.readUnsignedByte();
                from.readInt();
                byte[] content = from.readNBytes(length);
                types.add(type);
                if ((type == 4 || type == 6) && (flags & 1) == 0) { // SETTINGS and PING want an answer
                    idle.getOutputStream().write(http2(type, 1, type == 6 ? content : new byte[0]));
                }
            }
            assertThat(types).as("a GOAWAY among them").contains(7);
        }
        assertThat(one.accepted).isEmpty();
    }

    private static byte[] http2(int type, int flags, byte[] content) {
        return ByteBuffer.allocate(9 + content.length)
                .putShort((short) 0)
                .put((byte) content.length)
                .put((byte) type)
                .put((byte) flags)
                .putInt(0)
                .put(content)
                .array();
    }
}
