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
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.ChannelParams;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CollectiveTest {
    private static final Collective SUM = Collective.of(Collective.ALL_REDUCE, Collective.SUM, Collective.S32);
    private static final int FULL = 0x3F;

    private final List<AutoCloseable> toClose = new ArrayList<>();
    private Device device = closed(LocalDevices.open(DeviceOptions.builder().queueCount(8)));

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable each : toClose.reversed()) {
            each.close();
        }
        assertThat(device.allocator().statistics().bytesLive()).isZero();
    }

    private <T extends AutoCloseable> T closed(T closeable) {
        toClose.add(closeable);
        return closeable;
    }

    private List<Channel> channels(String id, int count) {
        List<Channel> channels = new ArrayList<>();
        for (int rank = 0; rank < count; rank++) {
            channels.add(closed(device.createChannel(-1, ChannelParams.of(id, rank, count))));
        }
        return channels;
    }

    private Buffer ints(int... values) {
        Buffer buffer = closed(device.allocator().allocate(BufferParams.DEFAULT, values.length * 4L));
        buffer.map(2, 0, Buffer.WHOLE).copyFrom(MemorySegment.ofArray(values));
        return buffer;
    }

    private static int[] read(Buffer buffer) {
        return buffer.map(1, 0, Buffer.WHOLE).toArray(ValueLayout.JAVA_INT);
    }

    private Fence fence() {
        return closed(Fence.at(closed(device.createSemaphore(0, Device.SEMAPHORE_DEFAULT)), 1));
    }

    private CommandBuffer commands(Consumer<CommandBuffer> record) {
        CommandBuffer commands = closed(device.createCommandBuffer(0, 3, -1, 4));
        record.accept(commands);
        commands.finish();
        return commands;
    }

    private CommandBuffer one(
            Channel channel,
            Collective operation,
            int parameter,
            @Nullable Buffer source,
            @Nullable Buffer target,
            long count) {
        return commands(commands -> commands.collective(
                channel,
                operation,
                parameter,
                source == null ? null : BufferRef.of(source),
                target == null ? null : BufferRef.of(target),
                count));
    }

    private Fence submit(int queue, @Nullable Fence wait, CommandBuffer commands) {
        Fence done = fence();
        device.queue(queue).execute(wait, done, commands, null, 0);
        return done;
    }

    private static void assertReached(List<Fence> fences) {
        for (Fence each : fences) {
            assertThat(each.failure()).isNull();
            assertThat(each.isReached()).isTrue();
        }
    }

    private static Frontier frontier(Fence fence) {
        return Objects.requireNonNull(fence.semaphore(0).frontierAt(fence.value(0)));
    }

    /** Runs one operation on all ranks, and returns the targets. */
    private List<Buffer> run(
            String id, Collective operation, int parameter, long count, int[] target, int[]... sources) {
        List<Channel> channels = channels(id, sources.length);
        List<Fence> done = new ArrayList<>();
        List<Buffer> targets = new ArrayList<>();
        for (int rank = 0; rank < sources.length; rank++) {
            assertThat(done).noneMatch(Fence::isReached);
            targets.add(ints(target.clone()));
            done.add(submit(
                    rank,
                    null,
                    one(channels.get(rank), operation, parameter, ints(sources[rank]), targets.get(rank), count)));
        }
        assertReached(done);
        return targets;
    }

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
    void gathersOfAllAreInTheOrderOfRanks() {
        List<Buffer> targets = run(
                "gather",
                Collective.of(Collective.ALL_GATHER, 0, Collective.S32),
                0,
                2,
                new int[6],
                new int[] {1, 2},
                new int[] {3, 4},
                new int[] {5, 6});
        assertThat(targets).allSatisfy(target -> assertThat(read(target)).containsExactly(1, 2, 3, 4, 5, 6));
    }

    @Test
    void allToAllTransposesParts() {
        List<Buffer> targets = run(
                "transpose",
                Collective.of(Collective.ALL_TO_ALL, 0, Collective.S32),
                0,
                4,
                new int[4],
                new int[] {1, 2, 3, 4},
                new int[] {5, 6, 7, 8});
        assertThat(read(targets.get(0))).containsExactly(1, 2, 5, 6);
        assertThat(read(targets.get(1))).containsExactly(3, 4, 7, 8);
    }

    @Test
    void aBroadcastReachesAllButTheRoot() {
        List<Buffer> targets = run(
                "broadcast",
                Collective.of(Collective.BROADCAST, 0, Collective.S32),
                1,
                1,
                new int[] {-1},
                new int[] {1},
                new int[] {2},
                new int[] {3});
        assertThat(read(targets.get(0))).containsExactly(2);
        assertThat(read(targets.get(1))).as("root").containsExactly(-1);
        assertThat(read(targets.get(2))).containsExactly(2);
    }

    @Test
    void aReduceReachesTheRootAlone() {
        List<Buffer> targets = run(
                "reduce",
                Collective.of(Collective.REDUCE, Collective.MAXIMUM, Collective.S32),
                2,
                2,
                new int[] {-1, -1},
                new int[] {1, 9},
                new int[] {7, -2},
                new int[] {3, 4});
        assertThat(read(targets.get(0))).containsExactly(-1, -1);
        assertThat(read(targets.get(2))).containsExactly(7, 9);
    }

    @Test
    void aReduceScatterGivesEachItsPart() {
        List<Buffer> targets = run(
                "scatter",
                Collective.of(Collective.REDUCE_SCATTER, Collective.SUM, Collective.S32),
                0,
                1,
                new int[1],
                new int[] {1, 2},
                new int[] {10, 20});
        assertThat(read(targets.get(0))).containsExactly(11);
        assertThat(read(targets.get(1))).containsExactly(22);
    }

    @Test
    void sendsMeetReceivesWhateverTheirOrder() {
        List<Channel> channels = channels("pair", 3);
        Collective send = Collective.of(Collective.SEND, 0, Collective.S32);
        Collective receive = Collective.of(Collective.RECV, 0, Collective.S32);
        List<Buffer> targets = List.of(ints(0), ints(0));
        List<Fence> done = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) { // both send first: nothing between the two, so they run at once
            Channel channel = channels.get(rank);
            Buffer source = ints(rank + 5);
            Buffer target = targets.get(rank);
            int peer = 1 - rank;
            done.add(submit(rank, null, commands(commands -> {
                commands.collective(channel, send, peer, BufferRef.of(source), null, 1);
                commands.collective(channel, receive, peer, null, BufferRef.of(target), 1);
            })));
        }
        assertReached(done);
        assertThat(read(targets.get(0))).containsExactly(6);
        assertThat(read(targets.get(1))).containsExactly(5);
        assertThat(frontier(done.get(0)).size()).isOne();
    }

    @Test
    void sendReceiveShiftsAndFillsWithZeros() {
        List<Channel> channels = channels("shift", 3);
        Collective operation = Collective.of(Collective.SEND_RECV, 0, Collective.S32);
        List<Buffer> targets = List.of(ints(-1), ints(-1), ints(-1));
        List<Fence> done = new ArrayList<>();
        for (int rank = 0; rank < 3; rank++) { // to the right, nobody in front of the first
            int peers = Collective.peers(rank == 2 ? -1 : rank + 1, rank - 1);
            done.add(submit(
                    rank, null, one(channels.get(rank), operation, peers, ints(rank + 1), targets.get(rank), 1)));
        }
        assertReached(done);
        assertThat(targets.stream().map(target -> read(target)[0])).containsExactly(0, 1, 2);
    }

    @Test
    void reducesEveryTypeByEveryReduction() {
        double[] values = {6, 3, 9}; // the product, 162, wraps around in 8 bits
        for (int type = Collective.S8; type <= Collective.BF16; type++) {
            double[] expected = {0, 18, type == Collective.S8 ? 162 - 256 : 162, 3, 9, 6};
            for (int reduction = Collective.SUM; reduction <= Collective.AVERAGE; reduction++) {
                assertThat(reduce(type, reduction, values))
                        .as("type %d, reduction %d", type, reduction)
                        .isEqualTo(expected[reduction]);
            }
        }
    }

    @Test
    void unsignedElementsCompareAsSuch() {
        for (int type : new int[] {Collective.U8, Collective.U16, Collective.U32, Collective.U64}) {
            assertThat(reduce(type, Collective.MAXIMUM, -1, 3))
                    .as("type " + type)
                    .isNotEqualTo(3);
            assertThat(reduce(type, Collective.MINIMUM, -1, 3))
                    .as("type " + type)
                    .isEqualTo(3);
        }
        for (int type : new int[] {Collective.S8, Collective.S16, Collective.S32, Collective.S64, Collective.F16}) {
            assertThat(reduce(type, Collective.MAXIMUM, -1, 3))
                    .as("type " + type)
                    .isEqualTo(3);
        }
        assertThat(reduce(Collective.S32, Collective.AVERAGE, Integer.MAX_VALUE, Integer.MAX_VALUE))
                .isEqualTo(Integer.MAX_VALUE);
    }

    @Test
    void floatsKeepNaNAndRoundOnce() {
        assertThat(reduce(Collective.F32, Collective.MAXIMUM, 1, Double.NaN)).isNaN();
        assertThat(reduce(Collective.BF16, Collective.SUM, 1, Double.NaN)).isNaN();
        // 256 + 1 + 1 is even in bfloat16, which has eight bits; rounding twice would lose both ones.
        assertThat(reduce(Collective.BF16, Collective.SUM, 256, 1, 1)).isEqualTo(258);
        assertThat(reduce(Collective.F16, Collective.SUM, 65504, 65504)).isInfinite();
    }

    /** All-reduces one element of each participant, and checks that all get the same. */
    private double reduce(int type, int reduction, double... values) {
        Collective operation = Collective.of(Collective.ALL_REDUCE, reduction, type);
        List<Channel> channels = channels("types", values.length);
        List<Buffer> targets = new ArrayList<>();
        List<Fence> done = new ArrayList<>();
        for (int rank = 0; rank < values.length; rank++) {
            Buffer target = closed(device.allocator().allocate(BufferParams.DEFAULT, operation.elementSize()));
            Buffer source = closed(device.allocator().allocate(BufferParams.DEFAULT, operation.elementSize()));
            encode(source.map(2, 0, Buffer.WHOLE), type, values[rank]);
            targets.add(target);
            done.add(submit(rank, null, one(channels.get(rank), operation, 0, source, target, 1)));
        }
        assertReached(done);
        double first = decode(targets.getFirst().map(1, 0, Buffer.WHOLE), type);
        assertThat(targets)
                .allSatisfy(target ->
                        assertThat(decode(target.map(1, 0, Buffer.WHOLE), type)).isEqualTo(Double.valueOf(first)));
        return first;
    }

    private static void encode(MemorySegment bytes, int type, double value) {
        switch (type) {
            case Collective.S8, Collective.U8 -> bytes.set(ValueLayout.JAVA_BYTE, 0, (byte) (long) value);
            case Collective.S16, Collective.U16 -> bytes.set(ValueLayout.JAVA_SHORT, 0, (short) (long) value);
            case Collective.S32, Collective.U32 -> bytes.set(ValueLayout.JAVA_INT, 0, (int) (long) value);
            case Collective.S64, Collective.U64 -> bytes.set(ValueLayout.JAVA_LONG, 0, (long) value);
            case Collective.F16 -> bytes.set(ValueLayout.JAVA_SHORT, 0, Float.floatToFloat16((float) value));
            case Collective.F32 -> bytes.set(ValueLayout.JAVA_FLOAT, 0, (float) value);
            case Collective.F64 -> bytes.set(ValueLayout.JAVA_DOUBLE, 0, value);
            default -> // exact for the values used here
                bytes.set(ValueLayout.JAVA_SHORT, 0, (short) (Float.floatToRawIntBits((float) value) >>> 16));
        }
    }

    private static double decode(MemorySegment bytes, int type) {
        return switch (type) {
            case Collective.S8 -> bytes.get(ValueLayout.JAVA_BYTE, 0);
            case Collective.U8 -> bytes.get(ValueLayout.JAVA_BYTE, 0) & 0xFF;
            case Collective.S16 -> bytes.get(ValueLayout.JAVA_SHORT, 0);
            case Collective.U16 -> bytes.get(ValueLayout.JAVA_SHORT, 0) & 0xFFFF;
            case Collective.S32 -> bytes.get(ValueLayout.JAVA_INT, 0);
            case Collective.U32 -> bytes.get(ValueLayout.JAVA_INT, 0) & 0xFFFF_FFFFL;
            case Collective.S64, Collective.U64 -> bytes.get(ValueLayout.JAVA_LONG, 0);
            case Collective.F16 -> Float.float16ToFloat(bytes.get(ValueLayout.JAVA_SHORT, 0));
            case Collective.F32 -> bytes.get(ValueLayout.JAVA_FLOAT, 0);
            case Collective.F64 -> bytes.get(ValueLayout.JAVA_DOUBLE, 0);
            default -> Float.intBitsToFloat(bytes.get(ValueLayout.JAVA_SHORT, 0) << 16);
        };
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
        buffer.close(); // the submission keeps it
        assertReached(List.of(submit(0, null, one(channels.get(1), SUM, 0, ints(1), ints(1), 1)), first));
    }

    @Test
    void participantsThatDisagreeAllFailNowAndLater() {
        List<Channel> channels = channels("disagree", 3);
        List<Fence> done = List.of(
                submit(0, null, one(channels.get(0), SUM, 0, ints(1), ints(0), 1)),
                submit(1, null, one(channels.get(1), SUM, 0, ints(1, 2), ints(0, 0), 2)),
                submit(2, null, one(channels.get(2), SUM, 0, ints(1), ints(0), 1)));
        assertFailed(done, StatusCode.INVALID_ARGUMENT, "participants of a collective disagree: rank 0 has all_reduce");
        assertFailed(
                List.of(submit(0, null, one(channels.get(0), SUM, 0, ints(1), ints(0), 1))),
                StatusCode.INVALID_ARGUMENT,
                "disagree");
    }

    private static void assertFailed(List<Fence> fences, StatusCode code, String message) {
        for (Fence each : fences) {
            IreeException failure = each.failure();
            assertThat(failure).isNotNull();
            assertThat(failure.code()).isEqualTo(code);
            assertThat(failure.getMessage()).contains(message);
        }
    }

    @Test
    void aParticipantWhoseWaitFailsFailsAllWithThatCause() {
        List<Channel> channels = channels("cause", 2);
        Fence wait = fence();
        List<Fence> done = List.of(
                submit(0, null, one(channels.get(0), SUM, 0, ints(1), ints(0), 1)),
                submit(1, wait, one(channels.get(1), SUM, 0, ints(1), ints(0), 1)));
        assertThat(done).noneMatch(each -> each.failure() != null);
        wait.fail(new IreeException(StatusCode.DATA_LOSS, "disk gone"));
        assertFailed(done, StatusCode.DATA_LOSS, "disk gone");
    }

    @Test
    void aParticipantThatClosesItsChannelFailsThoseWhoWaitForIt() {
        List<Channel> channels = channels("closing", 2);
        Fence done = submit(0, null, one(channels.get(0), SUM, 0, ints(1), ints(0), 1));
        channels.get(1).close();
        assertFailed(List.of(done), StatusCode.ABORTED, "participant 1 of 2 closed its channel");
        assertFailed(
                List.of(submit(0, null, one(channels.get(0), SUM, 0, ints(1), ints(0), 1))),
                StatusCode.ABORTED,
                "participant 1 of 2");
    }

    @Test
    void aClosedDeviceFailsTheGroup() {
        Device other = closed(LocalDevices.open(DeviceOptions.builder()));
        Channel mine = closed(device.createChannel(-1, ChannelParams.of("devices", 0, 2)));
        Channel theirs = closed(other.createChannel(-1, ChannelParams.of("devices", 1, 2)));
        assertThat(theirs.rank()).isOne();
        Fence done = submit(0, null, one(mine, SUM, 0, ints(1), ints(0), 1));
        other.close();
        assertFailed(List.of(done), StatusCode.ABORTED, "device 'local' of a channel was closed");
    }

    @Test
    void aLostDeviceFailsThoseWhoWaitForItAndNobodyElse() {
        VirtualClock clock = VirtualClock.stepped();
        VirtualDevice lost = closed(VirtualDevice.builder().clock(clock).build());
        VirtualDevice other = closed(VirtualDevice.builder().clock(clock).build());
        device.close();
        device = other;
        Channel mine = closed(other.createChannel(-1, ChannelParams.of("lost", 0, 2)));
        Channel theirs = closed(lost.createChannel(-1, ChannelParams.of("lost", 1, 2)));
        List<Channel> unrelated = channels("unrelated", 2);
        Fence waits = submit(0, null, one(mine, SUM, 0, ints(1), ints(0), 1));
        Fence half = submit(0, null, one(unrelated.get(0), SUM, 0, ints(1), ints(0), 1));
        clock.runUntilIdle();
        IreeException cause = new IreeException(StatusCode.UNAVAILABLE, "fell off the bus");
        lost.lose(cause);
        assertThat(waits.failure()).isSameAs(cause);
        Fence late = submit(0, null, one(mine, SUM, 0, ints(1), ints(0), 1));
        clock.runUntilIdle();
        assertThat(late.failure()).isSameAs(cause);
        Fence later = closed(Fence.at(closed(TimelineSemaphore.create(0)), 1));
        lost.queue(0).execute(null, later, one(theirs, SUM, 0, ints(1), ints(0), 1), null, 0);
        assertThat(later.failure()).isSameAs(cause);
        Fence whole = submit(0, null, one(unrelated.get(1), SUM, 0, ints(1), ints(0), 1));
        clock.runUntilIdle();
        assertReached(List.of(half, whole));
    }

    @Test
    void participantsThatCountDifferentlyOrShareARankAreRefused() {
        Channel first = closed(device.createChannel(-1, ChannelParams.of("join", 0, 2)));
        Fence done = submit(0, null, one(first, SUM, 0, ints(1), ints(0), 1));
        assertThatThrownBy(() -> device.createChannel(-1, ChannelParams.of("join", 0, 2)))
                .isInstanceOf(IreeException.class)
                .hasMessage("channel 'join' has a participant of rank 0 already");
        assertThat(done.failure()).isNull();
        assertThatThrownBy(() -> device.createChannel(-1, ChannelParams.of("join", 1, 3)))
                .isInstanceOf(IreeException.class)
                .hasMessageContaining("joined with a count of 3 by one participant and 2 by another");
        assertFailed(List.of(done), StatusCode.INVALID_ARGUMENT, "count of 3");
        assertThat(channels("join", 2)).as("a new group").hasSize(2);
        assertThatThrownBy(() -> device.createChannel(-1, 2, 2)).hasMessageContaining("not within [0, 1]");
        assertThatThrownBy(() -> device.createChannel(-1, 0, 1 << 30)).hasMessageContaining("not within [1, 4096]");
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
    void whatDoesNotFitIsRefusedWhenItIsRecorded() {
        List<Channel> channels = channels("checks", 2);
        Channel channel = channels.getFirst();
        Collective gather = Collective.of(Collective.ALL_GATHER, 0, Collective.S32);
        assertThatThrownBy(() -> one(channel, gather, 0, ints(1), ints(1), 1))
                .hasMessageContaining("target of all_gather [0, 8) does not fit buffer of 4 bytes");
        assertThatThrownBy(() -> one(channel, gather, 0, ints(1), null, 1)).hasMessageContaining("is missing");
        assertThatThrownBy(() -> one(channel, SUM, 0, ints(1), ints(1), Long.MAX_VALUE / 2))
                .hasMessageContaining("among 2 participants");
        assertThatThrownBy(() -> one(channel, new Collective(9), 0, ints(1), ints(1), 1))
                .hasMessageContaining("unknown kind");
        assertThatThrownBy(() ->
                        one(channel, Collective.of(Collective.BROADCAST, 0, Collective.S32), 2, ints(1), ints(1), 1))
                .hasMessageContaining("root rank 2");
        assertThatThrownBy(() ->
                        one(channel, Collective.of(Collective.ALL_TO_ALL, 0, Collective.S8), 0, ints(1), ints(1), 3))
                .hasMessageContaining("does not divide");
        assertThatThrownBy(() ->
                        one(channel, Collective.of(Collective.ALL_REDUCE, 0, Collective.S8), 0, ints(1), ints(1), 3))
                .hasMessageContaining("needs a reduction");
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
        // Four times itself in every round: 4^16 is 0 in 32 bits, so what is left is seen by the epochs instead.
        assertThat(values).allSatisfy(value -> assertThat(read(value)).containsExactly(0));
        Frontier last = Objects.requireNonNull(timelines.getFirst().frontierAt(rounds));
        assertThat(last.epochOf(last.producerAxis())).isEqualTo(rounds);
    }

    // GROUP-1: whoever arrives is told once, though the group fails meanwhile.
    @Test
    void aFailureWhileOthersArriveLeavesNothingPending() throws Exception {
        int threads = 4;
        int rounds = 100;
        List<Channel> channels = channels("failing", threads);
        List<List<Fence>> done = new ArrayList<>();
        List<CommandBuffer> commands = new ArrayList<>();
        for (int rank = 0; rank < threads; rank++) {
            commands.add(one(channels.get(rank), SUM, 0, ints(1), ints(0), 1));
            List<Fence> own = new ArrayList<>();
            for (int round = 0; round < rounds; round++) {
                own.add(fence());
            }
            done.add(own);
        }
        Fence broken = fence();
        broken.fail(new IreeException(StatusCode.DATA_LOSS, "disk gone"));
        List<Thread> running = new ArrayList<>();
        for (int rank = 0; rank < threads; rank++) {
            int own = rank;
            running.add(Thread.startVirtualThread(() -> {
                for (int round = 0; round < rounds; round++) {
                    Fence wait = own == 3 && round == rounds / 2 ? broken : null;
                    device.queue(own).execute(wait, done.get(own).get(round), commands.get(own), null, 0);
                }
            }));
        }
        for (Thread each : running) {
            each.join();
        }
        for (int round = 0; round < rounds; round++) {
            for (int rank = 0; rank < threads; rank++) {
                Fence each = done.get(rank).get(round);
                assertThat(each.query()).as("rank %d, round %d", rank, round).isNotEqualTo(StatusCode.DEFERRED);
                if (round >= rounds / 2) {
                    assertThat(each.query()).isEqualTo(StatusCode.DATA_LOSS);
                }
            }
        }
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
