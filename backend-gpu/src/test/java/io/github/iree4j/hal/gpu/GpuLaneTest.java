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
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.DriverTimeline;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.hal.stream.StreamDevices;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Streams that are full, held back, or refuse commands: callers are not held up, and order stays. */
@Timeout(300)
class GpuLaneTest {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final Duration LONG = Duration.ofSeconds(60);

    private static final BufferParams OF_DEVICE = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);
    private static final BufferParams OF_HOST = new BufferParams(
            MemoryType.HOST_VISIBLE | MemoryType.DEVICE_VISIBLE,
            BufferUsage.DEFAULT | BufferUsage.MAPPING | BufferUsage.DISPATCH_INDIRECT_PARAMETERS);

    @TempDir
    private Path directory;

    private final List<AutoCloseable> opened = new ArrayList<>();
    private @Nullable GpuDrivers driver;
    private @Nullable StreamDevice device;

    private StreamDevice open(GpuKind kind, String settings, int queues) {
        return open(kind, settings, queues, GpuLane.WINDOW);
    }

    private StreamDevice open(GpuKind kind, String settings, int queues, int window) {
        GpuDrivers made = GpuDrivers.fake(directory, kind, settings, window);
        driver = made;
        StreamDevice opened = made.open(DeviceOptions.builder().queueCount(queues));
        device = opened;
        return opened;
    }

    private GpuDrivers driver() {
        return Objects.requireNonNull(driver);
    }

    @AfterEach
    void close() throws Exception {
        if (driver != null) {
            driver.goOn();
        }
        for (AutoCloseable each : opened.reversed()) {
            each.close();
        }
        if (device != null) {
            device.close();
            GpuDrivers.assertNothingLeft(device);
            driver().assertNothingToComplainOf();
        }
    }

    private <T extends AutoCloseable> T closed(T resource) {
        opened.add(resource);
        return resource;
    }

    private TimelineSemaphore semaphore() {
        return closed(TimelineSemaphore.create(0));
    }

    private Fence at(TimelineSemaphore semaphore, long value) {
        return closed(Fence.at(semaphore, value));
    }

    private static Buffer buffer(StreamDevice device, BufferParams params, long size) {
        return device.allocator().allocate(params, size);
    }

    private static int[] ints(Buffer buffer) {
        return buffer.map(MemoryAccess.READ, 0, Buffer.WHOLE).toArray(INT);
    }

    /** Runs an action not to be held up by hanging streams. */
    private static void unhindered(String what, Runnable call) {
        Thread caller = Thread.ofPlatform().start(call);
        try {
            assertThat(caller.join(Duration.ofSeconds(20)))
                    .as(what + " returns")
                    .isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    // ---- Threads that give for others.

    /** The thread of stream 1 gives for stream 0, and so lets its own next command go on, which waits for the host. */
    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void aThreadWaitingForItsStreamGivesForNoOther(GpuKind kind) {
        int window = 40;
        GpuDrivers made = GpuDrivers.fake(directory, kind, "", StreamDevice.CLOSE_LIMIT, window, LONG.toNanos());
        driver = made;
        StreamDevice device = made.open(DeviceOptions.builder().queueCount(2));
        this.device = device;
        Buffer one = closed(buffer(device, OF_DEVICE, 64));
        Buffer host = closed(buffer(device, OF_HOST, 256));
        TimelineSemaphore begun = semaphore();
        device.queue(1).fill(null, at(begun, 1), one, 0, 4, 1, 4, 0); // now the thread of stream 1 gives
        begun.await(1, LONG);
        made.hang(0);
        int fills = window / 2 + 2; // each is a command and an event
        for (int i = 0; i < fills; i++) {
            device.queue(0).fill(null, null, one, 0, 4, 1, 4, 0);
        }
        TimelineSemaphore first = semaphore();
        TimelineSemaphore waits = semaphore();
        TimelineSemaphore unrelated = semaphore();
        device.queue(0).fill(null, at(first, 1), one, 0, 4, 1, 4, 0);
        device.queue(1).fill(at(first, 1), null, one, 8, 4, 1, 4, 0);
        device.queue(1).fill(null, at(waits, 1), host, 0, 256, 0x1122334455667788L, 8, 0);
        while (device.driverCounters().held() < 5) {
            Thread.onSpinWait();
        }
        made.hang(1);
        first.await(1, LONG);
        device.queue(0).fill(null, at(unrelated, 1), one, 4, 4, 1, 4, 0);
        unrelated.await(1, Duration.ofSeconds(20));
        assertThat(waits.value()).isZero();
        made.goOn();
        waits.await(1, LONG);
    }

    /** Here the test is the giver, in the place of a stream without work. */
    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void callersLeaveSubmissionsToTheGiverAndEachStreamHasItsTurn(GpuKind kind) {
        GpuDrivers made =
                GpuDrivers.fake(directory, kind, "", StreamDevice.CLOSE_LIMIT, GpuLane.WINDOW, LONG.toNanos());
        driver = made;
        StreamDevice device = made.open(DeviceOptions.builder().queueCount(3));
        this.device = device;
        GpuHardware hardware = (GpuHardware) StreamDevices.driver(device);
        GpuLane busy = (GpuLane) hardware.lanes().get(0);
        GpuLane other = (GpuLane) hardware.lanes().get(1);
        GpuLane giver = (GpuLane) hardware.lanes().get(2);
        assertThat(hardware.tryBeGiver(giver))
                .as("no thread looks before there was work")
                .isTrue();
        Buffer one = closed(buffer(device, OF_DEVICE, 64));
        TimelineSemaphore filled = semaphore();
        TimelineSemaphore unrelated = semaphore();
        for (int i = 1; i <= 40; i++) {
            device.queue(0).fill(null, at(filled, i), one, 0, 4, 1, 4, 0);
        }
        device.queue(1).fill(null, at(unrelated, 1), one, 4, 4, 1, 4, 0);
        assertThat(busy.heldCount()).isEqualTo(40);
        assertThat(other.heldCount()).isOne();
        assertThat(hardware.feedLanes(16)).isTrue();
        assertThat(busy.heldCount()).isEqualTo(24);
        assertThat(other.heldCount()).isZero();
        unrelated.await(1, LONG);
        hardware.endGiver(giver); // gives the rest
        filled.await(40, LONG);
    }

    // ---- Callers.

    /** From the host to the host the driver copies while the caller waits, also for a copying fill. */
    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void fillsOfLongPatternsInMemoryOfTheHostDoNotHoldUpTheirCaller(GpuKind kind) {
        StreamDevice device = open(kind, "", 2);
        Buffer buffer = closed(buffer(device, OF_HOST, 256));
        TimelineSemaphore done = semaphore();
        driver().hang();
        unhindered(
                "the fill",
                () -> device.queue(0).fill(null, at(done, 1), buffer, 0, Buffer.WHOLE, 0x1122334455667788L, 8, 0));
        assertThat(done.value()).isZero();
        driver().goOn();
        done.await(1, LONG);
        MemorySegment bytes = buffer.map(MemoryAccess.READ, 0, Buffer.WHOLE);
        for (long at = 0; at < 256; at += 8) {
            assertThat(bytes.get(ValueLayout.JAVA_LONG_UNALIGNED, at)).isEqualTo(0x1122334455667788L);
        }
    }

    /** GPU-4: a stream's waits take room there too. */
    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void manyWaitsDoNotFillAStreamWithCallers(GpuKind kind) {
        int queues = 12;
        int rounds = 150;
        StreamDevice device = open(kind, "", queues);
        Buffer buffer = closed(buffer(device, OF_DEVICE, 64));
        List<TimelineSemaphore> each = new ArrayList<>();
        for (int q = 0; q < queues; q++) {
            each.add(semaphore());
        }
        driver().hang();
        unhindered("each submission", () -> {
            for (int i = 1; i <= rounds; i++) {
                List<Fence.Entry> all = new ArrayList<>();
                for (int q = 1; q < queues; q++) {
                    device.queue(q).fill(null, at(each.get(q), i), buffer, 4L * q, 4, i, 4, 0);
                    all.add(new Fence.Entry(each.get(q), i));
                }
                device.queue(0).fill(closed(Fence.of(all)), at(each.getFirst(), i), buffer, 0, 4, i, 4, 0);
            }
        });
        driver().goOn();
        each.getFirst().await(rounds, LONG);
    }

    /** GPU-4: with a hanging stream, however much it has, the others go on and no caller waits. */
    @ParameterizedTest
    @CsvSource({"CUDA, 1024, 512", "HIP, 1024, 512", "CUDA, 64, 32", "HIP, 16, 16"})
    void aHangingStreamHoldsUpNoOtherAndNoCaller(GpuKind kind, int capacity, int window) {
        StreamDevice device = open(kind, "capacity=" + capacity, 3, window);
        Buffer buffer = closed(buffer(device, OF_DEVICE, 64));
        Buffer seen = closed(buffer(device, OF_HOST, 16));
        TimelineSemaphore first = semaphore();
        TimelineSemaphore second = semaphore();
        TimelineSemaphore third = semaphore();
        driver().hang(0);
        unhindered("each submission", () -> {
            for (int i = 1; i <= 5000; i++) {
                device.queue(0).fill(null, at(first, i), buffer, 0, 4, i, 4, 0);
            }
        });
        for (int i = 1; i <= 200; i++) {
            device.queue(1).fill(null, at(second, i), buffer, 4, 4, i, 4, 0);
        }
        second.await(200, LONG);
        // Behind the hanging stream, and yet no caller waits.
        unhindered("each submission", () -> {
            for (int i = 1; i <= 2000; i++) {
                device.queue(2).fill(at(first, 2 * i), at(third, i), seen, 0, 4, i, 4, 0);
            }
        });
        assertThat(first.value()).isZero();
        assertThat(third.value()).isZero();
        driver().goOn();
        third.await(2000, LONG);
        first.await(5000, LONG);
        assertThat(ints(seen)[0]).isEqualTo(2000);
    }

    /** Records fills of the elements of a buffer in turn, each with the number of its round. */
    private CommandBuffer fills(StreamDevice device, Buffer target, int count) {
        CommandBuffer many = closed(device.createCommandBuffer(0, CommandBuffer.TRANSFER, -1, 0));
        for (int i = 0; i < count; i++) {
            many.fillBuffer(BufferRef.of(target, 4L * (i % 16), 4), i / 16 + 1, 4, 0);
            many.executionBarrier(0, 0, 0);
        }
        many.finish();
        return many;
    }

    private long fillCalls() {
        return Objects.requireNonNull(driver().library()).calls("fill_32");
    }

    /** Waits until the driver was called for a number of fills. */
    private void awaitFillCalls(long count) {
        long begin = System.nanoTime();
        while (fillCalls() < count) {
            assertThat(System.nanoTime() - begin).as("time of the wait").isLessThan(20_000_000_000L);
            Thread.onSpinWait();
        }
    }

    /** GPU-4: commands executed once, such as a step of a model, are queued as far as there is room. */
    @ParameterizedTest
    @CsvSource({"CUDA, 512", "HIP, 512", "CUDA, 40", "HIP, 40"})
    void aLongSubmissionIsQueuedInPartsBehindWorkUnderWay(GpuKind kind, int window) {
        StreamDevice device = open(kind, "", 2, window);
        Buffer before = closed(buffer(device, OF_DEVICE, 64));
        Buffer seen = closed(buffer(device, OF_HOST, 64));
        TimelineSemaphore first = semaphore();
        TimelineSemaphore second = semaphore();
        TimelineSemaphore third = semaphore();
        CommandBuffer many = fills(device, seen, 1600);
        driver().hang();
        device.queue(0).fill(null, at(first, 1), before, 0, 4, 1, 4, 0);
        unhindered("the execution", () -> device.queue(0).execute(at(first, 1), at(second, 1), many, null, 0));
        device.queue(0).fill(at(second, 1), at(third, 1), before, 0, 4, 2, 4, 0);
        awaitFillCalls(window / 2);
        assertThat(fillCalls()).as("within the window").isLessThanOrEqualTo(window);
        assertThat(first.value()).as("the work before").isZero();
        driver().goOn();
        third.await(1, LONG);
        assertThat(fillCalls()).isEqualTo(1602);
        int[] all = new int[16];
        Arrays.fill(all, 100);
        assertThat(ints(seen)).isEqualTo(all);
    }

    /** The parts behind a refused part are not given, and the next submission is. */
    @ParameterizedTest
    @CsvSource({"CUDA, 10", "HIP, 10", "CUDA, 300", "HIP, 300", "CUDA, 700", "HIP, 700"})
    void aRefusedPartEndsItsSubmission(GpuKind kind, int refused) {
        StreamDevice device = open(kind, "fail=fill_32:" + refused + ":2", 2);
        Buffer one = closed(buffer(device, OF_DEVICE, 64));
        TimelineSemaphore first = semaphore();
        TimelineSemaphore second = semaphore();
        CommandBuffer many = fills(device, one, 700);
        device.queue(0).execute(null, at(first, 1), many, null, 0);
        device.queue(0).fill(null, at(second, 1), one, 0, 4, 2, 4, 0);
        assertFails(first, StatusCode.RESOURCE_EXHAUSTED, "a fill failed");
        second.await(1, LONG);
        assertThat(fillCalls()).isEqualTo(refused + 1);
        assertThat(device.failure()).isEmpty();
    }

    /** With parts in the stream, and others on the host. */
    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void aLostDeviceFailsASubmissionGivenInPart(GpuKind kind) {
        StreamDevice device = open(kind, "", 2);
        Buffer one = closed(buffer(device, OF_DEVICE, 64));
        TimelineSemaphore done = semaphore();
        CommandBuffer many = fills(device, one, 1600);
        driver().hang();
        device.queue(0).execute(null, at(done, 1), many, null, 0);
        awaitFillCalls(GpuLane.WINDOW / 2);
        driver().lose();
        IreeException failure = catchThrowableOfType(IreeException.class, () -> done.await(1, LONG));
        assertThat(failure).isNotNull();
        assertThat(device.failure()).isPresent();
        assertThat(fillCalls()).isLessThanOrEqualTo(GpuLane.WINDOW);
    }

    /** GPU-1, GPU-4: a stream with little room is filled again and again, in order. */
    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void streamsWithLittleRoomTakeEverythingInOrder(GpuKind kind) {
        StreamDevice device = open(kind, "capacity=64", 2, kind == GpuKind.CUDA ? 32 : 1);
        Buffer buffer = closed(buffer(device, OF_DEVICE, 64));
        Buffer seen = closed(buffer(device, OF_HOST, 64));
        Executable kernels = closed(GpuKernels.load(device));
        Buffer one = closed(buffer(device, OF_DEVICE, 4));
        Buffer two = closed(buffer(device, OF_DEVICE, 4));
        TimelineSemaphore done = semaphore();
        int commands = 700;
        try (CommandBuffer many = device.createCommandBuffer(0, CommandBuffer.DISPATCH, -1, 0)) {
            for (int i = 0; i < commands; i++) {
                many.dispatch(
                        kernels,
                        JavaKernels.SCALE,
                        DispatchConfig.of(1, 1, 1),
                        new int[] {1, 1},
                        i % 2 == 0
                                ? List.of(BufferRef.of(one, 0, 4), BufferRef.of(two, 0, 4))
                                : List.of(BufferRef.of(two, 0, 4), BufferRef.of(one, 0, 4)),
                        0);
                many.executionBarrier(0, 0, 0);
            }
            many.finish();
            device.queue(0).fill(null, at(done, 1), one, 0, 4, 0, 4, 0);
            long value = 1;
            for (int round = 0; round < 3; round++) {
                for (int i = 0; i < 300; i++, value++) {
                    device.queue((int) value % 2).fill(at(done, value), at(done, value + 1), buffer, 0, 4, i, 4, 0);
                }
                device.queue(0).execute(at(done, value), at(done, value + 1), many, null, 0);
                value++;
            }
            device.queue(1).copy(at(done, value), at(done, value + 1), one, 0, seen, 0, 4, 0);
            done.await(value + 1, LONG);
            assertThat(ints(seen)[0]).isEqualTo(3 * commands);
        }
    }

    /** Copies awaited by the driver, and counts for the host's eyes, between others. */
    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void workAwaitedByTheHostComesInItsTurn(GpuKind kind) {
        StreamDevice device = open(kind, "slow=20", 2);
        Executable kernels = closed(GpuKernels.load(device));
        Buffer counts = closed(buffer(device, OF_HOST, 12));
        Buffer one = closed(buffer(device, OF_HOST, 4 * 64));
        Buffer two = closed(buffer(device, OF_HOST, 4 * 64));
        TimelineSemaphore done = semaphore();
        int rounds = 100;
        long value = 0;
        try (CommandBuffer indirect = device.createCommandBuffer(0, CommandBuffer.DISPATCH, -1, 0)) {
            indirect.dispatchIndirect(
                    kernels,
                    JavaKernels.SCALE,
                    BufferRef.of(counts, 0, 12),
                    new int[] {1, 1},
                    List.of(BufferRef.of(one, 0, Buffer.WHOLE), BufferRef.of(two, 0, Buffer.WHOLE)),
                    0);
            indirect.finish();
            device.queue(0).fill(null, at(done, ++value), one, 0, Buffer.WHOLE, 0, 4, 0);
            device.queue(0).fill(at(done, value), at(done, value + 1), counts, 4, 8, 1, 4, 0);
            value++;
            for (int i = 1; i <= rounds; i++) {
                DeviceQueue queue = device.queue(i % 2);
                // As many workgroups as in the round, each counts its element up: from one to two and back.
                queue.fill(at(done, value), at(done, value + 1), counts, 0, 4, i % 64 + 1, 4, 0);
                queue.execute(at(done, value + 1), at(done, value + 2), indirect, null, 0);
                queue.copy(at(done, value + 2), at(done, value + 3), two, 0, one, 0, 4L * (i % 64 + 1), 0);
                value += 3;
            }
        }
        done.await(value, LONG);
        int[] expected = new int[64];
        for (int i = 1; i <= rounds; i++) {
            for (int e = 0; e < i % 64 + 1; e++) {
                expected[e]++;
            }
        }
        assertThat(ints(one)).isEqualTo(expected);
    }

    /** Work before a step of the host's is reported at its own end, not at the end of the step. */
    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void workBeforeAnIndirectDispatchIsOverSeparately(GpuKind kind) {
        StreamDevice device = open(kind, "slow=20000", 2);
        Executable kernels = closed(GpuKernels.load(device));
        Buffer counts = closed(buffer(device, OF_HOST, 12));
        counts.map(MemoryAccess.WRITE, 0, Buffer.WHOLE).copyFrom(MemorySegment.ofArray(new int[] {1, 1, 1}));
        Buffer one = closed(buffer(device, OF_DEVICE, 64));
        Buffer two = closed(buffer(device, OF_DEVICE, 64));
        TimelineSemaphore before = semaphore();
        TimelineSemaphore other = semaphore();
        TimelineSemaphore done = semaphore();
        CommandBuffer indirect = closed(device.createCommandBuffer(0, CommandBuffer.DISPATCH, -1, 0));
        indirect.dispatchIndirect(
                kernels,
                JavaKernels.SCALE,
                BufferRef.of(counts, 0, 12),
                new int[] {1, 1},
                List.of(BufferRef.of(one, 0, Buffer.WHOLE), BufferRef.of(two, 0, Buffer.WHOLE)),
                0);
        indirect.finish();
        driver().hang();
        device.queue(1).fill(null, at(other, 1), two, 0, 4, 1, 4, 0);
        device.queue(0).fill(null, at(before, 1), one, 0, 4, 1, 4, 0);
        device.queue(0).fill(null, at(before, 2), one, 4, 4, 1, 4, 0);
        device.queue(0).execute(at(other, 1), at(done, 1), indirect, null, 0);
        driver().hang(1);
        before.await(2, Duration.ofSeconds(20));
        assertThat(done.value()).isZero();
        driver().goOn();
        done.await(1, LONG);
    }

    /** Its readers take the values seen for over. */
    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void theValueOfATimelineNeverGoesBack(GpuKind kind) throws InterruptedException {
        StreamDevice device = open(kind, "slow=100", 2);
        Buffer buffer = closed(buffer(device, OF_DEVICE, 64));
        DriverTimeline timeline =
                StreamDevices.driver(device).lanes().getFirst().timeline();
        AtomicBoolean over = new AtomicBoolean();
        List<String> wrong = new ArrayList<>();
        Thread reader = Thread.ofPlatform().start(() -> {
            long last = 0;
            while (!over.get()) {
                long now = timeline.value();
                if (now < last) {
                    wrong.add(now + " after " + last);
                }
                last = now;
            }
        });
        TimelineSemaphore done = semaphore();
        for (int i = 1; i <= 2000; i++) {
            device.queue(0).fill(null, at(done, i), buffer, 0, 4, i, 4, 0);
        }
        done.await(2000, LONG);
        over.set(true);
        reader.join();
        assertThat(wrong).isEmpty();
    }

    // ---- Refusals.

    private void dispatch(
            DeviceQueue queue, @Nullable Fence wait, Fence signal, Executable kernels, Buffer... buffers) {
        queue.dispatch(
                wait,
                signal,
                kernels,
                JavaKernels.SCALE,
                DispatchConfig.of(1, 1, 1),
                new int[] {1, 1},
                BindingTable.of(buffers),
                0);
    }

    private static void assertFails(TimelineSemaphore semaphore, StatusCode code, String message) {
        IreeException failure = catchThrowableOfType(IreeException.class, () -> semaphore.await(1, LONG));
        assertThat(failure).isNotNull();
        assertThat(failure).hasMessageContaining(message);
        assertThat(failure.code()).isEqualTo(code);
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void aRefusedLaunchFailsAloneAndTheRestGoesOn(GpuKind kind) {
        StreamDevice device = open(kind, "launch_error=3", 2);
        Executable kernels = closed(GpuKernels.load(device));
        Buffer one = closed(buffer(device, OF_DEVICE, 4));
        Buffer two = closed(buffer(device, OF_DEVICE, 4));
        List<TimelineSemaphore> all = new ArrayList<>();
        driver().hang();
        for (int i = 0; i < 6; i++) {
            all.add(semaphore());
            dispatch(device.queue(0), null, at(all.get(i), 1), kernels, one, two);
        }
        TimelineSemaphore after = semaphore();
        device.queue(1).fill(at(all.get(2), 1), at(after, 1), one, 0, 4, 1, 4, 0); // of the refused work
        driver().goOn();
        for (int i = 0; i < 6; i++) {
            if (i == 2) {
                assertFails(all.get(i), StatusCode.INVALID_ARGUMENT, "a launch failed with INVALID_VALUE (1)");
            } else {
                all.get(i).await(1, LONG);
            }
        }
        assertFails(after, StatusCode.INVALID_ARGUMENT, "a launch failed with INVALID_VALUE (1)");
        assertThat(device.failure()).isEmpty();
    }

    /**
     * Commands not given have failed, and are over after their waits all the same: the next commands rely on the order.
     */
    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void refusedWorkIsOverAfterItsWaits(GpuKind kind) {
        StreamDevice device = open(kind, "fail=stream_wait_event:1:801", 3);
        Buffer one = closed(buffer(device, OF_DEVICE, 64));
        Buffer seen = closed(buffer(device, OF_HOST, 64));
        seen.map(MemoryAccess.WRITE, 0, Buffer.WHOLE).fill((byte) 0);
        TimelineSemaphore first = semaphore();
        TimelineSemaphore second = semaphore();
        TimelineSemaphore third = semaphore();
        driver().hang(0);
        device.queue(0).fill(null, at(first, 1), one, 0, 4, 1, 4, 0);
        device.queue(1).fill(at(first, 1), at(second, 1), one, 4, 4, 2, 4, 0);
        device.queue(1).copy(at(first, 1), at(third, 1), one, 0, seen, 0, 4, 0); // the wait is the previous command
        assertThat(catchThrowableOfType(IreeException.class, () -> third.await(1, Duration.ofMillis(300))))
                .extracting(IreeException::code)
                .isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        driver().goOn();
        assertFails(second, StatusCode.UNIMPLEMENTED, "waiting for an event on a stream failed with NOT_SUPPORTED");
        third.await(1, LONG);
        assertThat(ints(seen)[0]).isOne();
    }
}
