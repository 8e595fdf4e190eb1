package io.github.iree4j.hal.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.record.CollectiveCommand;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The group's knowledge of its participants, and the reports to participants and waiters for the axis. */
class ChannelGroupTest {
    private static final Collective SUM = Collective.of(Collective.ALL_REDUCE, Collective.SUM, Collective.S32);
    private static final IreeException LOST = IreeException.of(StatusCode.DATA_LOSS, "lost on purpose");

    private final AxisAllocator axes = AxisAllocator.create(9, 0);
    private final FrontierTracker tracker = FrontierTracker.create();
    private final SchedulingDomain domain = SchedulingDomain.create(axes, tracker, Frontier.DEFAULT_CAPACITY);
    private final List<String> told = new ArrayList<>();
    private Frontier outcome = Frontier.EMPTY;

    @AfterEach
    void close() {
        tracker.close();
    }

    /** Checks for agreement of participants, and moves nothing. */
    private static GroupWork begin(ChannelGroup group) {
        return meetings -> meetings.forEach(each -> group.over(each, ChannelGroup.attempt(() -> Agreement.of(each))));
    }

    private ChannelGroup group(int count) {
        ChannelGroup group = new ChannelGroup(domain, ChannelGroupTest::begin, count);
        for (int rank = 0; rank < count; rank++) {
            assertThat(group.join(-1)).isEqualTo(rank);
        }
        return group;
    }

    private void told(String who, @Nullable IreeException failure, Frontier frontier) {
        told.add(who + ": " + (failure == null ? "met" : failure.getMessage()));
        outcome = frontier;
    }

    private Arrival arrival(String who, Frontier before, long count) {
        CollectiveCommand command = new CollectiveCommand(0, null, SUM, 0, null, null, count); // the channel is unused
        MemorySegment memory = MemorySegment.ofArray(new int[] {1});
        return new CollectiveArrival(
                before, command, memory, memory, () -> {}, (failure, frontier) -> told(who, failure, frontier));
    }

    private Arrival arrival(String who) {
        return arrival(who, Frontier.EMPTY, 1);
    }

    private void meet(ChannelGroup group, int count) {
        for (int rank = 0; rank < count; rank++) {
            group.arrive(group.collective(rank), arrival("rank " + rank));
        }
    }

