package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.ChannelParams;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.collective.GroupChannel;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Collectives on devices without hardware: missing libraries, participants that fail or never come, groups across
 * processes.
 */
@Timeout(300)
class GpuCollectiveFaultsTest {
    private static final Collective SUM = Collective.of(Collective.ALL_REDUCE, Collective.SUM, Collective.S32);
    private static final BufferParams PARAMS = new BufferParams(
            MemoryType.DEVICE_LOCAL | MemoryType.HOST_VISIBLE, BufferUsage.DEFAULT | BufferUsage.MAPPING);

    @TempDir
    private Path directory;

    private final List<AutoCloseable> toClose = new ArrayList<>();
    private GpuRanks ranks;

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : toClose.reversed()) {
            each.close();
        }
        if (ranks != null) {
            ranks.close();
        }
    }

    private <T extends AutoCloseable> T closed(T closeable) {
        toClose.add(closeable);
        return closeable;
    }

    private void open(GpuKind kind, String settings) {
        ranks = new GpuRanks(directory, kind, settings);
    }

    private static IreeException failure(ThrowingCallable call) {
        IreeException failure = catchThrowableOfType(IreeException.class, call);
        assertThat(failure).isNotNull();
        return failure;
    }

    private List<Channel> channels(String id, int count) {
        List<Channel> channels = new ArrayList<>();
        for (int rank = 0; rank < count; rank++) {
            channels.add(closed(ranks.device(rank).createChannel(-1, ChannelParams.of(id, rank, count))));
        }
        return channels;
    }

    private Buffer number(int rank, int value) {
        Buffer buffer = closed(ranks.device(rank).allocator().allocate(PARAMS, 4));
        buffer.map(MemoryAccess.WRITE, 0, 4).set(ValueLayout.JAVA_INT, 0, value);
        return buffer;
    }

    private static int read(Buffer buffer) {
        return buffer.map(MemoryAccess.READ, 0, 4).get(ValueLayout.JAVA_INT, 0);
    }

    /** Sums a number in place, so many times. */
    private Fence sum(int rank, Channel channel, Buffer number, int times) {
        Fence done = closed(Fence.at(closed(TimelineSemaphore.create(0)), 1));
        ranks.device(rank).queue(0).execute(null, done, commands(rank, channel, number, times), null, 0);
        return done;
    }

    private CommandBuffer commands(int rank, Channel channel, Buffer number, int times) {
        Device device = ranks.device(rank);
        CommandBuffer commands = closed(device.createCommandBuffer(0, CommandBuffer.DISPATCH, -1, 0));
        for (int i = 0; i < times; i++) {
            commands.collective(channel, SUM, 0, BufferRef.of(number), BufferRef.of(number), 1);
        }
        commands.finish();
        return commands;
    }

    private Fence sum(int rank, Channel channel) {
        return sum(rank, channel, number(rank, 1), 1);
    }

    private static void await(Fence fence) {
        fence.await(Duration.ofSeconds(60));
    }

    private static void assertFails(Fence fence, StatusCode code, String... texts) {
        IreeException failure = catchThrowableOfType(IreeException.class, () -> await(fence));
        assertThat(failure)
                .as("reached with " + fence.semaphore(0).frontierAt(1))
                .isNotNull();
        assertThat(failure).message().contains(texts);
        assertThat(failure.code()).isEqualTo(code);
    }

    // ---- The library.

    private IreeException unavailable(GpuKind kind, String settings, @Nullable String collectives) {
        GpuDrivers fake = GpuDrivers.fake(directory, kind, settings);
        String driver = Objects.requireNonNull(fake.library()).library();
        GpuDriver with = new GpuDriver(
                kind, driver, collectives == null ? driver : collectives, StreamDevice.CLOSE_LIMIT, GpuLane.WINDOW, 0);
        try (StreamDevice device = with.open(with.name(), DeviceOptions.DEFAULTS)) {
            IreeException failure = failure(() -> device.createChannel(-1, ChannelParams.of(0, 2)));
            assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE);
            assertThat(failure(device::createChannelId)).hasMessage(failure.getMessage());
            return failure;
        }
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void aMissingLibraryIsNamedWhenAChannelIsRequested(GpuKind kind) {
        assertThat(unavailable(kind, "", "/no/such/libnccl.so.2")).hasMessageContaining("/no/such/libnccl.so.2");
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void aMissingSymbolIsNamed(GpuKind kind) {
        assertThat(unavailable(kind, "no_symbol=ncclCommFinalize", null))
                .hasMessageContaining("has no symbol ncclCommFinalize; install ")
                .hasMessageContaining(kind == GpuKind.CUDA ? "NCCL 2.14" : "RCCL 2.14");
    }

    // ---- Group calls.

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void creatingAChannelDoesNotWaitAndWorkIsHeldUntilAllHaveJoined(GpuKind kind) {
        open(kind, "join_slow=40");
        Channel first = closed(ranks.device(0).createChannel(-1, ChannelParams.of("slow", 0, 2)));
        assertThat(List.of(first.rank(), first.count())).containsExactly(0, 2);
        Buffer one = number(0, 1);
        Fence held = sum(0, first, one, 1);
        Fence other = closed(Fence.at(closed(TimelineSemaphore.create(0)), 1));
        ranks.device(0).queue(0).barrier(null, other, 0);
        await(other);
        assertThat(held.isReached()).isFalse();
        Channel second = closed(ranks.device(1).createChannel(-1, ChannelParams.of("slow", 1, 2)));
        Buffer two = number(1, 20);
        await(sum(1, second, two, 1));
        await(held);
        assertThat(List.of(read(one), read(two))).containsExactly(21, 21);
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void collectivesSideBySideAreASingleGroupCallOfAllParticipants(GpuKind kind) {
        open(kind, "");
        List<Channel> channels = channels("together", 3);
        List<Buffer> numbers = List.of(number(0, 1), number(1, 2), number(2, 3));
        List<Fence> done = new ArrayList<>();
        for (int rank = 0; rank < 3; rank++) {
            done.add(sum(rank, channels.get(rank), numbers.get(rank), 4));
        }
        done.forEach(GpuCollectiveFaultsTest::await);
        assertThat(ranks.library().calls("group_start")).isOne();
        assertThat(ranks.library().calls("all_reduce")).isEqualTo(12);
        assertThat(numbers).extracting(GpuCollectiveFaultsTest::read).containsOnly(6 * 27);
    }

    // STREAM-8: lanes take their parts of group calls in the same order, in any order of submission.
    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void manyGroupCallsAreUnderWayAtOnce(GpuKind kind) throws InterruptedException {
        open(kind, "");
        int rounds = 25;
        List<Channel> first = channels("first", 3);
        List<Channel> second = channels("second", 3);
        List<Buffer> numbers = List.of(number(0, 1), number(1, 1), number(2, 1));
        List<Buffer> others = List.of(number(0, 1), number(1, 1), number(2, 1));
        List<List<CommandBuffer>> commands = new ArrayList<>();
        List<TimelineSemaphore> timelines = new ArrayList<>();
        for (int rank = 0; rank < 3; rank++) {
            commands.add(List.of(
                    commands(rank, first.get(rank), numbers.get(rank), 1),
                    commands(rank, second.get(rank), others.get(rank), 1)));
            timelines.add(closed(TimelineSemaphore.create(0)));
        }
        List<Thread> threads = new ArrayList<>();
        for (int rank = 0; rank < 3; rank++) {
            int own = rank;
            threads.add(Thread.startVirtualThread(() -> {
                for (int i = 0; i < 2 * rounds; i++) {
                    try (Fence wait = Fence.at(timelines.get(own), i);
                            Fence signal = Fence.at(timelines.get(own), i + 1)) {
                        CommandBuffer next = commands.get(own).get(i % 2);
                        ranks.device(own).queue(i % 2).execute(wait, signal, next, null, 0);
                    }
                }
            }));
        }
        for (Thread each : threads) {
            each.join();
        }
        for (TimelineSemaphore each : timelines) {
            each.await(2L * rounds, Duration.ofSeconds(60));
        }
        assertThat(ranks.library().calls("all_reduce")).isEqualTo(3L * 2 * rounds);
    }

    // ---- Participants that fail.

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void anErrorOfAParticipantFailsAll(GpuKind kind) {
        open(kind, "comm_error=1:2");
        List<Channel> channels = channels("error", 2);
        List.of(sum(0, channels.get(0)), sum(1, channels.get(1))).forEach(GpuCollectiveFaultsTest::await);
        List<Fence> second = List.of(sum(0, channels.get(0)), sum(1, channels.get(1)));
        for (Fence each : second) {
            assertFails(
                    each,
                    StatusCode.ABORTED,
                    "participant 1 of 2 of a channel failed in all_reduce",
                    "REMOTE_ERROR (6)",
                    "another participant is gone");
        }
        assertFails(sum(0, channels.get(0)), StatusCode.ABORTED, "participant 1 of 2");
        List<Channel> again = channels("error", 2);
        List.of(sum(0, again.get(0)), sum(1, again.get(1))).forEach(GpuCollectiveFaultsTest::await);
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void aParticipantUnableToJoinFailsAll(GpuKind kind) {
        open(kind, "fail=comm_join:2:2");
        List<Channel> channels = channels("join", 2);
        List<Fence> done = List.of(sum(0, channels.get(0)), sum(1, channels.get(1)));
        for (Fence each : done) {
            assertFails(each, StatusCode.UNAVAILABLE, "of 2 of a channel failed", "SYSTEM_ERROR (2)");
        }
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void aRefusedGroupCallFailsAll(GpuKind kind) {
        open(kind, "fail=all_reduce:2:3");
        List<Channel> channels = channels("refused", 2);
        List<Fence> done = List.of(sum(0, channels.get(0)), sum(1, channels.get(1)));
        for (Fence each : done) {
            assertFails(each, StatusCode.INTERNAL, "INTERNAL_ERROR (3)");
        }
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void aParticipantWithoutMemoryForItsStreamFailsTheGroup(GpuKind kind) {
        open(kind, "fail=stream_create:5:2"); // two devices have two each
        ranks.device(1);
        IreeException failure = failure(() -> ranks.device(0).createChannel(-1, ChannelParams.of("memory", 0, 2)));
        assertThat(failure.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        List<Channel> again = channels("memory", 2);
        List.of(sum(0, again.get(0)), sum(1, again.get(1))).forEach(GpuCollectiveFaultsTest::await);
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void aLostDeviceFailsTheOthers(GpuKind kind) {
        open(kind, "kernel_fault=1");
        List<Channel> channels = channels("lost", 3);
        List<Fence> waiting = List.of(sum(0, channels.get(0)), sum(1, channels.get(1)));
        Executable kernels = closed(GpuKernels.load(ranks.device(2)));
        Buffer number = number(2, 1);
        ranks.device(2)
                .queue(0)
                .dispatch(
                        null,
                        null,
                        kernels,
                        JavaKernels.SCALE,
                        DispatchConfig.of(1, 1, 1),
                        new int[] {1, 1},
                        BindingTable.of(number, number),
                        0);
        for (Fence each : waiting) {
            assertFails(each, StatusCode.ABORTED, "of a channel", "2' is lost");
        }
        List<Channel> others = channels("others", 2);
        List.of(sum(0, others.get(0)), sum(1, others.get(1))).forEach(GpuCollectiveFaultsTest::await);
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void aDeviceLostDuringACollectiveEndsTheCollective(GpuKind kind) {
        open(kind, "");
        String id = ranks.device(0).createChannelId();
        Channel first = closed(ranks.device(0).createChannel(-1, ChannelParams.of(id, 0, 2)));
        Channel second = closed(ranks.device(1).createChannel(-1, ChannelParams.of(id, 1, 2)));
        Fence begun = sum(0, first);
        awaitCalls("all_reduce", 1);
        ranks.library().lose();
        assertFails(begun, StatusCode.ABORTED, "is lost");
        assertThat(second.rank()).isOne();
    }

    /**
     * The group fails by one participant, and is still notifying others when the part of another ends with the loss.
     */
    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void aCollectiveEndingWhileItsGroupIsFailingFails(GpuKind kind) throws InterruptedException {
        open(kind, "");
        List<Channel> channels = channels("failing", 2);
        List.of(sum(0, channels.get(0)), sum(1, channels.get(1))).forEach(GpuCollectiveFaultsTest::await);
        ranks.library().hang();
        List<Fence> begun = List.of(sum(0, channels.get(0)), sum(1, channels.get(1)));
        awaitCalls("all_reduce", 4);
        Fence alone = sum(0, channels.get(0));
        CountDownLatch failing = new CountDownLatch(1);
        CountDownLatch seen = new CountDownLatch(1);
        alone.semaphore(0).whenReached(1, (reached, failure) -> {
            failing.countDown();
            uninterruptibly(seen);
        });
        IreeException cause = IreeException.of(StatusCode.ABORTED, "gone");
        Thread fails = Thread.startVirtualThread(() -> ((GroupChannel) channels.get(1)).fail(cause));
        assertThat(failing.await(20, TimeUnit.SECONDS)).isTrue();
        ranks.library().lose();
        try {
            for (Fence each : begun) {
                assertThat(catchThrowableOfType(IreeException.class, () -> await(each)))
                        .isNotNull();
            }
        } finally {
            seen.countDown();
            fails.join();
        }
    }

    private static void uninterruptibly(CountDownLatch latch) {
        try {
            latch.await(20, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void awaitCalls(String name, int count) {
        long limit = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (ranks.library().calls(name) < count) {
            assertThat(System.nanoTime()).isLessThan(limit);
            Thread.onSpinWait();
        }
    }

    // ---- Groups that span processes.

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void participantsOfAnIdMeetInTheLibrary(GpuKind kind) {
        open(kind, "");
        String id = ranks.device(0).createChannelId();
        List<Channel> channels = channels(id, 3);
        List<Buffer> numbers = List.of(number(0, 1), number(1, 2), number(2, 3));
        for (int round = 0; round < 3; round++) {
            List<Fence> done = new ArrayList<>();
            for (int rank = 2; rank >= 0; rank--) {
                done.add(sum(rank, channels.get(rank), numbers.get(rank), 1));
            }
            done.forEach(GpuCollectiveFaultsTest::await);
        }
        assertThat(numbers).extracting(GpuCollectiveFaultsTest::read).containsOnly(6 * 9);
        assertThat(ranks.library().calls("group_start"))
                .as("separate for each, as in processes")
                .isEqualTo(9);
        IreeException failure = failure(() -> ranks.device(0).createChannel(-1, ChannelParams.of(id, -1, 3)));
        assertThat(failure).hasMessageContaining("needs a rank");
        assertThat(failure(() -> channels.getFirst().split(0, 0)).code()).isEqualTo(StatusCode.UNIMPLEMENTED);
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void aParticipantNeverJoiningKeepsNobodyFromClosing(GpuKind kind) {
        open(kind, "");
        String id = ranks.device(0).createChannelId();
        Channel alone = closed(ranks.device(0).createChannel(-1, ChannelParams.of(id, 0, 2)));
        Fence held = sum(0, alone);
        awaitCalls("comm_join", 1);
        ranks.device(0).close();
        assertFails(held, StatusCode.ABORTED, "was closed");
    }

    // STREAM-9: aborted while the lane's thread asks for the state.
    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void aParticipantNeverComingKeepsNobodyFromClosing(GpuKind kind) {
        open(kind, "");
        String id = ranks.device(0).createChannelId();
        Channel comes = closed(ranks.device(0).createChannel(-1, ChannelParams.of(id, 0, 2)));
        Channel never = closed(ranks.device(1).createChannel(-1, ChannelParams.of(id, 1, 2)));
        Fence hangs = sum(0, comes);
        awaitCalls("all_reduce", 1);
        assertThat(hangs.isReached()).isFalse();
        ranks.device(0).close();
        assertFails(hangs, StatusCode.ABORTED, "was closed");
        assertThat(never.count()).isEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void devicesOfDifferentDriversDoNotMeet(GpuKind kind) {
        open(kind, "");
        Channel first = closed(ranks.device(0).createChannel(-1, ChannelParams.of("drivers", 0, 2)));
        GpuDrivers other = GpuDrivers.fake(directory, kind, "");
        try (StreamDevice foreign = other.open(DeviceOptions.builder())) {
            IreeException failure = failure(() -> foreign.createChannel(-1, ChannelParams.of("drivers", 1, 2)));
            assertThat(failure.code()).isEqualTo(StatusCode.INVALID_ARGUMENT);
            assertThat(failure).hasMessageContaining("on devices of another driver");
        }
        assertThat(first.rank()).isZero();
    }
}
