package io.github.iree4j.hal.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.ChannelParams;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Meetings in collectives, their order, and the reports to participants when one of them disagrees, fails or leaves.
 */
public abstract class CollectiveContract extends CollectiveFixture {
    /** On a backend, closed after each test. */
    protected CollectiveContract(Backend backend) {
        super(backend);
    }

    @Test
    void anotherRoundIsTheNextEpochOfTheSameAxis() {
        List<Channel> channels = channels("rounds", 2);
        for (int round = 1; round <= 3; round++) {
            Buffer first = ints(0, round);
            Buffer second = ints(1, 10 * round);
            Fence a = submit(0, null, one(0, channels.get(0), SUM, 0, first, first, 1));
            Fence b = submit(1, null, one(1, channels.get(1), SUM, 0, second, second, 1));
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
        List<Buffer> results = List.of(ints(0, 0), ints(1, 0));
        List<Fence> done = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
            Channel channel = channels.get(rank);
            int value = 3 + rank;
            CommandBuffer commands = commands(rank, recording -> {
                recording.fillBuffer(BufferRef.slot(0, 4, 4), value, 4, 0);
                recording.executionBarrier(FULL, FULL, 0);
                recording.collective(channel, SUM, 0, BufferRef.slot(0, 4, 4), BufferRef.slot(0, 0, 4), 1);
                recording.executionBarrier(FULL, FULL, 0);
                recording.collective(channel, SUM, 0, BufferRef.slot(0, 0, 4), BufferRef.slot(0, 0, 4), 1);
                recording.executionBarrier(FULL, FULL, 0);
                recording.copyBuffer(BufferRef.slot(0, 0, 4), BufferRef.slot(1, 0, 4), 0);
            });
            Fence signal = fence();
            participants
                    .queue(rank)
                    .execute(
                            null,
                            signal,
                            commands,
                            new BindingTable().add(ints(rank, 0, 0, 0), 4, 8).add(results.get(rank), 0, Buffer.WHOLE),
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
        Buffer between = ints(0, 0);
        Buffer result = ints(0, 0);
        Fence both = submit(0, null, commands(0, recording -> {
            recording.collective(first.get(0), SUM, 0, BufferRef.of(ints(0, 1)), BufferRef.of(between), 1);
            recording.executionBarrier(FULL, FULL, 0);
            recording.collective(second.get(0), SUM, 0, BufferRef.of(between), BufferRef.of(result), 1);
        }));
        Fence other = submit(1, null, one(1, second.get(1), SUM, 0, ints(1, 100), ints(1, 0), 1));
        assertThat(other.isReached()).as("before the waits of the barrier").isFalse();
        Fence late = submit(1, null, one(1, first.get(1), SUM, 0, ints(1, 10), ints(1, 0), 1));
        assertReached(List.of(both, other, late));
        assertThat(read(result)).containsExactly(111);
    }

    @Test
    void collectivesPairInTheOrderOfSubmissionNotOfExecution() {
        List<Channel> channels = channels("order", 2);
        Buffer first = ints(0, 1);
        Buffer second = ints(0, 2);
        Buffer third = ints(1, 30);
        Buffer fourth = ints(1, 40);
        Fence late = fence();
        List<Fence> done = List.of(
                submit(0, late, one(0, channels.get(0), SUM, 0, first, first, 1)),
                submit(0, null, one(0, channels.get(0), SUM, 0, second, second, 1)),
                submit(1, null, one(1, channels.get(1), SUM, 0, third, third, 1)),
                submit(1, null, one(1, channels.get(1), SUM, 0, fourth, fourth, 1)));
        assertReached(List.of(done.get(1), done.get(3)));
        assertThat(done.get(0).isReached()).isFalse();
        assertThat(done.get(2).isReached()).isFalse();
        late.signal();
        assertReached(done);
        assertThat(read(first)).containsExactly(31);
        assertThat(read(second)).containsExactly(42);
    }

    @Test
    void aQueueIsFreeWhileACollectiveWaits() {
        List<Channel> channels = channels("free", 2);
        Buffer buffer = ints(0, 1);
        Fence first = submit(0, null, one(0, channels.get(0), SUM, 0, buffer, buffer, 1));
        Fence other = fence();
        participants.queue(0).barrier(null, other, 0);
        assertReached(List.of(other));
        assertThat(first.isReached()).isFalse();
        buffer.close(); // the submission retains it
        assertReached(List.of(submit(1, null, one(1, channels.get(1), SUM, 0, ints(1, 1), ints(1, 1), 1)), first));
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
        Buffer target = ints(4, 0);
        List<Fence> done = new ArrayList<>();
        for (int rank : new int[] {0, 2, 4}) {
            Channel part = Objects.requireNonNull(parts.get(rank));
            done.add(submit(
                    rank, null, one(rank, part, SUM, 0, ints(rank, rank), rank == 4 ? target : ints(rank, 0), 1)));
        }
        assertReached(done);
        assertThat(read(target)).containsExactly(6);
    }

    @Test
    void aChannelWithoutRankAndCountIsASingleParticipant() {
        Channel alone = closed(participants.device(0).createChannel(-1, -1, -1));
        assertThat(alone.rank()).isZero();
        assertThat(alone.count()).isOne();
        Buffer target = ints(0, 0);
        assertReached(List.of(submit(0, null, one(0, alone, SUM, 0, ints(0, 5), target, 1))));
        assertThat(read(target)).containsExactly(5);
    }

    @Test
    void threadsMeetingAgainAndAgainLoseNoRound() throws Exception {
        int threads = 4;
        int rounds = 200;
        List<Channel> channels = channels("threads", threads);
        List<Buffer> values = new ArrayList<>();
        List<CommandBuffer> commands = new ArrayList<>();
        List<TimelineSemaphore> timelines = new ArrayList<>();
        for (int rank = 0; rank < threads; rank++) {
            Buffer value = ints(rank, 1);
            values.add(value);
            commands.add(one(
                    rank,
                    channels.get(rank),
                    Collective.of(Collective.ALL_REDUCE, Collective.SUM, Collective.U32),
                    0,
                    value,
                    value,
                    1));
            timelines.add(closed(participants.device(rank).createSemaphore(0, Device.SEMAPHORE_DEFAULT)));
        }
        List<Thread> running = new ArrayList<>();
        for (int rank = 0; rank < threads; rank++) {
            int own = rank;
            running.add(Thread.startVirtualThread(() -> {
                for (int round = 0; round < rounds; round++) {
                    try (Fence wait = Fence.at(timelines.get(own), round);
                            Fence signal = Fence.at(timelines.get(own), round + 1)) {
                        participants.queue(own).execute(wait, signal, commands.get(own), null, 0);
                    }
                }
            }));
        }
        for (Thread each : running) {
            each.join();
        }
        for (TimelineSemaphore each : timelines) {
            each.await(rounds, Duration.ofSeconds(60));
        }
        // Times four in each round: 0 in 32 bits after 16, so progress is checked by the epochs instead.
        assertThat(values).allSatisfy(value -> assertThat(read(value)).containsExactly(0));
        Frontier last = Objects.requireNonNull(timelines.getFirst().frontierAt(rounds));
        assertThat(last.epochOf(last.producerAxis())).isEqualTo(rounds);
    }

    @Test
    void disagreeingParticipantsAllFailNowAndLater() {
        List<Channel> channels = channels("disagree", 3);
        List<Fence> done = List.of(
                submit(0, null, one(0, channels.get(0), SUM, 0, ints(0, 1), ints(0, 0), 1)),
                submit(1, null, one(1, channels.get(1), SUM, 0, ints(1, 1, 2), ints(1, 0, 0), 2)),
                submit(2, null, one(2, channels.get(2), SUM, 0, ints(2, 1), ints(2, 0), 1)));
        assertFailed(done, StatusCode.INVALID_ARGUMENT, "participants of a collective disagree: rank 0 has all_reduce");
        assertFailed(
                List.of(submit(0, null, one(0, channels.get(0), SUM, 0, ints(0, 1), ints(0, 0), 1))),
                StatusCode.INVALID_ARGUMENT,
                "disagree");
    }

    @Test
    void aParticipantWithAFailedWaitFailsAllWithItsCause() {
        List<Channel> channels = channels("cause", 2);
        Fence wait = fence();
        List<Fence> done = List.of(
                submit(0, null, one(0, channels.get(0), SUM, 0, ints(0, 1), ints(0, 0), 1)),
                submit(1, wait, one(1, channels.get(1), SUM, 0, ints(1, 1), ints(1, 0), 1)));
        assertThat(done).noneMatch(each -> each.failure().isPresent());
        wait.fail(IreeException.of(StatusCode.DATA_LOSS, "disk gone"));
        assertFailed(done, StatusCode.DATA_LOSS, "disk gone");
    }

    @Test
    void aParticipantClosingItsChannelFailsItsWaiters() {
        List<Channel> channels = channels("closing", 2);
        Fence done = submit(0, null, one(0, channels.get(0), SUM, 0, ints(0, 1), ints(0, 0), 1));
        channels.get(1).close();
        assertFailed(List.of(done), StatusCode.ABORTED, "participant 1 of 2 closed its channel");
        assertFailed(
                List.of(submit(0, null, one(0, channels.get(0), SUM, 0, ints(0, 1), ints(0, 0), 1))),
                StatusCode.ABORTED,
                "participant 1 of 2");
    }

    @Test
    void participantsWithDifferentCountsOrTheSameRankAreRefused() {
        Channel first = closed(participants.device(0).createChannel(-1, ChannelParams.of("join", 0, 2)));
        Fence done = submit(0, null, one(0, first, SUM, 0, ints(0, 1), ints(0, 0), 1));
        assertThatThrownBy(() -> participants.device(1).createChannel(-1, ChannelParams.of("join", 0, 2)))
                .isInstanceOf(IreeException.class)
                .hasMessage("channel 'join' has a participant of rank 0 already");
        assertThat(done.failure()).isEmpty();
        assertThatThrownBy(() -> participants.device(1).createChannel(-1, ChannelParams.of("join", 1, 3)))
                .isInstanceOf(IreeException.class)
                .hasMessageContaining("joined with a count of 3 by one participant and 2 by another");
        assertFailed(List.of(done), StatusCode.INVALID_ARGUMENT, "count of 3");
        assertThat(channels("join", 2)).as("a new group").hasSize(2);
        assertThatThrownBy(() -> participants.device(0).createChannel(-1, 2, 2))
                .hasMessageContaining("not within [0, 1]");
        assertThatThrownBy(() -> participants.device(0).createChannel(-1, 0, 1 << 30))
                .hasMessageContaining("not within [1, 4096]");
    }

    @Test
    void aGroupLeftWhileFormingIsFormedAnew() {
        participants
                .device(0)
                .createChannel(-1, ChannelParams.of("given up", 0, 2))
                .close();
        List<Channel> channels = channels("given up", 2);
        assertReached(List.of(
                submit(0, null, one(0, channels.get(0), SUM, 0, ints(0, 1), ints(0, 0), 1)),
                submit(1, null, one(1, channels.get(1), SUM, 0, ints(1, 1), ints(1, 0), 1))));
    }

    @Test
    void aSplitWithALeaverFails() {
        List<Channel> channels = channels("split and gone", 2);
        Channel part = closed(channels.get(0).split(0, 0));
        channels.get(1).close();
        assertThat(part.ready())
                .isNotNull()
                .satisfies(ready -> assertThat(ready.failure().orElseThrow())
                        .hasMessageContaining("participant 1 of 2 closed its channel"));
    }

    @Test
    void aPartClosedBeforeAllHaveSplitLeavesItsGroup() {
        List<Channel> channels = channels("closed part", 2);
        Channel gone = channels.get(0).split(0, 0);
        gone.close();
        Channel stays = closed(channels.get(1).split(0, 0));
        assertFailed(
                List.of(submit(1, null, one(1, stays, SUM, 0, ints(1, 1), ints(1, 0), 1))),
                StatusCode.ABORTED,
                "participant 0 of 2");
    }

    @Test
    void participantsDisagreeingAboutTheRootOrTheLengthFail() {
        Collective broadcast = Collective.of(Collective.BROADCAST, 0, Collective.S32);
        List<Channel> rooted = channels("roots", 2);
        assertFailed(
                List.of(
                        submit(0, null, one(0, rooted.get(0), broadcast, 0, ints(0, 1), null, 1)),
                        submit(1, null, one(1, rooted.get(1), broadcast, 1, ints(1, 1), null, 1))),
                StatusCode.INVALID_ARGUMENT,
                "disagree");
        List<Channel> pair = channels("lengths", 2);
        assertFailed(
                List.of(
                        submit(
                                0,
                                null,
                                one(
                                        0,
                                        pair.get(0),
                                        Collective.of(Collective.SEND, 0, Collective.S32),
                                        1,
                                        ints(0, 1),
                                        null,
                                        1)),
                        submit(
                                1,
                                null,
                                one(
                                        1,
                                        pair.get(1),
                                        Collective.of(Collective.RECV, 0, Collective.S32),
                                        0,
                                        null,
                                        ints(1, 0, 0),
                                        2))),
                StatusCode.INVALID_ARGUMENT,
                "disagree");
    }
}