    private static void assertGone(Runnable action, int rank) {
        assertThatThrownBy(action::run)
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.ABORTED))
                .hasMessageContaining("participant " + rank);
    }

    @Test
    void everythingBeforeAnyParticipantHappensBeforeTheOutcome() {
        long first = axes.allocate(CausalDomain.QUEUE);
        long second = axes.allocate(CausalDomain.QUEUE);
        tracker.register(first);
        tracker.register(second);
        ChannelGroup group = group(2);
        group.arrive(group.collective(0), arrival("rank 0", Frontier.producedBy(first, 5), 1));
        group.arrive(group.collective(1), arrival("rank 1", Frontier.producedBy(second, 7), 1));
        assertThat(told).containsExactly("rank 0: met", "rank 1: met");
        assertThat(Axis.domain(outcome.producerAxis())).isEqualTo(CausalDomain.COLLECTIVE);
        assertThat(outcome.producerEpoch()).isEqualTo(1);
        assertThat(outcome.epochOf(first)).isEqualTo(5);
        assertThat(outcome.epochOf(second)).isEqualTo(7);
    }

    @Test
    void meetingsCompleteTogetherBeginTogether() {
        List<Integer> held = new ArrayList<>();
        CollectiveBackend counting = own -> {
            GroupWork work = begin(own);
            return meetings -> {
                held.add(meetings.size());
                work.hold(meetings);
            };
        };
        ChannelGroup group = new ChannelGroup(domain, counting, 2);
        List<List<Meetings.Ticket>> tickets = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
            assertThat(group.join(-1)).isEqualTo(rank);
            tickets.add(List.of(group.collective(rank), group.collective(rank), group.collective(rank)));
        }
        for (int rank = 0; rank < 2; rank++) {
            group.arrive(tickets.get(rank), List.of(arrival("a" + rank), arrival("b" + rank), arrival("c" + rank)));
        }
        assertThat(held).containsExactly(3);
        assertThat(told).containsExactly("a0: met", "a1: met", "b0: met", "b1: met", "c0: met", "c1: met");
    }

    @Test
    void aFailingGroupFailsItsAxisWithTheFirstCause() {
        ChannelGroup group = group(2);
        meet(group, 2);
        group.fail(LOST);
        group.fail(IreeException.of(StatusCode.ABORTED, "second"));
        assertThat(tracker.failure(outcome.producerAxis())).isSameAs(LOST);
        assertThatThrownBy(() -> group.collective(0)).isSameAs(LOST);
        assertThatThrownBy(() -> group.split(1)).isSameAs(LOST);
    }

    @Test
    void aGroupLeftByAllRetiresItsAxis() {
        ChannelGroup group = group(2);
        meet(group, 2);
        List<String> waits = new ArrayList<>();
        tracker.whenCompleted(
                Frontier.of(outcome.producerAxis(), 2),
                failure -> waits.add("" + (failure == null ? null : failure.code())));
        group.leave(0);
        assertThat(waits).isEmpty();
        group.leave(1);
        assertThat(waits).containsExactly("CANCELLED");
        assertThat(tracker.failure(outcome.producerAxis())).isNull();
    }

    @Test
    void disagreeingParticipantsEndTheGroup() {
        ChannelGroup group = group(2);
        group.arrive(group.collective(0), arrival("rank 0", Frontier.EMPTY, 1));
        group.arrive(group.collective(1), arrival("rank 1", Frontier.EMPTY, 0));
        assertThat(told).hasSize(2).allMatch(each -> each.contains("disagree"));
        assertThatThrownBy(() -> group.collective(0)).hasMessageContaining("disagree");
    }

    @Test
    void everyKindOfMeetingHearsOfTheFailure() {
        ChannelGroup group = group(2);
        group.arrive(group.collective(0), arrival("collective"));
        group.arrive(group.split(0), arrival("split"));
        group.arrive(group.transfer(0, 1, true), arrival("transfer"));
        Meetings.Ticket late = group.collective(1);
        group.fail(LOST);
        assertThat(told)
                .containsExactlyInAnyOrder(
                        "collective: lost on purpose", "split: lost on purpose", "transfer: lost on purpose");
        group.arrive(late, arrival("late"));
        assertThat(told).hasSize(4).last().isEqualTo("late: lost on purpose");
    }

    @Test
    void everyKindOfMeetingHearsOfALeaver() {
        ChannelGroup splitting = group(2);
        splitting.arrive(splitting.split(0), arrival("split"));
        splitting.leave(1);
        ChannelGroup transferring = group(2);
        transferring.arrive(transferring.transfer(0, 1, true), arrival("transfer"));
        transferring.leave(1);
        assertThat(told).hasSize(2).allMatch(each -> each.contains("participant 1 of 2 closed its channel"));
    }

    @Test
    void anArrivalAfterALeaverIsRefused() {
        ChannelGroup group = group(2);
        group.leave(1);
        assertGone(() -> group.collective(0), 1);
    }

    @Test
    void aTicketOfALeaverIsGoodForItsMeeting() {
        ChannelGroup group = group(2);
        Meetings.Ticket ticket = group.collective(1);
        group.leave(1);
        Meetings.Ticket other = group.collective(0);
        group.arrive(other, arrival("rank 0"));
        group.arrive(ticket, arrival("rank 1"));
        assertThat(told).containsExactly("rank 0: met", "rank 1: met");
        assertGone(() -> group.collective(0), 1);
    }

    @Test
    void transfersOfOthersGoOnWhenAThirdLeaves() {
        ChannelGroup group = group(3);
        group.arrive(group.transfer(0, 1, true), arrival("sender"));
        group.leave(2);
        group.arrive(group.transfer(0, 1, false), arrival("receiver"));
        assertThat(told).containsExactly("sender: met", "receiver: met");
    }

    @Test
    void aGroupLeftBeforeItsCompletionHasFailed() {
        ChannelGroup group = new ChannelGroup(domain, ChannelGroupTest::begin, 2);
        group.join(0);
        group.leave(0);
        group.join(1);
        assertGone(() -> group.collective(1), 0);
    }

    @Test
    void thereAreAsManyRanksAsParticipants() {
        ChannelGroup group = group(2);
        assertThat(group.join(-1)).isEqualTo(-1);
        assertThat(group.join(0)).as("taken").isEqualTo(-1);
        assertThat(group.isComplete()).isTrue();
    }

    @Test
    void onlyOpenMeetingsCountAgainstTheLimit() {
        ChannelGroup group = group(2);
        for (int round = 0; round < 40_000; round++) {
            group.arrive(group.collective(0), arrival("rank 0"));
            group.arrive(group.collective(1), arrival("rank 1"));
        }
        assertThat(told).hasSize(80_000);
        for (int open = 0; open < 1 << 16; open++) {
            group.collective(0);
        }
        assertThatThrownBy(() -> group.collective(0))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED))
                .hasMessageContaining("65536 collectives of a channel wait");
    }
}
