package io.github.iree4j.hal.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.SemaphoreOptions;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.DeviceLost;
import io.github.iree4j.status.DeviceLostException;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Misbehaving drivers: nothing hangs, nothing leaks, and waiters are notified. */
@Timeout(60)
class HostileDriverTest {
    private static final Duration LONG = Duration.ofSeconds(10);
    private static final long BYTES = 4096;

    private final List<AutoCloseable> opened = new ArrayList<>();
    private ScriptedDriver driver;
    private StreamDevice device;
    private long value;

    private void open(ScriptedDriver made, DeviceOptions.Builder options) {
        driver = made;
        device = made.open(options, LONG);
    }

    private void open(int lanes, int queues, boolean hidden) {
        open(new ScriptedDriver(lanes, hidden), DeviceOptions.builder().queueCount(queues));
    }

    @AfterEach
    void isClosedWithoutTrace() throws Exception {
        if (device == null) {
            return;
        }
        long start = System.nanoTime();
        for (AutoCloseable each : opened.reversed()) {
            each.close();
        }
        device.close();
        assertThat(Duration.ofNanos(System.nanoTime() - start))
                .as("time to close")
                .isLessThan(LONG);
        assertThat(StreamDevices.awaitFreed(device, LONG)).as("freed").isTrue();
        assertThat(driver.leftovers()).isEmpty();
    }

    private Fence fence() {
        TimelineSemaphore own = TimelineSemaphore.create(SemaphoreOptions.DEFAULTS); // also of a device that is lost
        opened.add(own);
        Fence fence = Fence.at(own, 1);
        opened.add(fence);
        return fence;
    }

