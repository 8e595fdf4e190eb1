package io.github.iree4j.hal.collective;

import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.record.CollectiveCommand;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Two participants of a group, each with a ticket for the first collective, and the outcomes reported to them. */
final class ToldParticipants {
    private static final Collective SUM = Collective.of(Collective.ALL_REDUCE, Collective.SUM, Collective.S32);

    private final FrontierTracker tracker = FrontierTracker.create();
    final ChannelGroup group = new ChannelGroup(
            SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, Frontier.DEFAULT_CAPACITY),
            ToldParticipants::begin,
            2);
    private final long axis = AxisAllocator.create(9, 0).allocate(CausalDomain.COLLECTIVE); // the first, as the group's
    private final ConcurrentLinkedQueue<String> first = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<String> second = new ConcurrentLinkedQueue<>();
    private final int[] sums = new int[2];

    /** Sums an element of each. */
    private static GroupWork begin(ChannelGroup group) {
        return meetings -> meetings.forEach(each -> {
            List<CollectiveArrival> all = Agreement.of(each);
            int sum = all.get(0).source().get(ValueLayout.JAVA_INT, 0)
                    + all.get(1).source().get(ValueLayout.JAVA_INT, 0);
            all.forEach(one -> one.target().set(ValueLayout.JAVA_INT, 0, sum));
            group.over(each, null);
        });
    }

    ToldParticipants() {
        group.join(0);
        group.join(1);
    }

    /** Arrives; no participant leaves the group. */
    void arrive(int rank) {
        try {
            arriveOnNewTicket(rank);
        } catch (IreeException failed) {
            all(rank).add(failed.code().toString());
        }
    }

    /** Arrives; throws unless the group admits the participant. */
    void arriveOnNewTicket(int rank) {
        CollectiveCommand command = new CollectiveCommand(0, null, SUM, 0, null, null, 1); // the channel is not used
        Arrival arrival = new CollectiveArrival(
                Frontier.EMPTY,
                command,
                MemorySegment.ofArray(new int[] {rank + 1}),
                MemorySegment.ofArray(sums).asSlice(4L * rank, 4),
                () -> {},
                (failure, outcome) -> all(rank)
                        .add(
                                failure != null
                                        ? failure.code().toString()
                                        : sums[rank] == 3 ? "met at " + outcome.producerEpoch() : "wrong sum"));
        group.arrive(group.collective(rank), arrival);
    }

    private ConcurrentLinkedQueue<String> all(int rank) {
        return rank == 0 ? first : second;
    }

    /** Whether the axis of the group has failed. */
    boolean hasFailedAxis() {
        return tracker.failure(axis) != null;
    }

    /** All outcomes reported to a participant. */
    String told(int rank) {
        return all(rank).isEmpty() ? "nothing" : String.join(" and ", all(rank));
    }
}
