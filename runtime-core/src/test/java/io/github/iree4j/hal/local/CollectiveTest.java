package io.github.iree4j.hal.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.QueueCounters;
import io.github.iree4j.hal.SchedulingDomain;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class CollectiveTest extends CollectiveFixture {
    private static final int FULL = 0x3F;

    @Test
    void anEightWayAllReduceIsASingleFrontierEntry() {
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
    void aSplitIsAMeetingAndMakesAGroupForEachColor() {
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
    void aCommandBufferWithCollectivesIsASingleOperationOfItsQueue() {
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
}
