package io.github.iree4j.hal.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.ChannelParams;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Work on memory of two other nodes, composed of queue operations by a third node and submitted at once. A reduction:
 * the elements come to a channel of the submitting node and go back; the channel's axis stands for both nodes, and
 * fails with either. And a copy on a second node, with a signal outliving the first.
 */
@Timeout(120)
class ComposedOverNodesTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Collective SUM = Collective.of(Collective.ALL_REDUCE, Collective.SUM, Collective.S32);
    private static final int COUNT = 1000;

    private final ThreeCpus cluster = new ThreeCpus(3, 2);
    private final List<RemoteNode> nodes = cluster.nodes;
    private final Device cpu = nodes.getFirst().served().getFirst();

    @AfterEach
    void close() throws Exception {
        cluster.close();
    }

    private <T extends AutoCloseable> T opened(T object) {
        return cluster.opened(object);
    }

    private Fence fence() {
        return opened(Fence.adopt(TimelineSemaphore.create(0), 1));
    }

    /** Memory of another node, and the node's rank here. */
    private final class Participant {
        final Device device;
        final Buffer elements;
        private final int rank;
        private final Buffer here; // memory of this process, as seen by the device
        private final Buffer same; // the same memory, as seen by the CPU
        private final CommandBuffer commands;

        Participant(int node, int rank, String group) {
            this.rank = rank;
            device = cluster.far(node, 1);
            elements = opened(device.allocator()
                    .allocate(new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT), 4L * COUNT));
            here = opened(device.allocator()
                    .allocate(
                            new BufferParams(
                                    MemoryType.HOST_LOCAL | MemoryType.DEVICE_VISIBLE,
                                    BufferUsage.DEFAULT | BufferUsage.MAPPING_PERSISTENT),
                            4L * COUNT));
            same = opened(cpu.allocator()
                    .importHost(
                            BufferParams.DEFAULT,
                            here.map(MemoryAccess.READ | MemoryAccess.WRITE, 0, Buffer.WHOLE),
                            null));
            Channel channel = opened(cpu.createChannel(-1, ChannelParams.of(group, rank, 2)));
            commands = opened(cpu.createCommandBuffer(0, CommandBuffer.TRANSFER | CommandBuffer.DISPATCH, -1, 0));
            commands.collective(channel, SUM, 0, BufferRef.of(same), BufferRef.of(same), COUNT);
            commands.finish();
        }

        /** The elements of the node come here. */
        Fence fetch() {
            Fence fetched = fence();
            device.queue(0).copy(null, fetched, elements, 0, here, 0, 4L * COUNT, 0);
            return fetched;
        }

        /** The elements here go to the node. */
        Fence store(Fence wait) {
            Fence stored = fence();
            device.queue(0).copy(wait, stored, here, 0, elements, 0, 4L * COUNT, 0);
            return stored;
        }

        /** Submits the node's part of a reduction; returns the point of the finished sums. */
        Fence reduce(Fence reduced) {
            cpu.queue(rank).execute(fetch(), reduced, commands, null, 0);
            return store(reduced);
        }

        void set(int value) {
            int[] all = new int[COUNT];
            Arrays.fill(all, value);
            elements.write(0, MemorySegment.ofArray(all));
        }

        int[] get() {
            int[] all = new int[COUNT];
            elements.read(0, MemorySegment.ofArray(all));
            return all;
        }
    }

    private long collectiveAxis(Fence reduced) {
        Frontier frontier = Objects.requireNonNull(reduced.semaphore(0).frontierAt(1));
        assertThat(Axis.domain(frontier.producerAxis())).isEqualTo(CausalDomain.COLLECTIVE);
        return frontier.producerAxis();
    }

    private static IreeException failureOf(Fence fence) {
        @Nullable IreeException failure = catchThrowableOfType(IreeException.class, () -> fence.await(LIMIT));
        assertThat(failure).isNotNull();
        assertThat(failure.code()).isNotEqualTo(StatusCode.DEADLINE_EXCEEDED);
        return failure;
    }

    @Test
    void memoryOfTwoNodesIsReducedAndASingleEntryStandsForBoth() {
        Participant two = new Participant(2, 0, "pair");
        Participant three = new Participant(3, 1, "pair");
        two.set(5);
        three.set(37);
        Fence reduced = fence();
        Fence atTwo = two.reduce(reduced);
        Fence atThree = three.reduce(fence());
        atTwo.await(LIMIT);
        atThree.await(LIMIT);
        assertThat(two.get()).containsOnly(42);
        assertThat(three.get()).containsOnly(42);
        long axis = collectiveAxis(reduced);
        assertThat(nodes.getFirst().domain().tracker().completed(axis)).isEqualTo(1);
        assertThat(Objects.requireNonNull(reduced.semaphore(0).frontierAt(1)).size())
                .isEqualTo(1);
    }

    @Test
    void theAxisFailsWithAnyParticipantAndOthersAreTold() {
        Participant two = new Participant(2, 0, "pair");
        Participant three = new Participant(3, 1, "pair");
        two.set(1);
        three.set(2);
        Fence first = fence();
        Fence atTwo = two.reduce(first);
        three.reduce(fence()).await(LIMIT);
        atTwo.await(LIMIT);
        long axis = collectiveAxis(first);

        cluster.links.get(1).hold(PeerStream.QUEUE, true); // node 3 does not get its part
        Fence second = fence();
        Fence waits = two.reduce(second);
        Fence gone = three.reduce(fence());
        assertThat(nodes.getFirst().domain().tracker().failure(axis)).isNull();
        cluster.loopback.cut(cluster.links.get(1));

        assertThat(failureOf(gone)).hasMessageContaining("cut");
        assertThat(failureOf(second)).hasMessageContaining("cut");
        assertThat(failureOf(waits)).hasMessageContaining("cut");
        assertThat(nodes.getFirst().domain().tracker().failure(axis))
                .isNotNull()
                .hasMessageContaining("cut");
        assertThat(first.isReached()).as("what was signalled stays").isTrue();
        assertThat(failureOf(two.reduce(fence())))
                .as("the channel does not come back")
                .hasMessageContaining("cut");
        assertThat(two.device.failure()).as("the other participant goes on").isEmpty();
        assertThat(two.get()).hasSize(COUNT);
    }

    /** The durable acknowledgement: a value signalled behind the copy means: two nodes have the bytes. */
    @Test
    void aSignalBehindACopyOnASecondNodeOutlivesTheFirst() {
        Participant two = new Participant(2, 0, "pair");
        Participant three = new Participant(3, 1, "pair");
        two.set(11);
        three.set(0);
        Fence moved = fence();
        cpu.queue(0).copy(two.fetch(), moved, two.same, 0, three.same, 0, 4L * COUNT, 0);
        Fence durable = three.store(moved);
        durable.await(LIMIT);
        cluster.loopback.cut(cluster.links.getFirst());
        assertThat(failureOf(two.fetch())).as("the first is lost").hasMessageContaining("cut");
        assertThat(durable.isReached()).isTrue();
        assertThat(three.get()).containsOnly(11);
    }
}
