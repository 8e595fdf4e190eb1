package io.github.iree4j.hal.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.remote.Loopback.Link;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A draining node finishes accepted work and refuses the rest. */
@Timeout(120)
class RemoteDrainTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final ThreeCpus cluster = new ThreeCpus(13, 1);
    private final List<RemoteNode> nodes = cluster.nodes;
    private final List<Link> links = cluster.links;
    private final List<Device> far = List.of(cluster.far(2, 1), cluster.far(3, 1));

    @AfterEach
    void close() throws Exception {
        cluster.close();
    }

    @Test
    void acceptedWorkEndsAndCanBeReadAndLaterWorkIsRefused() throws InterruptedException {
        RemoteNode last = nodes.getLast();
        BufferParams params = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);
        try (Buffer there = far.getFirst().allocator().allocate(params, 64);
                Buffer buffer = far.getLast().allocator().allocate(params, 64);
                TimelineSemaphore line = TimelineSemaphore.create(0);
                TimelineSemaphore late = TimelineSemaphore.create(0);
                Fence first = Fence.at(line, 1);
                Fence second = Fence.at(line, 2);
                Fence refused = Fence.at(late, 1)) {
            links.getFirst().hold(PeerStream.QUEUE, true); // node 2 gets its part later
            far.getFirst().queue(0).fill(null, first, there, 0, 64, 1, 1, 0);
            far.getLast().queue(0).fill(first, second, buffer, 0, 64, 2, 1, 0);
            while (last.session(1).statistics().commandsOfPeer() == 0) {
                Thread.onSpinWait(); // until it is read
            }
            awaitRoundTrip(nodes.getFirst().session(3)); // a single thread takes all frames: the session is accepted
            last.goAway("it stops");
            assertThat(last.isDraining()).isTrue();
            assertThat(last.awaitQuiet(Duration.ofMillis(1)))
                    .as("a command waits")
                    .isFalse();
            far.getLast().queue(0).fill(null, refused, buffer, 0, 64, 3, 1, 0);
            links.getFirst().hold(PeerStream.QUEUE, false);
            second.await(LIMIT);
            assertThatThrownBy(() -> refused.await(LIMIT))
                    .isInstanceOfSatisfying(
                            IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.UNAVAILABLE))
                    .hasMessageContaining("it stops");
            byte[] bytes = new byte[64];
            buffer.read(0, MemorySegment.ofArray(bytes));
            assertThat(bytes).containsOnly(2);
            assertThat(last.awaitQuiet(LIMIT)).isTrue();
            assertThat(last.session(1).statistics().commandsOfPeer()).isZero();
        }
    }

    /** REMOTE-9: whoever makes a refused call again must not choose the same node again; the streams of a connection have no order. */
    @Test
    void aRefusedPeerKnowsThatTheNodeDrains() throws InterruptedException {
        Link back = links.get(1).back;
        BufferParams params = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);
        try (Buffer buffer = far.getLast().allocator().allocate(params, 64);
                TimelineSemaphore line = TimelineSemaphore.create(0);
                Fence refused = Fence.at(line, 1)) {
            back.hold(PeerStream.CONTROL, true);
            nodes.getLast().goAway("it stops");
            far.getLast().queue(0).fill(null, refused, buffer, 0, 64, 3, 1, 0);
            assertThatThrownBy(() -> refused.await(LIMIT)).hasMessageContaining("it stops");
            assertThat(far.getLast().draining()).isPresent();
            back.hold(PeerStream.CONTROL, false);
        }
    }

    /** A node may stop before the end of its peers' work, when the allowed time is over. */
    @Test
    void aDeviceClosedByItsNodeIsUnavailable() {
        BufferParams params = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);
        try (Buffer buffer = far.getLast().allocator().allocate(params, 64);
                TimelineSemaphore line = TimelineSemaphore.create(0);
                Fence refused = Fence.at(line, 1)) {
            awaitRoundTrip(nodes.getFirst().session(3));
            cluster.cpus.getLast().close();
            far.getLast().queue(0).fill(null, refused, buffer, 0, 64, 3, 1, 0);
            assertThatThrownBy(() -> refused.await(LIMIT))
                    .isInstanceOfSatisfying(
                            IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.UNAVAILABLE))
                    .hasMessageContaining("is closed")
                    .hasMessageContaining(": the node stops");
        }
    }

    @Test
    void waitingWorkOnADeviceClosedByItsNodeIsUnavailable() {
        BufferParams params = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);
        try (Buffer there = far.getFirst().allocator().allocate(params, 64);
                Buffer buffer = far.getLast().allocator().allocate(params, 64);
                TimelineSemaphore line = TimelineSemaphore.create(0);
                Fence first = Fence.at(line, 1);
                Fence second = Fence.at(line, 2)) {
            links.getFirst().hold(PeerStream.QUEUE, true); // node 2 gets its part later
            far.getFirst().queue(0).fill(null, first, there, 0, 64, 1, 1, 0);
            far.getLast().queue(0).fill(first, second, buffer, 0, 64, 2, 1, 0);
            while (nodes.getLast().session(1).statistics().commandsOfPeer() == 0) {
                Thread.onSpinWait(); // until the command is read
            }
            awaitRoundTrip(nodes.getFirst().session(3));
            cluster.cpus.getLast().close();
            links.getFirst().hold(PeerStream.QUEUE, false);
            assertThatThrownBy(() -> second.await(LIMIT))
                    .isInstanceOfSatisfying(
                            IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.UNAVAILABLE))
                    .hasMessageContaining("the node stops");
        }
    }

    /**
     * A stopping application closes devices of other nodes; other threads of the application may still read results.
     */
    @Test
    void aReaderOfMemoryOfAClosedDeviceMayCallAgain() {
        BufferParams params = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);
        try (Buffer buffer = far.getLast().allocator().allocate(params, 64)) {
            far.getLast().close();
            MemorySegment bytes = MemorySegment.ofArray(new byte[64]);
            for (ThrowingCallable each :
                    List.<ThrowingCallable>of(() -> buffer.read(0, bytes), () -> buffer.write(0, bytes))) {
                assertThatThrownBy(each)
                        .isInstanceOfSatisfying(
                                IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.ABORTED))
                        .hasMessageContaining("was closed with its memory");
            }
        }
    }

    private static void awaitRoundTrip(RemoteSession session) {
        session.measure();
        while (session.statistics().roundTripNanos() == 0) {
            Thread.onSpinWait();
        }
    }

    @Test
    void aRoundTripIsMeasured() {
        RemoteSession session = nodes.getFirst().session(2);
        assertThat(session.statistics().roundTripNanos()).isZero();
        awaitRoundTrip(session);
        assertThat(session.statistics().roundTripNanos()).isLessThan(LIMIT.toNanos());
    }

    @Test
    void anUnrequestedAnswerEndsTheSession() {
        RemoteSession session = nodes.getFirst().session(2);
        session.post(new FrameWriter(FrameType.PONG).u64(1));
        while (session.failure() == null) {
            Thread.onSpinWait();
        }
        assertThat(nodes.get(1).failures()).containsKey(1L);
        assertThat(nodes.get(1).failures().get(1L).code()).isEqualTo(StatusCode.DATA_LOSS);
        assertThat(nodes.get(1).failedAxes()).containsKey(1L);
    }

    @Test
    void idsOfDevicesNameTheirMachine() {
        assertThat(far).extracting(Device::id).containsExactly("local@m2.s1", "local@m3.s1");
    }
}
