package io.github.iree4j.hal.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.remote.Loopback.Link;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** REMOTE-1: a session fails as a whole, whatever any part throws, and whatever begins at the same moment. */
@Timeout(60)
class WholeFailureTest {
    private static final int LANES = 2000; // opening them takes a while, and so does failing them
    private static final IreeException LOST = IreeException.of(StatusCode.UNAVAILABLE, "left the view");

    private final TestNodes nodes = new TestNodes();
    private final Loopback loopback = new Loopback(1);
    private final List<AutoCloseable> opened = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        loopback.start(); // devices wait for their work
        for (AutoCloseable each : opened.reversed()) {
            each.close();
        }
        nodes.close();
        loopback.stop();
    }

    private Device far(RemoteNode client, int node) {
        RemoteSession session = client.session(node);
        DeviceOptions options = DeviceOptions.builder()
                .queueCount(2)
                .schedulingDomain(client.domain())
                .build();
        Device device = session.openDevice(session.devices().getFirst().id(), options);
        opened.add(device);
        return device;
    }

    private TimelineSemaphore fill(Device device, @Nullable TimelineSemaphore after) {
        Buffer buffer = device.allocator().allocate(new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT), 64);
        opened.add(buffer);
        TimelineSemaphore done = TimelineSemaphore.create(0);
        opened.add(done);
        try (Fence wait = after == null ? null : Fence.at(after, 1);
                Fence signal = Fence.at(done, 1)) {
            device.queue(0).fill(wait, signal, buffer, 0, 64, 1, 1, 0);
        }
        return done;
    }

    /** Node 3 has asked about work of both devices of node 2, and the connection for the answer breaks. */
    @Test
    void allDevicesAndTheListenerLearnOfAFailureUnknownToAnotherPeer() {
        RemoteNode client = nodes.node(1);
        Link toSecond = loopback.connect(client, nodes.node(2));
        loopback.connect(client, nodes.node(3), (_, frame) -> {
            if (frame[0] == FrameType.TELL.number) {
                throw new IllegalStateException("a transport that throws");
            }
        });
        loopback.run();
        toSecond.hold(PeerStream.QUEUE, true);
        List<Device> lost = List.of(far(client, 2), far(client, 2));
        for (Device each : lost) {
            fill(far(client, 3), fill(each, null));
        }
        loopback.run();
        loopback.cut(toSecond);
        loopback.run();
        assertThat(nodes.events).contains("1: failed UNAVAILABLE 2");
        for (Device each : lost) {
            while (each.failure().isEmpty()) {
                assertThat(Thread.interrupted()).as("too late").isFalse();
            }
        }
        client.fail(3, LOST); // with work behind something never reported
    }

    @Test
    void theListenerLearnsOfAFailureWhateverTheConnectionThrows() {
        PeerListener session = nodes.node(2).accept(new Accepted(() -> {}, () -> {
            throw new IllegalStateException("a transport that throws");
        }));
        session.closed(LOST);
        assertThat(nodes.events).containsExactly("2: failed UNAVAILABLE ?");
    }

    @Test
    void aDeviceOpeningIsLostWithItsSession() throws InterruptedException {
        for (int round = 0; round < Effort.rounds(100); round++) {
            AtomicInteger lanes = new AtomicInteger();
            CountDownLatch opening = new CountDownLatch(1);
            Loopback network = new Loopback(round);
            try (TestNodes two = new TestNodes()) {
                RemoteNode client = two.node(1);
                network.connect(client, two.node(2), (_, frame) -> {
                    if (frame[0] == FrameType.OPEN_LANE.number && lanes.incrementAndGet() == LANES / 2) {
                        opening.countDown();
                    }
                });
                network.run();
                Thread failing = Thread.ofPlatform().start(() -> {
                    try {
                        opening.await();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                    client.fail(2, LOST);
                });
                RemoteDriver driver = new RemoteDriver(client.session(2), 0, LANES);
                failing.join();
                assertThat(driver.isLost()).isTrue();
                assertThat(two.events).contains("1: failed UNAVAILABLE 2");
            }
        }
    }

    /** A connection whose peer is asked for during the admission of the session, closed after a failed admission. */
    private record Accepted(Runnable admitting, Runnable closing) implements PeerConnection {
        @Override
        public boolean trySend(PeerStream stream, ByteBuffer head, ByteBuffer body) {
            return true;
        }

        @Override
        public void close(IreeException cause) {
            closing.run();
        }

        @Override
        public String describe() {
            return "accepted";
        }

        @Override
        public @Nullable NodeIdentity peer() {
            admitting.run();
            return null;
        }
    }

    /** Frames of a peer without a device. */
    private static ByteBuffer hello(NodeIdentity peer) {
        FrameWriter frame = new FrameWriter(FrameType.HELLO);
        new Hello(peer, 0, new Hello.Limits(1 << 18, 1024, 1 << 16), List.of(), List.of()).write(frame);
        ByteBuffer bytes = frame.finish();
        bytes.putInt(FrameWriter.NUMBER, 1);
        return bytes;
    }

    @Test
    void aPeerIsNotAdmittedForAFailedSession() throws InterruptedException {
        RemoteNode node = nodes.node(2);
        List<RemoteSession> session = new ArrayList<>();
        Thread closing =
                Thread.ofPlatform().unstarted(() -> session.getFirst().wire().closed(LOST));
        Runnable admitting = () -> {
            closing.start();
            while (session.getFirst().failure() == null || closing.getState() != Thread.State.BLOCKED) {
                Thread.onSpinWait(); // until the node is due for the notice, which admits the peer
            }
        };
        session.add(new RemoteSession(node, new Accepted(admitting, () -> {})));
        session.getFirst().wire().received(PeerStream.CONTROL, hello(new NodeIdentity(TestNodes.CLUSTER, 1, 1, 1)));
        closing.join();
        assertThat(node.sessions()).isEmpty();
        assertThat(node.failures()).as("the peer may come again").isEmpty();
        assertThat(nodes.events).containsExactly("2: failed UNAVAILABLE ?");
        loopback.connect(nodes.node(1), node);
        loopback.run();
        assertThat(node.session(1).isOpen()).isTrue();
    }

    @Test
    void aSessionFailingDuringTheAdmissionOfItsPeerLeavesNothing() throws Exception {
        RemoteNode node = nodes.node(new NodeIdentity(TestNodes.CLUSTER, 200, 1, 1 << 20), RemoteOptions.DEFAULTS);
        CyclicBarrier start = new CyclicBarrier(2);
        for (int round = 0; round < Effort.rounds(1000); round++) {
            RemoteSession session = new RemoteSession(node, new Accepted(() -> {}, () -> {}));
            ByteBuffer hello =
                    hello(new NodeIdentity(TestNodes.CLUSTER, round % 100, 1 + round / 100, 1 + round)); // none twice
            Thread closing = Thread.ofPlatform().start(() -> {
                try {
                    start.await();
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
                session.wire().closed(LOST);
            });
            start.await();
            session.wire().received(PeerStream.CONTROL, hello);
            closing.join();
            assertThat(node.sessions()).isEmpty();
            AtomicBoolean over = new AtomicBoolean();
            session.whenOpen(List.of(() -> over.set(true)));
            assertThat(over).as("nobody waits for it to open").isTrue();
        }
    }
}
