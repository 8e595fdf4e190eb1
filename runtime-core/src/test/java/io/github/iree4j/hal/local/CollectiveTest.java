package io.github.iree4j.hal.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.QueueCounters;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class CollectiveTest extends CollectiveFixture {
    private static final int FULL = 0x3F;

    @Test
    void anEightWayAllReduceIsOneFrontierEntry() {
        List<Channel> channels = channels("eight", 8);
        List<Fence> done = new ArrayList<>();
        List<Buffer> targets = new ArrayList<>();
        for (int rank = 0; rank < 8; rank++) {
            assertThat(done).as("before rank " + rank).noneMatch(Fence::isReached);
            targets.add(ints(0, 0));
            done.add(submit(rank, null, one(channels.get(rank), SUM, 0, ints(1, 1 << rank), targets.get(rank), 2)));
        }
        assertReached(done);
        assertThat(targets).allSatisfy(target -> assertThat(read(target)).containsExactly(8, 255));

        Frontier joined = Frontier.EMPTY;
        for (Fence each : done) {
            joined = joined.merge(frontier(each));
        }
        assertThat(joined.size()).as(joined.toString()).isOne();
        assertThat(joined.isTainted()).isFalse();
        assertThat(Axis.domain(joined.axis(0))).isEqualTo(CausalDomain.COLLECTIVE);
        assertThat(joined.epoch(0)).isOne();
        assertThat(SchedulingDomain.ofProcess().tracker().completed(joined.axis(0)))
                .isOne();
    }

    @Test
    void anotherRoundIsTheNextEpochOfTheSameAxis() {
        List<Channel> channels = channels("rounds", 2);
        for (int round = 1; round <= 3; round++) {
            Buffer first = ints(round);
            Buffer second = ints(10 * round);
            Fence a = submit(0, null, one(channels.get(0), SUM, 0, first, first, 1));
            Fence b = submit(1, null, one(channels.get(1), SUM, 0, second, second, 1));
            assertReached(List.of(a, b));
            assertThat(read(first)).as("in place").containsExactly(11 * round);
            assertThat(read(second)).containsExactly(11 * round);
            assertThat(frontier(a)).isEqualTo(frontier(b));
            assertThat(frontier(a).epoch(0)).isEqualTo(round);
        }
    }

    @Test
    void commandsAroundACollectiveKeepTheirOrderAndTablesTheirSlots() {
        List<Channel> channels = channels("around", 2);
        List<Buffer> results = List.of(ints(0), ints(0));
        List<Fence> done = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
            Channel channel = channels.get(rank);
            int value = 3 + rank;
            CommandBuffer commands = commands(recording -> {
                recording.fillBuffer(BufferRef.slot(0, 4, 4), value, 4, 0);
                recording.executionBarrier(FULL, FULL, 0);
                recording.collective(channel, SUM, 0, BufferRef.slot(0, 4, 4), BufferRef.slot(0, 0, 4), 1);
                recording.executionBarrier(FULL, FULL, 0);
                recording.collective(channel, SUM, 0, BufferRef.slot(0, 0, 4), BufferRef.slot(0, 0, 4), 1);
                recording.executionBarrier(FULL, FULL, 0);
                recording.copyBuffer(BufferRef.slot(0, 0, 4), BufferRef.slot(1, 0, 4), 0);
            });
            Fence signal = fence();
            device.queue(rank)
                    .execute(
                            null,
                            signal,
                            commands,
                            new BindingTable().add(ints(0, 0, 0), 4, 8).add(results.get(rank), 0, Buffer.WHOLE),
                            0);
            done.add(signal);
        }
        assertReached(done);
        assertThat(results).allSatisfy(result -> assertThat(read(result)).containsExactly(14));
    }

    @Test
    void aBarrierAloneOrdersCollectivesOfTwoChannels() {
        List<Channel> first = channels("first", 2);
        List<Channel> second = channels("second", 2);
        Buffer between = ints(0);
        Buffer result = ints(0);
        Fence both = submit(0, null, commands(recording -> {
            recording.collective(first.get(0), SUM, 0, BufferRef.of(ints(1)), BufferRef.of(between), 1);
            recording.executionBarrier(FULL, FULL, 0);
            recording.collective(second.get(0), SUM, 0, BufferRef.of(between), BufferRef.of(result), 1);
        }));
        Fence other = submit(1, null, one(second.get(1), SUM, 0, ints(100), ints(0), 1));
        assertThat(other.isReached()).as("before the waits of the barrier").isFalse();
        Fence late = submit(1, null, one(first.get(1), SUM, 0, ints(10), ints(0), 1));
        assertReached(List.of(both, other, late));
        assertThat(read(result)).containsExactly(111);
    }

    @Test
    void collectivesPairInTheOrderOfSubmissionNotOfExecution() {
        List<Channel> channels = channels("order", 2);
        Buffer first = ints(1);
        Buffer second = ints(2);
        Buffer third = ints(30);
        Buffer fourth = ints(40);
        Fence late = fence();
        List<Fence> done = List.of(
                submit(0, late, one(channels.get(0), SUM, 0, first, first, 1)),
                submit(0, null, one(channels.get(0), SUM, 0, second, second, 1)),
                submit(1, null, one(channels.get(1), SUM, 0, third, third, 1)),
                submit(1, null, one(channels.get(1), SUM, 0, fourth, fourth, 1)));
        assertThat(done.stream().map(Fence::isReached)).containsExactly(false, true, false, true);
        late.signal();
        assertReached(done);
        assertThat(read(first)).containsExactly(31);
        assertThat(read(second)).containsExactly(42);
    }

    @Test
    void aQueueIsFreeWhileACollectiveWaits() {
        List<Channel> channels = channels("free", 2);
        Buffer buffer = ints(1);
        Fence first = submit(0, null, one(channels.get(0), SUM, 0, buffer, buffer, 1));
        Fence other = fence();
        device.queue(0).barrier(null, other, 0);
        assertThat(other.isReached()).isTrue();
        assertThat(first.isReached()).isFalse();
        buffer.close(); // the submission retains it
        assertReached(List.of(submit(0, null, one(channels.get(1), SUM, 0, ints(1), ints(1), 1)), first));
    }

    @Test
    void aChannelWithoutRankAndCountIsOneParticipant() {
        Channel alone = closed(device.createChannel(-1, -1, -1));
        assertThat(alone.rank()).isZero();
        assertThat(alone.count()).isOne();
        Buffer target = ints(0);
        assertReached(List.of(submit(0, null, one(alone, SUM, 0, ints(5), target, 1))));
        assertThat(read(target)).containsExactly(5);
    }

    @Test
    void aSplitMakesGroupsByColorInTheOrderOfKeys() {
        List<Channel> channels = channels("split", 5);
        List<@Nullable Channel> parts = new ArrayList<>();
        int[] colors = {0, 1, 0, Channel.NO_COLOR, 0};
        int[] keys = {5, 0, 5, 0, 1};
        for (int rank = 0; rank < 5; rank++) {
            parts.add(channels.get(rank).split(colors[rank], keys[rank]));
            if (rank == 0) {
                assertThatThrownBy(
                                () -> Objects.requireNonNull(parts.getFirst()).rank())
                        .isInstanceOf(IreeException.class)
                        .hasMessageContaining("before all participants have split");
            }
        }
        assertThat(parts.get(3)).isNull();
        parts.stream().filter(Objects::nonNull).forEach(this::closed);
        assertThat(Objects.requireNonNull(parts.get(0)).ready()).matches(ready -> ready != null && ready.isReached());
        assertThat(parts.stream().filter(Objects::nonNull).map(Channel::rank)).containsExactly(1, 0, 2, 0);
        assertThat(parts.stream().filter(Objects::nonNull).map(Channel::count)).containsExactly(3, 1, 3, 3);
        Buffer target = ints(0);
        List<Fence> done = new ArrayList<>();
        for (int rank : new int[] {0, 2, 4}) {
            Channel part = Objects.requireNonNull(parts.get(rank));
            done.add(submit(rank, null, one(part, SUM, 0, ints(rank), rank == 4 ? target : ints(0), 1)));
        }
        assertReached(done);
        assertThat(read(target)).containsExactly(6);
    }

    @Test
    void aSplitIsAMeetingAndMakesOneGroupForEachColor() {
        SchedulingDomain domain = SchedulingDomain.ofProcess();
        List<Channel> channels = channels("colors", 3);
        long before = Axis.ordinal(domain.axes().allocate(CausalDomain.COLLECTIVE));
        Channel first = closed(Objects.requireNonNull(channels.get(0).split(4, 0)));
        assertThat(channels.get(1).split(Channel.NO_COLOR, 0)).isNull();
        Channel third = closed(Objects.requireNonNull(channels.get(2).split(4, 0)));
        assertThat(Axis.ordinal(domain.axes().allocate(CausalDomain.COLLECTIVE)) - before)
                .isEqualTo(2);
        assertThat(List.of(first.rank(), third.rank())).containsExactly(0, 1);
        Frontier met = frontier(Objects.requireNonNull(first.ready()));
        assertThat(Axis.domain(met.producerAxis())).isEqualTo(CausalDomain.COLLECTIVE);
        assertThat(met.producerEpoch()).isOne();
    }

    @Test
    void threadsThatMeetAgainAndAgainLoseNoRound() throws Exception {
        int threads = 4;
        int rounds = 200;
        List<Channel> channels = channels("threads", threads);
        List<Buffer> values = new ArrayList<>();
        List<CommandBuffer> commands = new ArrayList<>();
        List<TimelineSemaphore> timelines = new ArrayList<>();
        for (int rank = 0; rank < threads; rank++) {
            Buffer value = ints(1);
            values.add(value);
            commands.add(one(
                    channels.get(rank),
                    Collective.of(Collective.ALL_REDUCE, Collective.SUM, Collective.U32),
                    0,
                    value,
                    value,
                    1));
            timelines.add(closed(device.createSemaphore(0, Device.SEMAPHORE_DEFAULT)));
        }
        List<Thread> running = new ArrayList<>();
        for (int rank = 0; rank < threads; rank++) {
            int own = rank;
            running.add(Thread.startVirtualThread(() -> {
                for (int round = 0; round < rounds; round++) {
                    try (Fence wait = Fence.at(timelines.get(own), round);
                            Fence signal = Fence.at(timelines.get(own), round + 1)) {
                        device.queue(own).execute(wait, signal, commands.get(own), null, 0);
                    }
                }
            }));
        }
        for (Thread each : running) {
            each.join();
        }
        for (TimelineSemaphore each : timelines) {
            each.await(rounds, java.time.Duration.ofSeconds(60));
        }
        // Four times itself in every round: 4^16 is 0 in 32 bits, so progress is checked through the epochs instead.
        assertThat(values).allSatisfy(value -> assertThat(read(value)).containsExactly(0));
        Frontier last = Objects.requireNonNull(timelines.getFirst().frontierAt(rounds));
        assertThat(last.epochOf(last.producerAxis())).isEqualTo(rounds);
    }

    @Test
    void aCommandBufferWithCollectivesIsOneOperationOfItsQueue() {
        List<Channel> channels = channels("counted", 2);
        Fence start = fence();
        Buffer first = ints(1);
        Buffer second = ints(2);
        CommandBuffer twice = commands(commands -> {
            commands.fillBuffer(BufferRef.of(first), 5, 4, 0);
            commands.collective(channels.get(0), SUM, 0, BufferRef.of(first), BufferRef.of(first), 1);
            commands.executionBarrier(FULL, FULL, 0);
            commands.collective(channels.get(0), SUM, 0, BufferRef.of(first), BufferRef.of(first), 1);
            commands.fillBuffer(BufferRef.of(second), 6, 4, 0);
        });
        Fence done = submit(0, start, twice);
        QueueCounters before = device.queue(0).counters();
        assertThat(before.submitted()).isOne();
        assertThat(before.pending()).isOne();
        assertThat(before.inFlight()).isZero();
        start.signal();
        QueueCounters meanwhile = device.queue(0).counters();
        assertThat(meanwhile.submitted()).isOne();
        assertThat(meanwhile.pending()).isZero();
        assertThat(meanwhile.inFlight()).as("waits for the other participant").isOne();
        assertThat(meanwhile.retired()).isZero();
        Buffer other = ints(3);
        assertReached(List.of(
                submit(1, null, one(channels.get(1), SUM, 0, other, other, 1)),
                submit(1, null, one(channels.get(1), SUM, 0, other, other, 1)),
                done));
        QueueCounters after = device.queue(0).counters();
        assertThat(after.submitted()).isOne();
        assertThat(after.retired()).isOne();
        assertThat(after.inFlight()).isZero();
        assertThat(after.failed()).isZero();
        assertThat(after.deferred()).isOne();
        assertThat(after.waits()).as("only the caller's wait").isOne();
        assertThat(device.queue(1).counters().retired()).isEqualTo(2);
        assertThat(device.queue(1).counters().waits()).isZero();
    }

    @Test
    void onAStreamWhatFollowsTheLastCollectiveIsPromisedWhenItIsIssued() {
        VirtualClock clock = VirtualClock.stepped();
        device.close();
        device = closed(VirtualDevice.builder().clock(clock).fifoQueues(2).build());
        List<Channel> channels = channels("promised", 2);
        Buffer first = ints(1);
        Buffer second = ints(2);
        Fence done = submit(0, null, commands(commands -> {
            commands.collective(channels.get(0), SUM, 0, BufferRef.of(first), BufferRef.of(first), 1);
            commands.executionBarrier(FULL, FULL, 0);
            commands.fillBuffer(BufferRef.of(second), 6, 4, 0);
        }));
        clock.runUntilIdle();
        assertThat(done.semaphore(0).frontierAt(1))
                .as("no promise before the others arrive")
                .isNull();
        Fence after = fence();
        device.queue(1).barrier(done, after, 0); // held back, until the promise
        Buffer other = ints(3);
        submit(1, null, one(channels.get(1), SUM, 0, other, other, 1));
        while (device.queue(1).counters().pending() > 0) {
            assertThat(clock.step()).isTrue();
        }
        assertThat(done.isReached()).isFalse();
        assertThat(frontier(done).producerAxis()).isEqualTo(device.queue(0).axis());
        clock.runUntilIdle();
        assertReached(List.of(done, after));
        assertThat(read(second)).containsExactly(6);
    }

    @Test
    void streamsMeetAsWell() {
        VirtualClock clock = VirtualClock.stepped();
        device.close();
        device = closed(VirtualDevice.builder().clock(clock).fifoQueues(2).build());
        List<Channel> channels = channels("streams", 2);
        Buffer first = ints(1);
        Buffer second = ints(2);
        Fence a = submit(0, null, one(channels.get(0), SUM, 0, first, first, 1));
        clock.runUntilIdle();
        assertThat(a.isReached()).isFalse();
        Fence b = submit(1, null, one(channels.get(1), SUM, 0, second, second, 1));
        Fence after = fence();
        device.queue(0).barrier(closed(Fence.join(List.of(a, b))), after, 0);
        clock.runUntilIdle();
        assertReached(List.of(a, b, after));
        assertThat(read(first)).containsExactly(3);
        assertThat(frontier(a)).isEqualTo(frontier(b));
        assertThat(frontier(a).size()).isOne();
    }
}
