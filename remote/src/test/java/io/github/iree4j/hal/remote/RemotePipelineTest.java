package io.github.iree4j.hal.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.SemaphoreOptions;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.remote.Loopback.Link;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Work for several nodes, submitted at once. */
@Timeout(120)
class RemotePipelineTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final ThreeCpus cluster = new ThreeCpus(7, 2);
    private final List<RemoteNode> nodes = cluster.nodes;
    private final List<Link> links = cluster.links;

    private Device far(int node) {
        return cluster.far(node, 2);
    }

    @AfterEach
    void close() throws Exception {
        cluster.close();
    }

    @Test
    void aPipelineOverTwoOtherNodesIsSubmittedAtOnceAndTheNodesWaitForEachOther() {
        Device two = far(2);
        Device three = far(3);
        int stages = 64;
        try (TimelineSemaphore line = TimelineSemaphore.create(SemaphoreOptions.DEFAULTS);
                Buffer a =
                        two.allocator().allocate(new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT), 64);
                Buffer b = three.allocator()
                        .allocate(new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT), 64)) {
            RemoteSession between = nodes.get(1).session(3);
            long already = between.statistics().framesSent();
            links.getFirst().hold(PeerStream.QUEUE, true); // node 2 has nothing of it yet
            try (Fence first = Fence.at(line, 1)) {
                two.queue(0).fill(null, first, a, 0, 64, 1, 1, 0);
            }
            for (int i = 1; i < stages; i++) {
                try (Fence before = Fence.at(line, i);
                        Fence after = Fence.at(line, i + 1)) {
                    boolean even = i % 2 == 0;
                    (even ? two : three).queue(0).fill(before, after, even ? a : b, 0, 64, i + 1, 1, 0);
                }
            }
            assertThat(line.value()).isZero();
            links.getFirst().hold(PeerStream.QUEUE, false);
            line.await(stages, LIMIT);
            byte[] bytes = new byte[64];
            a.read(0, MemorySegment.ofArray(bytes));
            assertThat(bytes).containsOnly(stages - 1);
            b.read(0, MemorySegment.ofArray(bytes));
            assertThat(bytes).containsOnly(stages);
            long waits = three.queue(0).counters().deviceWaits();
            assertThat(waits).as("waits done by node 3 itself").isEqualTo(stages / 2);
            assertThat(between.statistics().framesSent() - already)
                    .as("node 2 tells node 3, without node 1")
                    .isGreaterThanOrEqualTo(stages / 2);
        }
    }

    /** Also where each device has a single queue: until the host signals, none of the work has a place in a lane. */
    @Test
    void aPipelineStartedLaterByTheHostGoesOnWithoutTheHost() {
        Device two = cluster.far(2, 1);
        Device three = cluster.far(3, 1);
        int stages = 16;
        BufferParams params = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);
        try (TimelineSemaphore line = TimelineSemaphore.create(0);
                Buffer a = two.allocator().allocate(params, 64);
                Buffer b = three.allocator().allocate(params, 64)) {
            RemoteSession between = nodes.get(1).session(3);
            long already = between.statistics().framesSent();
            for (int i = 1; i <= stages; i++) {
                try (Fence before = Fence.at(line, i);
                        Fence after = Fence.at(line, i + 1)) {
                    boolean odd = i % 2 == 1;
                    (odd ? two : three).queue(0).fill(before, after, odd ? a : b, 0, 64, i, 1, 0);
                }
            }
            links.getFirst().hold(PeerStream.QUEUE, true); // 1 to 2
            line.signal(1);
            RemoteSession last = nodes.getFirst().session(3);
            long end = System.nanoTime() + LIMIT.toNanos();
            while (last.statistics().commandsAtPeer() < stages / 2) {
                assertThat(System.nanoTime()).as("all is sent to node 3").isLessThan(end);
                Thread.onSpinWait();
            }
            links.getFirst().hold(PeerStream.QUEUE, false);
            line.await(stages + 1, LIMIT);
            assertThat(between.statistics().framesSent() - already)
                    .as("node 2 tells node 3, without node 1")
                    .isGreaterThanOrEqualTo(stages / 2);
        }
    }

    /** The host reads the file, and raises the lane, before the upload: without a change of memory. */
    @Test
    void aSmallUploadGoesWithItsCommandAlsoBehindAValueOfTheHost() {
        Device two = cluster.far(2, 1);
        RemoteSession session = nodes.getFirst().session(2);
        Link back = Objects.requireNonNull(links.getFirst().back);
        byte[] given = {1, 2, 3, 4};
        try (Buffer target =
                        two.allocator().allocate(new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT), 4);
                HalFile file = HalFile.ofMemory(MemorySegment.ofArray(given), MemoryAccess.READ, null);
                TimelineSemaphore line = TimelineSemaphore.create(0);
                Fence read = Fence.at(line, 1)) {
            back.hold(PeerStream.QUEUE, true); // to keep the value under way
            two.queue(0).read(null, read, file, 0, target, 0, 4, 0);
            long end = System.nanoTime() + LIMIT.toNanos();
            while (session.statistics().commandsAtPeer() < 2) {
                assertThat(System.nanoTime()).as("both are sent").isLessThan(end);
                Thread.onSpinWait();
            }
            back.hold(PeerStream.QUEUE, false);
            read.await(LIMIT);
            assertThat(session.statistics().streams())
                    .filteredOn(each -> each.stream() == PeerStream.BULK)
                    .allSatisfy(each -> assertThat(each.framesSent()).isZero());
            byte[] bytes = new byte[4];
            target.read(0, MemorySegment.ofArray(bytes));
            assertThat(bytes).isEqualTo(given);
        }
    }

    /** Otherwise the waiting node would report a missing signal. */
    @Test
    void aPointOfAnotherNodeIsPromisedToItsWaiter() {
        Device two = far(2);
        Device three = far(3);
        try (TimelineSemaphore line = TimelineSemaphore.create(0);
                Fence first = Fence.at(line, 1);
                Fence second = Fence.at(line, 2);
                Buffer a =
                        two.allocator().allocate(new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT), 64);
                Buffer b = three.allocator()
                        .allocate(new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT), 64)) {
            links.getFirst().hold(PeerStream.QUEUE, true); // 1 to 2
            two.queue(0).fill(null, first, a, 0, 64, 1, 1, 0);
            three.queue(0).fill(first, second, b, 0, 64, 1, 1, 0);
            for (PendingOperation.Wait wait : waitsOf(cluster.cpus.get(2).queue(0))) {
                assertThat(wait.promised()).isTrue();
                assertThat(wait.timeline()).matches("epoch 1 of lane .*@m1\\.s1 of node 2");
            }
            links.getFirst().hold(PeerStream.QUEUE, false);
            second.await(LIMIT);
        }
    }

    private static List<PendingOperation.Wait> waitsOf(DeviceQueue queue) {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (System.nanoTime() < end) {
            for (PendingOperation each : queue.pending(10)) {
                if (!each.waits().isEmpty()) {
                    return each.waits();
                }
            }
            Thread.onSpinWait();
        }
        throw new AssertionError("nothing waits");
    }

    /** The numbers of docs/cluster-scale.md. */
    @Test
    void anOperationTakesThreeFramesAndAWaitBetweenNodesTwo() {
        Device two = far(2);
        Device three = far(3);
        int stages = 32;
        try (TimelineSemaphore line = TimelineSemaphore.create(SemaphoreOptions.DEFAULTS);
                Buffer a =
                        two.allocator().allocate(new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT), 64);
                Buffer b = three.allocator()
                        .allocate(new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT), 64)) {
            two.queue(0).fill(null, null, a, 0, 64, 9, 1, 0);
            three.queue(0).fill(null, null, b, 0, 64, 9, 1, 0);
            a.read(0, MemorySegment.ofArray(new byte[64])); // memory, lanes and transfers have been set up
            b.read(0, MemorySegment.ofArray(new byte[64]));
            long before = framesSent();
            links.getFirst().hold(PeerStream.QUEUE, true); // nothing is over while the rest is submitted
            for (int i = 0; i < stages; i++) {
                try (Fence wait = i == 0 ? null : Fence.at(line, i);
                        Fence signal = Fence.at(line, i + 1)) {
                    boolean even = i % 2 == 0;
                    (even ? two : three).queue(0).fill(wait, signal, even ? a : b, 0, 64, i, 1, 0);
                }
            }
            links.getFirst().hold(PeerStream.QUEUE, false);
            line.await(stages, LIMIT);
            assertThat(framesSent() - before).isEqualTo(3L * stages + 2 * (stages - 1));
        }
    }

    private long framesSent() {
        return nodes.stream()
                .flatMap(node -> node.sessions().stream())
                .mapToLong(session -> session.statistics().framesSent())
                .sum();
    }

    @Test
    void theLossOfANodeFailsOnlyItsDependents() {
        Device two = far(2);
        Device three = far(3);
        try (TimelineSemaphore never = TimelineSemaphore.create(0);
                TimelineSemaphore onTwo = TimelineSemaphore.create(0);
                TimelineSemaphore onThree = TimelineSemaphore.create(0);
                TimelineSemaphore free = TimelineSemaphore.create(0);
                Fence wait = Fence.at(never, 1);
                Fence first = Fence.at(onTwo, 1);
                Fence second = Fence.at(onThree, 1);
                Fence third = Fence.at(free, 1)) {
            Buffer buffer =
                    three.allocator().allocate(new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT), 64);
            two.queue(0).barrier(wait, first, 0);
            three.queue(0).barrier(first, second, 0);
            cluster.loopback.cut(links.getFirst()); // 1 to 2
            assertFails(first);
            assertFails(second);
            three.queue(0).fill(null, third, buffer, 0, 64, 5, 1, 0);
            third.await(LIMIT);
            assertThat(three.failure()).isEmpty();
            assertThat(two.failure()).isPresent();
            buffer.close();
        }
    }

    /** As with a network cut between them when either starts; the cut may stay. */
    @Test
    @SuppressWarnings("try") // closing may be interrupted
    void aPipelineOverTwoNodesWithoutASessionEnds() throws Exception {
        int stages = 16;
        try (ThreeCpus apart = ThreeCpus.apart(9, 1);
                TimelineSemaphore line = TimelineSemaphore.create(0)) {
            Device two = apart.far(2, 1);
            Device three = apart.far(3, 1);
            for (int stage = 0; stage < stages; stage++) {
                try (Fence before = stage == 0 ? null : Fence.at(line, stage);
                        Fence after = Fence.at(line, stage + 1)) {
                    (stage % 2 == 0 ? two : three).queue(0).barrier(before, after, 0);
                }
            }
            line.await(stages, LIMIT);
        }
    }

    /** A command has room for 255 points; the client waits for the others before it sends the command. */
    @Test
    void anOperationWaitsForMorePointsThanACommandHasRoomFor() {
        Device three = far(3);
        int lanes = 64;
        List<Device> producers = new ArrayList<>();
        List<TimelineSemaphore> timelines = new ArrayList<>();
        List<Fence.Entry> points = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            producers.add(cluster.far(2, lanes));
        }
        links.getFirst().hold(PeerStream.QUEUE, true); // 1 to 2
        for (Device two : producers) {
            Buffer buffer =
                    two.allocator().allocate(new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT), 64);
            cluster.opened(buffer);
            for (int queue = 0; queue < lanes; queue++) {
                TimelineSemaphore timeline = TimelineSemaphore.create(0);
                timelines.add(timeline);
                points.add(new Fence.Entry(timeline, 1));
                try (Fence done = Fence.at(timeline, 1)) {
                    two.queue(queue).fill(null, done, buffer, 0, 64, 1, 1, 0);
                }
            }
        }
        try (TimelineSemaphore last = TimelineSemaphore.create(0);
                Fence all = Fence.of(points);
                Fence done = Fence.at(last, 1)) {
            three.queue(0).barrier(all, done, 0);
            assertThat(three.queue(0).counters().deviceWaits()).isEqualTo(5L * lanes);
            links.getFirst().hold(PeerStream.QUEUE, false);
            done.await(LIMIT);
        }
        timelines.forEach(TimelineSemaphore::close);
    }

    private static void assertFails(Fence fence) {
        try {
            fence.await(LIMIT);
        } catch (IreeException e) {
            assertThat(e.code()).isNotEqualTo(StatusCode.DEADLINE_EXCEEDED);
            return;
        }
        throw new AssertionError("the fence was reached");
    }

    @Test
    void aFailingKernelFailsItsOperationAndNotTheDevice() {
        Device two = far(2);
        try (var kernels = JavaKernels.load(two);
                TimelineSemaphore one = TimelineSemaphore.create(0);
                TimelineSemaphore other = TimelineSemaphore.create(0);
                Fence failed = Fence.at(one, 1);
                Fence fine = Fence.at(other, 1)) {
            two.queue(0)
                    .dispatch(
                            null,
                            failed,
                            kernels,
                            JavaKernels.FAIL,
                            DispatchConfig.of(1, 1, 1),
                            new int[0],
                            BindingTable.of(),
                            0);
            Buffer buffer =
                    two.allocator().allocate(new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT), 64);
            two.queue(0).fill(null, fine, buffer, 0, 64, 1, 1, 0);
            fine.await(LIMIT);
            assertFails(failed);
            assertThat(one.failure())
                    .hasMessageContaining("kernel failed on purpose")
                    .hasMessageContaining("node 2");
            assertThat(two.failure()).isEmpty();
            buffer.close();
        }
    }

    @Test
    void largeTransfersComeInChunks() {
        Device two = far(2);
        int size = 20_000_000;
        try (Buffer buffer =
                two.allocator().allocate(new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT), size)) {
            byte[] bytes = new byte[size];
            new Random(5).nextBytes(bytes);
            buffer.write(0, MemorySegment.ofArray(bytes));
            byte[] back = new byte[size];
            buffer.read(0, MemorySegment.ofArray(back));
            assertThat(back).isEqualTo(bytes);
            assertThat(nodes.get(1).session(1).statistics().framesReceived()).isGreaterThan(size >> 18);
            assertThat(nodes.get(1).session(1).statistics().bytesWaiting()).isZero();
        }
    }
}