    private Buffer buffer() {
        Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, BYTES);
        opened.add(buffer);
        return buffer;
    }

    private Fence fill(int queue, Buffer buffer, int pattern) {
        Fence done = fence();
        device.queue(queue).fill(null, done, buffer, 0, BYTES, pattern, 4, 0);
        return done;
    }

    private void assertWorks(int queue, Buffer buffer) {
        int pattern = (int) ++value;
        fill(queue, buffer, pattern).await(LONG);
        assertThat(read(buffer)).isEqualTo(pattern);
    }

    private static int read(Buffer buffer) {
        byte[] bytes = new byte[(int) BYTES];
        buffer.read(0, MemorySegment.ofArray(bytes));
        return MemorySegment.ofArray(bytes).get(ValueLayout.JAVA_INT_UNALIGNED, BYTES - 4);
    }

    private static IreeException failure(Fence fence) {
        IreeException failure = catchThrowableOfType(IreeException.class, () -> fence.await(LONG));
        assertThat(failure).as("failure").isNotNull();
        assertThat(failure.code()).as("%s", failure).isNotEqualTo(StatusCode.DEADLINE_EXCEEDED);
        return failure;
    }

    private static Supplier<Throwable> status(StatusCode code) {
        return () -> IreeException.of(code, "on purpose");
    }

    private static Supplier<Throwable> bug() {
        return () -> new IllegalStateException("a bug of the driver");
    }

    // ---- Growth of pools.

    /** For an operation held back, for an operation under submission, and for an allocation without an operation. */
    @ParameterizedTest
    @ValueSource(strings = {"resumed", "submitted", "allocated"})
    void driverIsNotClosedDuringARequestForMemory(String how) throws InterruptedException {
        driver = new ScriptedDriver(1, false);
        device = driver.open(DeviceOptions.builder().queueCount(1), Duration.ofMillis(100)); // close() waits no longer
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch answered = new CountDownLatch(1);
        driver.fail("allocate", 0, 1, () -> {
            asked.countDown();
            awaitUninterruptibly(answered);
            return null; // with slots
        });
        Fence begin = fence();
        Fence there = fence();
        Thread user = Thread.ofPlatform().start(() -> {
            if (how.equals("allocated")) {
                device.allocator().allocate(BufferParams.DEFAULT, BYTES).close();
                return;
            }
            Fence wait = how.equals("resumed") ? begin : null;
            device.queue(0).alloca(wait, there, BufferParams.DEFAULT, BYTES, 0).close();
            begin.signal(); // new memory takes time, so another thread asks for it
        });
        asked.await();
        device.close();
        int closed = driver.closedTimes();
        answered.countDown();
        user.join();
        assertThat(closed).as("closed under the call").isZero();
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    // ---- Submission.

    @ParameterizedTest
    @CsvSource({"1, 1", "1, 3", "3, 3", "2, 5"})
    void everyShapeWorks(int lanes, int queues) {
        for (boolean hidden : new boolean[] {false, true}) {
            open(lanes, queues, hidden);
            Buffer buffer = buffer();
            Fence before = null;
            for (int i = 0; i < 3 * queues; i++) {
                Fence done = fence();
                device.queue(i % queues).fill(before, done, buffer, 0, BYTES, i, 4, 0);
                before = done;
            }
            before.await(LONG);
            assertThat(read(buffer)).isEqualTo(3 * queues - 1);
            if (!hidden) {
                finish();
            }
        }
    }

    private void finish() {
        try {
            isClosedWithoutTrace();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
        opened.clear();
        device = null;
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "1, 3", "3, 3"})
    void aRefusedSubmissionFailsAloneAndKeepsItsPlace(int lanes, int queues) {
        open(lanes, queues, false);
        Buffer buffer = buffer();
        assertWorks(0, buffer);
        driver.fail("submit commands", 0, 1, status(StatusCode.RESOURCE_EXHAUSTED));
        IreeException failure = failure(fill(0, buffer, 7));
        assertThat(failure.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertWorks(0, buffer);
        driver.fail("submit commands", 0, 1, () -> new OutOfMemoryError("on purpose"));
        assertThat(failure(fill(0, buffer, 7)).code()).isEqualTo(StatusCode.INTERNAL);
        for (int i = 0; i < queues; i++) {
            assertWorks(i, buffer);
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "1, 3", "3, 3"})
    void aLaneTakingNothingLosesTheDevice(int lanes, int queues) {
        open(lanes, queues, false);
        Buffer buffer = buffer();
        assertWorks(0, buffer);
        driver.failAlways("submit", status(StatusCode.RESOURCE_EXHAUSTED));
        assertThat(failure(fill(0, buffer, 7)).code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        failure(fill(queues - 1, buffer, 8));
    }

    @Test
    void aBusyLaneTakingNothingLosesTheDevice() {
        open(1, 1, false);
        Buffer buffer = buffer();
        driver.hold(true);
        Fence first = fill(0, buffer, 1);
        driver.failAlways("submit", status(StatusCode.RESOURCE_EXHAUSTED));
        Fence second = fill(0, buffer, 2);
        Fence third = fill(0, buffer, 3);
        driver.hold(false);
        catchThrowable(() -> first.await(LONG));
        assertThat(first.isReached() || first.failure().isPresent()).isTrue();
        failure(second);
        failure(third);
    }

    @Test
    void aLaneOfSeveralTakingNothingHoldsUpNoOther() {
        open(2, 2, false);
        Buffer buffer = buffer();
        Buffer other = buffer();
        driver.failAlways("submit commands", status(StatusCode.RESOURCE_EXHAUSTED));
        driver.fail("submit", 0, 1, status(StatusCode.RESOURCE_EXHAUSTED)); // without its commands
        Fence first = fence();
        device.queue(0).fill(null, first, buffer, 0, BYTES, 1, 4, 0);
        Fence second = fence();
        device.queue(1).fill(first, second, other, 0, BYTES, 2, 4, 0);
        failure(first);
        failure(second);
    }

    // ---- Encoding.

    @ParameterizedTest
    @ValueSource(strings = {"transfers", "fill", "finish"})
    void anUnencodableTransferFailsAlone(String method) {
        open(2, 2, false);
        Buffer buffer = buffer();
        for (Supplier<Throwable> each :
                List.of(status(StatusCode.RESOURCE_EXHAUSTED), bug(), () -> new OutOfMemoryError("on purpose"))) {
            driver.fail(method, 0, 1, each);
            failure(fill(0, buffer, 7));
            assertWorks(0, buffer);
            assertWorks(1, buffer);
        }
    }

    private CommandBuffer commands(Buffer buffer) {
        CommandBuffer commands = device.createCommandBuffer(0, CommandBuffer.TRANSFER, -1, 0);
        opened.add(commands);
        commands.fillBuffer(BufferRef.of(buffer, 0, BYTES), 9, 4, 0);
        commands.finish();
        return commands;
    }

    @ParameterizedTest
    @ValueSource(strings = {"form", "prepare", "fill", "submit commands"})
    void anUnpreparableExecutionFailsAlone(String method) {
        open(2, 2, false);
        Buffer buffer = buffer();
        for (Supplier<Throwable> each :
                List.of(status(StatusCode.RESOURCE_EXHAUSTED), bug(), () -> new OutOfMemoryError("on purpose"))) {
            CommandBuffer commands = commands(buffer);
            driver.fail(method, 0, 1, each);
            Fence done = fence();
            device.queue(0).execute(null, done, commands, null, 0);
            failure(done);
            assertWorks(0, buffer);
            Fence again = fence();
            device.queue(0).execute(null, again, commands, null, 0);
            again.await(LONG);
            assertThat(read(buffer)).isEqualTo(9);
        }
    }

    // ---- Memory.

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void missingMemoryIsAStatus(boolean hidden) {
        open(2, 2, hidden);
        for (int nth = 0; nth < 4; nth++) {
            for (Supplier<Throwable> each :
                    List.of(status(StatusCode.RESOURCE_EXHAUSTED), bug(), () -> new OutOfMemoryError("on purpose"))) {
                driver.fail("allocate", nth, 2, each);
                for (int i = 0; i < 2; i++) {
                    Throwable thrown = catchThrowable(this::useNewMemory);
                    assertThat(thrown == null
                                    || thrown instanceof IreeException e && e.code() != StatusCode.DEADLINE_EXCEEDED
                                    || thrown.getMessage().contains("purpose")
                                    || thrown.getMessage().contains("a bug"))
                            .as("%s", thrown)
                            .isTrue();
                    device.allocator().trim();
                }
                driver.heal();
                useNewMemory();
                device.allocator().trim();
            }
        }
    }

    private void useNewMemory() {
        try (Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, 17 << 20)) {
            Fence done = fence();
            device.queue(0).update(null, done, MemorySegment.ofArray(new byte[64]), buffer, 0, 0);
            done.await(LONG);
        }
        DeviceQueue queue = device.queue(device.queueCount() - 1);
        Fence ready = fence();
        try (Buffer late = queue.alloca(null, ready, BufferParams.DEFAULT, 17 << 20, 0)) {
            Fence filled = fence();
            queue.fill(ready, filled, late, 0, 64, 1, 4, 0);
            Fence gone = fence();
            queue.dealloca(filled, gone, late, 0);
            gone.await(LONG);
        }
    }

    @Test
    void messagesCountAllocationsAlsoWhereAnyNumberIsAllowed() {
        open(1, 1, false);
        useNewMemory();
        device.allocator().trim();
        driver.failAlways("allocate", status(StatusCode.RESOURCE_EXHAUSTED));
        assertThatThrownBy(this::useNewMemory)
                .isInstanceOf(IreeException.class)
                .hasMessageContaining(" 1 allocations are in use"); // of staging
        driver.heal();
    }

    @ParameterizedTest
    @CsvSource({"false, 16", "true, 16", "false, 100", "true, 64"})
    void allocationsBeginningAnywhereAreUsedAtAlignedAddresses(boolean hidden, int misalignment) {
        open(new ScriptedDriver(2, hidden, misalignment), DeviceOptions.builder());
        Buffer buffer = buffer();
        assertWorks(0, buffer);
        StreamMemory memory = device.memory();
        StreamStorage storage =
                memory.acquire(BufferParams.DEFAULT, memory.kinds().device(), BYTES);
        assertThat(storage.deviceAddress() & 255)
                .as("offset of 0x%x", storage.deviceAddress())
                .isZero();
        storage.release(Frontier.EMPTY);
    }

    @Test
    void buffersOutliveTheDevice() {
        open(2, 2, false);
        Buffer buffer = buffer();
        CommandBuffer commands = commands(buffer);
        Fence done = fence();
        device.queue(0).execute(null, done, commands, null, 0);
        done.await(LONG);
        device.close();
        assertThat(read(buffer)).isEqualTo(9);
    }

    @Test
    void importsNothingWithoutAnAlignment() {
        ScriptedDriver made = new ScriptedDriver(1, false);
        made.obstacle = null;
        open(made, DeviceOptions.builder());
        try (Arena arena = Arena.ofShared()) {
            assertThatThrownBy(
                            () -> device.allocator().importHost(BufferParams.DEFAULT, arena.allocate(BYTES, 64), null))
                    .isInstanceOf(IreeException.class)
                    .hasMessageContaining("imported");
        }
    }

    // ---- Waiting.

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aWaiterReturningForNoReasonLosesNothing(int lanes) {
        open(lanes, lanes, false);
        Buffer buffer = buffer();
        driver.fail("await nothing", 0, 0, bug());
        for (int i = 0; i < 100; i++) {
            assertWorks(i % lanes, buffer);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "1, awaitAny, 1",
        "3, awaitAny, 1",
        "1, awaitAny, 1000000",
        "3, awaitAny, 1000000",
        "1, value, 1",
        "3, value, 2"
    })
    void aBugWhileWaitingLosesTheDevice(int lanes, String method, int times) {
        open(lanes, lanes, false);
        Buffer buffer = buffer();
        assertWorks(0, buffer);
        driver.hold(true);
        Fence under = fill(0, buffer, 7);
        driver.fail(method, 0, times, bug());
        driver.hold(false);
        catchThrowable(() -> under.await(LONG));
        assertThat(under.isReached() || under.failure().isPresent()).isTrue();
        IreeException failure = failure(lastFailure(buffer));
        assertThat(failure).hasMessageContaining("a bug of the driver");
        assertThat(device.failure()).isPresent();
    }

    /** The device is lost by the waiting thread, some time. */
    private Fence lastFailure(Buffer buffer) {
        for (int i = 0; ; i++) {
            Fence done = fill(0, buffer, 8);
            Throwable thrown = catchThrowable(() -> done.await(LONG));
            if (thrown != null || i == 1000) {
                return done;
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void lostHardwareEndsEverything(int lanes) {
        open(lanes, lanes, false);
        Buffer buffer = buffer();
        assertWorks(0, buffer);
        driver.hold(true);
        Fence under = fill(0, buffer, 7);
        driver.lose();
        IreeException lost = failure(under);
        assertThat(lost).isInstanceOf(DeviceLostException.class);
        assertThat(lost.code()).isEqualTo(StatusCode.ABORTED);
        assertThat(lost.detail(DeviceLost.class)).contains(new DeviceLost(device.id()));
        assertThat(failure(fill(lanes - 1, buffer, 8))).isInstanceOf(DeviceLostException.class);
        device.close();
        assertThat(failure(fill(0, buffer, 9))).as("after the close").isInstanceOf(DeviceLostException.class);
        assertThat(catchThrowable(this::buffer)).isInstanceOf(DeviceLostException.class);
    }

    @Test
    void premisesWithoutAnAnswerOfTheDriverAreTakenAsHeld() {
        open(1, 1, false);
        Buffer buffer = buffer();
        assertWorks(0, buffer);
        driver.hold(true);
        fill(0, buffer, 7);
        driver.failAlways("value", status(StatusCode.ABORTED));
        HardwareStream stream = ((StreamQueue) device.queue(0)).stream();
        for (long epoch = 1; epoch < 20; epoch++) {
            stream.hasPassed(epoch); // one wait is under way
        }
        driver.heal();
        driver.hold(false);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aDeviceLostAtOnceIsClosed(int lanes) {
        driver = new ScriptedDriver(lanes, false);
        driver.failAlways("awaitAny", status(StatusCode.ABORTED));
        driver.failAlways("value", status(StatusCode.ABORTED));
        driver.failAlways("signal", status(StatusCode.ABORTED));
        driver.lose();
        open(driver, DeviceOptions.builder());
    }

    @Test
    void hostStepsEndWithoutASignallableTimeline() {
        open(2, 2, false);
        Buffer buffer = buffer();
        assertWorks(0, buffer);
        driver.failAlways("signal", status(StatusCode.RESOURCE_EXHAUSTED));
        Fence called = fence();
        device.queue(0).hostCall(null, called, () -> {}, 0);
        Fence after = fence();
        device.queue(1).fill(called, after, buffer, 0, BYTES, 1, 4, 0);
        catchThrowable(() -> called.await(LONG));
        catchThrowable(() -> after.await(LONG));
        assertThat(after.isReached() || after.failure().isPresent()).isTrue();
        driver.heal();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aLaneEndingLateIsWaitedFor(int lanes) throws Exception {
        driver = new ScriptedDriver(lanes, false);
        device = driver.open(DeviceOptions.builder(), Duration.ofMillis(20));
        Buffer buffer = buffer();
        driver.hold(true);
        Fence under = fill(0, buffer, 7);
        assertThat(catchThrowableOfType(IreeException.class, device::close).code())
                .isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        failure(under);
        assertThat(driver.closedTimes()).isZero();
        driver.hold(false);
        assertThat(StreamDevices.awaitFreed(device, LONG)).isTrue();
    }

    // STREAM-4: the submission that wakes the waiter may come after the waiter has found the end.
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aDeviceClosesBehindTheSubmissionWakingItsWaiter(int lanes) throws Exception {
        for (int i = 0; i < 50; i++) {
            open(new ScriptedDriver(lanes, false), DeviceOptions.builder().queueCount(1));
            driver.fail("await nothing", 0, 0, bug()); // for the waiter not to depend on the submission
            driver.hold(true);
            Thread closer = Thread.ofPlatform().start(device::close);
            while (!driver.isBusy() && closer.isAlive()) {
                Thread.onSpinWait();
            }
            driver.hold(false);
            closer.join();
            assertThat(StreamDevices.awaitFreed(device, LONG)).isTrue();
            assertThat(driver.leftovers()).isEmpty();
        }
    }

    // ---- The beginning and the end.

    @ParameterizedTest
    @CsvSource({"encoder, 0", "lanes, 0", "createTimeline, 0"})
    void anUnmakeableDeviceLeavesTheDriverToTheCaller(String method, int spared) {
        ScriptedDriver made = new ScriptedDriver(3, true);
        made.fail(method, spared, 1, bug());
        assertThatThrownBy(() -> made.open(DeviceOptions.builder(), LONG)).hasMessageContaining("a bug of the driver");
        assertThat(made.closedTimes()).isZero();
        made.close();
        assertThat(made.leftovers()).isEmpty();
        open(3, 3, true);
        assertWorks(2, buffer());
    }

    @Test
    void failuresDuringUndoingHideNothing() {
        ScriptedDriver made = new ScriptedDriver(3, true);
        made.fail("lanes", 0, 1, bug());
        made.fail("encoder.close", 0, 1, () -> new IllegalStateException("another bug"));
        assertThatThrownBy(() -> made.open(DeviceOptions.builder(), LONG)).hasMessageContaining("a bug of the driver");
        made.close();
        assertThat(made.leftovers()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"encoder.close", "driver.close"})
    void exceptionsDuringClosingKeepNothing(String method) {
        open(2, 2, true);
        assertWorks(0, buffer());
        driver.fail(method, 0, 1, bug());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aWaiterIsWokenWhereTheLaneTakesNothing(boolean worked) {
        open(1, 1, false);
        if (worked) {
            assertWorks(0, buffer());
        }
        driver.failAlways("submit", bug());
    }

    @Test
    void meaninglessLimitsAreRefused() {
        assertThatThrownBy(() -> new DriverLimits(0, 1, 0, 0)).hasMessageContaining("alignment 0");
        assertThatThrownBy(() -> new DriverLimits(48, 1, 0, 0)).hasMessageContaining("alignment 48");
        assertThatThrownBy(() -> new DriverLimits(64, 1, 0, 48)).hasMessageContaining("host alignment 48");
        assertThatThrownBy(() -> new DriverLimits(64, 0, 0, 64)).hasMessageContaining("largest allocation 0");
    }
}
