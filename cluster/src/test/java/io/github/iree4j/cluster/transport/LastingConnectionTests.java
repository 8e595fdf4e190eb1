package io.github.iree4j.cluster.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.cluster.transport.Ends.End;
import io.github.iree4j.hal.remote.PeerStream;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Connections over a network with resets, silence, or a lost node. */
@Timeout(120)
class LastingConnectionTests {
    private static final Duration FOR_EVER = Duration.ofHours(1);
    private static final int RESETS = 25;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final List<AutoCloseable> opened = new ArrayList<>();
    private final Ends one = new Ends();
    private final Ends two = new Ends();
    private GrpcTransport from;
    private GrpcTransport to;
    private Relay relay;
    private End near;
    private End far;

    /** Connects the first node to the second through a relay. */
    private void connect(Duration limit) throws IOException, InterruptedException {
        TransportOptions options =
                TransportOptions.of(GrpcTransportTests.LOOPBACK, 0).withResumeTimeout(limit);
        from = new GrpcTransport(options, one);
        to = new GrpcTransport(options, two);
        opened.addAll(List.of(from, to));
        from.listen(GrpcTransportTests.identity(1), GrpcTransportTests.HOST);
        ClusterMember there = to.listen(GrpcTransportTests.identity(2), GrpcTransportTests.HOST);
        relay = new Relay(there.port());
        opened.addFirst(relay);
        from.dial(new ClusterMember(there.identity(), there.host(), relay.port()));
        near = Ends.take(one.dialed);
        far = Ends.take(two.accepted);
        CountDownLatch greeted = new CountDownLatch(1); // until then the dialing side may not know of the connection
        far.check = (_, _) -> greeted.countDown();
        near.send(PeerStream.CONTROL, ByteBuffer.wrap(new byte[1]), NOTHING);
        greeted.await();
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : opened) {
            each.close();
        }
    }

    /** One way of a single stream: numbered frames of random lengths, checked on arrival. */
    private static final class Way {
        private final long seed;
        private final int frames;
        private final AtomicInteger arrived = new AtomicInteger();
        private final AtomicReference<String> wrong = new AtomicReference<>();
        private final CountDownLatch all = new CountDownLatch(1);

        Way(long seed, int frames) {
            this.seed = seed;
            this.frames = frames;
        }

        private ByteBuffer content(int number, int most) {
            Random random = new Random(seed + number);
            byte[] bytes = new byte[random.nextInt(10) == 0 ? random.nextInt(most) : random.nextInt(100)];
            random.nextBytes(bytes);
            return ByteBuffer.wrap(bytes);
        }

        void check(ByteBuffer frame, int most) {
            int number = arrived.getAndIncrement();
            ByteBuffer expected = content(number, most);
            if (!frame.equals(expected)) {
                wrong.compareAndSet(
                        null,
                        "frame %d has %d bytes, not %d".formatted(number, frame.remaining(), expected.remaining()));
            }
            if (number == frames - 1) {
                all.countDown();
            }
        }
    }

    private static int most(PeerStream stream) {
        return stream == PeerStream.BULK ? 256 << 10 : 4 << 10;
    }

    @Test
    void framesArriveOnceAndInOrderWhateverIsReset() throws Exception {
        long seed = Long.getLong("iree4j.test.seed", System.nanoTime());
        System.out.println("random: LastingConnectionTests: resets from seed " + seed);
        Random random = new Random(seed);
        connect(FOR_EVER);
        List<Way> ways = new ArrayList<>();
        List<Thread> senders = new ArrayList<>();
        for (End[] way : new End[][] {{near, far}, {far, near}}) {
            Way[] streams = new Way[PeerStream.values().length];
            for (PeerStream stream : PeerStream.values()) {
                Way made = new Way(random.nextLong(), stream == PeerStream.CONTROL ? 500 : 3000);
                streams[stream.ordinal()] = made;
                ways.add(made);
                senders.add(Thread.ofVirtual().unstarted(() -> send(way[0], stream, made)));
            }
            way[1].check = (stream, frame) -> streams[stream.ordinal()].check(frame, most(stream));
        }
        senders.forEach(Thread::start);
        int resets = 0;
        for (Way each : ways) {
            while (!each.all.await(resets < RESETS ? random.nextInt(1, 200) : 1000, TimeUnit.MILLISECONDS)) {
                if (resets < RESETS) {
                    relay.reset();
                    resets++;
                }
            }
        }
        System.out.println("random: LastingConnectionTests: %d resets".formatted(resets));
        assertThat(ways).allSatisfy(each -> {
            assertThat(each.wrong.get()).isNull();
            assertThat(each.arrived.get()).isEqualTo(each.frames);
        });
        assertThat(near.closed).isEmpty();
        assertThat(far.closed).isEmpty();
    }

    private static void send(End end, PeerStream stream, Way way) {
        for (int number = 0; number < way.frames; number++) {
            ByteBuffer content = way.content(number, most(stream));
            while (!end.connection.trySend(stream, content.duplicate(), NOTHING)) {
                LockSupport.parkNanos(100_000); // ready() is tested below
            }
        }
    }

    @Test
    void aSenderRefusedDuringAnInterruptionIsReadyAfterwards() throws Exception {
        connect(FOR_EVER);
        relay.silence(true);
        from.doubt(near.peer, IreeException.of(StatusCode.UNAVAILABLE, "doubted"));
        near.ready.clear();
        assertThat(near.connection.trySend(PeerStream.QUEUE, ByteBuffer.wrap(new byte[1]), NOTHING))
                .isFalse();
        CountDownLatch heard = new CountDownLatch(1);
        far.check = (_, _) -> heard.countDown();
        relay.silence(false);
        near.send(PeerStream.QUEUE, ByteBuffer.wrap(new byte[1]), NOTHING); // waits for ready()
        heard.await();
        assertThat(near.closed).isEmpty();
    }

    @Test
    void aDoubtOfEitherSideLosesNothing() throws Exception {
        connect(FOR_EVER);
        CountDownLatch heard = new CountDownLatch(40);
        near.check = (_, _) -> heard.countDown();
        far.check = (_, _) -> heard.countDown();
        IreeException doubt = IreeException.of(StatusCode.UNAVAILABLE, "left the view");
        for (int i = 0; i < 20; i++) {
            near.send(PeerStream.QUEUE, ByteBuffer.wrap(new byte[1]), NOTHING);
            (i % 2 == 0 ? from : to).doubt(i % 2 == 0 ? near.peer : far.peer, doubt);
            far.send(PeerStream.QUEUE, ByteBuffer.wrap(new byte[1]), NOTHING);
        }
        heard.await();
        assertThat(near.closed).isEmpty();
        assertThat(far.closed).isEmpty();
    }

    @Test
    void aClosingPeerEndsTheConnectionAtOnce() throws Exception {
        connect(FOR_EVER);
        far.connection.close(IreeException.of(StatusCode.CANCELLED, "enough"));
        assertThat(Ends.take(near.closed)).hasMessageContaining("enough");
        connect(FOR_EVER);
        near.connection.close(IreeException.of(StatusCode.CANCELLED, "enough"));
        Ends.take(far.closed);
    }

    @Test
    void aPeerClosingDuringAnInterruptionEndsTheConnectionSoon() throws Exception {
        IreeException enough = IreeException.of(StatusCode.CANCELLED, "enough");
        for (int round = 0; round < 10; round++) {
            connect(FOR_EVER);
            from.doubt(near.peer, IreeException.of(StatusCode.UNAVAILABLE, "doubted"));
            (round % 2 == 0 ? near : far).connection.close(enough);
            Ends.take(near.closed);
            Ends.take(far.closed);
        }
    }

    @Test
    void bothSidesNoticeTheEndOfTheOtherProcess() throws Exception {
        connect(FOR_EVER);
        relay.close(); // nobody listens there any more
        assertThat(Ends.take(near.closed)).hasMessageContaining("Connection refused");
        from.close();
        assertThat(Ends.take(far.closed)).hasMessageContaining("Connection refused");
    }

    @Test
    void anInterruptionBeyondTheLimitEndsTheConnection() throws Exception {
        connect(Duration.ofMillis(300));
        relay.silence(true);
        IreeException doubt = IreeException.of(StatusCode.UNAVAILABLE, "doubted");
        from.doubt(near.peer, doubt);
        to.doubt(far.peer, doubt);
        assertThat(Ends.take(near.closed))
                .hasMessageContaining("doubted")
                .hasMessageContaining("no other connection within 300 ms");
        assertThat(Ends.take(far.closed)).hasMessageContaining("no other connection within 300 ms");
    }

    @Test
    void withoutALimitTheFirstInterruptionEndsTheConnection() throws Exception {
        connect(Duration.ZERO);
        relay.reset();
        Ends.take(near.closed);
        Ends.take(far.closed);
    }

    @Test
    void aForgetfulPeerEndsTheConnection() throws Exception {
        connect(FOR_EVER);
        CountDownLatch heard = new CountDownLatch(1);
        far.check = (_, _) -> heard.countDown();
        near.send(PeerStream.QUEUE, ByteBuffer.wrap(new byte[1]), NOTHING);
        heard.await();
        relay.silence(true);
        far.connection.close(IreeException.of(StatusCode.CANCELLED, "the other side does not hear this"));
        Ends.take(far.closed);
        relay.silence(false);
        assertThat(Ends.take(near.closed))
                .hasMessageContaining("no such connection to continue")
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.UNAVAILABLE));
    }

    @Test
    void impossibleCountsEndTheConnection() throws Exception {
        for (long count : new long[] {-1, 1, Long.MAX_VALUE, Long.MIN_VALUE}) {
            LastingStream stream = new LastingStream(PeerStream.QUEUE);
            assertThat(stream.attach(null, count))
                    .as("%d frames of none", count)
                    .isFalse();
        }
        assertThat(new LastingStream(PeerStream.QUEUE).attach(null, 0)).isTrue();
    }

    @Test
    void interruptionsWithoutProgressCountAsOne() throws Exception {
        connect(Duration.ofSeconds(1));
        relay.passAtMost(20_000);
        near.send(PeerStream.BULK, ByteBuffer.wrap(new byte[256 << 10]), NOTHING);
        assertThat(Ends.take(near.closed)).hasMessageContaining("no other connection within 1 s");
        Ends.take(far.closed);
    }

    /** The streams end as by a reset, again with each carrier. */
    @Test
    void aFrameOverTheLimitEndsAnEstablishedConnection() throws Exception {
        ByteBuffer tooLong = ByteBuffer.wrap(
                new byte[TransportOptions.of(GrpcTransportTests.LOOPBACK, 0).maximumFrameBytes() + 1]);
        for (boolean dialing : new boolean[] {true, false}) {
            connect(Duration.ofSeconds(1));
            (dialing ? near : far).send(PeerStream.BULK, tooLong, NOTHING);
            Ends.take(near.closed);
            Ends.take(far.closed);
        }
    }

    /** A stream without a network. */
    private static final class Nowhere implements StreamEnd {
        private final List<Nowhere> all;
        private volatile boolean ended;

        Nowhere(List<Nowhere> all) {
            this.all = all;
            all.add(this);
        }

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void send(InputStream message) {}

        @Override
        public void request() {}

        @Override
        public void finish(Status status) {
            ended = true;
        }

        @Override
        public void end(Status status) {
            ended = true;
        }
    }

    private static GrpcConnection nowhere(List<Nowhere> streams, ScheduledExecutorService timer) {
        return new GrpcConnection(
                "nowhere", List.of(new Nowhere(streams), new Nowhere(streams), new Nowhere(streams)), timer, () -> {});
    }

    @Test
    void memoryOfAcknowledgedFramesIsUsedAgainWhateverSizesCameBefore() {
        LastingStream stream = new LastingStream(PeerStream.BULK);
        GrpcConnection carrier = nowhere(new ArrayList<>(), null);
        stream.attach(carrier, 0);
        int[] sizes = {20_000, 256 << 10, 30_000, 256 << 10};
        long sent = 0;
        for (int size : sizes) {
            for (int i = 0; i < 40; i++) { // more than are kept
                assertThat(stream.trySend(ByteBuffer.wrap(new byte[size]), NOTHING))
                        .isTrue();
                sent++;
            }
            assertThat(stream.acknowledged(carrier, sent)).isTrue();
            int kept = stream.spareArrays();
            assertThat(kept).isBetween(1, 16);
            assertThat(stream.trySend(ByteBuffer.wrap(new byte[size]), NOTHING)).isTrue();
            assertThat(stream.spareArrays()).as("frames of %d bytes", size).isEqualTo(kept - 1);
            sent++;
            assertThat(stream.acknowledged(carrier, sent)).isTrue();
            assertThat(stream.spareArrays()).isEqualTo(kept);
        }
    }

    @Test
    void anInterruptionWithoutAThreadForFurtherAttemptsEndsTheConnection() throws Exception {
        ClusterMember peer = new ClusterMember(GrpcTransportTests.identity(2), GrpcTransportTests.HOST, 7);
        for (int failing = 1; failing <= 2; failing++) {
            AtomicInteger left = new AtomicInteger(failing);
            try (ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1) {
                @Override
                public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
                    if (left.decrementAndGet() == 0) {
                        throw new InternalError("no thread");
                    }
                    return super.schedule(task, delay, unit);
                }
            }) {
                LastingConnections connections = new LastingConnections(FOR_EVER, timer, _ -> {}, _ -> {});
                GrpcConnection carrier = nowhere(new ArrayList<>(), timer);
                LastingConnection lasting = Objects.requireNonNull(connections.dialed(new byte[16], peer, carrier));
                End session = new End(lasting, peer);
                lasting.start(session);
                carrier.ended(Status.UNAVAILABLE);
                assertThat(Ends.take(session.closed)).hasMessageContaining("no thread");
                timer.shutdownNow();
            }
        }
    }

    /** The dialing side gave the first attempt up; the accepting side is late and sees both. */
    @Test
    void anAbandonedAttemptDoesNotReplaceALaterAttempt() throws Exception {
        ClusterMember peer = new ClusterMember(GrpcTransportTests.identity(1), GrpcTransportTests.HOST, 7);
        byte[] request = new byte[40];
        List<Nowhere> former = new ArrayList<>();
        List<Nowhere> given = new ArrayList<>();
        List<Nowhere> later = new ArrayList<>();
        try (ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor()) {
            LastingConnections connections = new LastingConnections(FOR_EVER, timer, _ -> {}, _ -> {});
            GrpcConnection first = nowhere(former, timer);
            LastingConnection lasting =
                    Objects.requireNonNull(connections.accepted(ByteBuffer.wrap(new byte[16]), peer, first));
            End session = new End(lasting, peer);
            AtomicInteger heard = new AtomicInteger();
            session.check = (_, _) -> heard.incrementAndGet();
            lasting.start(session);
            first.received(PeerStream.CONTROL, new ByteArrayInputStream(new byte[] {0, 7}));
            LastingConnections.Resumption early = Objects.requireNonNull(connections.resume(peer, request));
            LastingConnections.Resumption late = Objects.requireNonNull(connections.resume(peer, request));
            GrpcConnection next = nowhere(later, timer);
            late.by(next);
            early.by(nowhere(given, timer));
            next.received(PeerStream.QUEUE, new ByteArrayInputStream(new byte[] {1}));
            assertThat(heard).hasValue(2);
            assertThat(former).allMatch(each -> each.ended);
            assertThat(given).allMatch(each -> each.ended);
            assertThat(later).noneMatch(each -> each.ended);
            assertThat(lasting.trySend(PeerStream.QUEUE, ByteBuffer.wrap(new byte[1]), NOTHING))
                    .isTrue();
            timer.shutdownNow();
        }
    }

    @Test
    void onlyTheDialingPeerContinuesAConnection() {
        ClusterMember peer = new ClusterMember(GrpcTransportTests.identity(1), GrpcTransportTests.HOST, 7);
        ClusterMember other = new ClusterMember(GrpcTransportTests.identity(3), GrpcTransportTests.HOST, 7);
        List<Nowhere> streams = new ArrayList<>();
        LastingConnections connections = new LastingConnections(FOR_EVER, null, _ -> {}, _ -> {});
        byte[] accepted = new byte[16];
        byte[] dialed = new byte[16];
        dialed[0] = 1;
        connections.accepted(ByteBuffer.wrap(accepted), peer, nowhere(streams, null));
        connections.dialed(dialed, peer, nowhere(streams, null));
        assertThat(connections.accepted(ByteBuffer.wrap(accepted), other, nowhere(streams, null)))
                .as("with a number in use")
                .isNull();
        byte[] request = Arrays.copyOf(accepted, 40);
        assertThat(connections.resume(other, request)).isNull();
        assertThat(connections.resume(peer, Arrays.copyOf(dialed, 40))).isNull();
        for (int length : new int[] {0, 1, 15, 16, 39, 41, 4096}) {
            assertThat(connections.resume(peer, Arrays.copyOf(request, length))).isNull();
        }
        request[15] = 1;
        assertThat(connections.resume(peer, request)).as("an unknown number").isNull();
        request[15] = 0;
        assertThat(connections.resume(peer, request)).isNotNull();
    }
}
