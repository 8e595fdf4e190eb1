package io.github.iree4j.hal.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.SemaphoreOptions;
import io.github.iree4j.async.SemaphoreScope;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.vulkan.VulkanDrivers;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** STREAM-1, STREAM-2, STREAM-3, STREAM-4, STREAM-7: the submissions of streams to the hardware, in time. */
@Timeout(300)
class HardwareStreamTest {
    private static final IreeException LOST = IreeException.of(StatusCode.DATA_LOSS, "lost on purpose");

    private final List<AutoCloseable> opened = new ArrayList<>();
    private StreamDevice device;

    @BeforeEach
    void open() {
        device = VulkanDrivers.open(DeviceOptions.builder().queueCount(2));
    }

    @AfterEach
    void close() throws Exception {
        if (device == null) {
            return; // skipped: there is no driver
        }
        for (AutoCloseable each : opened.reversed()) {
            each.close();
        }
        device.close();
        VulkanDrivers.assertNothingLeft(device);
        VulkanDrivers.assertNothingToComplainOf();
    }

    /** Commands without work. */
    private final class Commands extends StreamOperation implements StreamWork {
        private final TransferCommands commands;
        private final DriverCommands ready;
        private final AtomicInteger over = new AtomicInteger();

        Commands() {
            super("commands");
            commands = device.encoder().transfers(((StreamQueue) device.queue(0)).lane());
            ready = commands.finish("commands");
        }

        @Override
        StreamWork prepare() {
            return this;
        }

        @Override
        public DriverCommands commands() {
            return ready;
        }

        @Override
        public void over() {
            over.incrementAndGet();
            commands.release();
        }

        @Override
        protected void retain() {}

        @Override
        protected void release() {}
    }

    /** A step with an end on demand. */
    private final class Pause extends StreamOperation implements HostStep {
        private final CountDownLatch begun = new CountDownLatch(1);
        private final CountDownLatch end = new CountDownLatch(1);

        Pause() {
            super("pause");
        }

        @Override
        HostStep hostStep() {
            return this;
        }

        @Override
        public void run(java.util.function.Consumer<@Nullable IreeException> done) {
            begun.countDown();
            await(end);
            done.accept(null);
        }

        @Override
        protected void retain() {}

        @Override
        protected void release() {}
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private StreamQueue queue(int index) {
        return (StreamQueue) device.queue(index);
    }

    private TimelineSemaphore semaphore(SemaphoreScope scope) {
        TimelineSemaphore made = TimelineSemaphore.create(SemaphoreOptions.DEFAULTS.withScope(scope));
        opened.add(made);
        return made;
    }

    private TimelineSemaphore semaphore() {
        return semaphore(SemaphoreScope.DEVICE_LOCAL);
    }

    private Fence at(TimelineSemaphore semaphore, long value) {
        Fence made = Fence.at(semaphore, value);
        opened.add(made);
        return made;
    }

    /** A point that blocks the hardware until the test's signal, and the timeline. */
    private final class Gate {
        private final DriverTimeline timeline = device.driver().createTimeline(0, false);
        private final TimelineSemaphore semaphore = semaphore();

        Gate() {
            opened.add(timeline::close);
            assertThat(semaphore.promiseExternal(1, ForeignPoint.open(device, timeline, 1)))
                    .isTrue();
        }

        Fence closed() {
            return at(semaphore, 1);
        }

        void open() {
            timeline.signal(1);
            semaphore.signalExternal(1);
        }
    }

    @Test
    void workWithoutHardwareIsOverWhenSubmittedBehindNothing() {
        TimelineSemaphore done = semaphore();
        queue(0).barrier(null, at(done, 1), 0);
        assertThat(done.value()).isEqualTo(1);
        assertThat(queue(0).counters().inFlight()).isZero();
    }

    @Test
    void commandsAreSubmittedAndTheirEndIsReported() {
        TimelineSemaphore done = semaphore();
        Commands commands = new Commands();
        queue(0).scheduler().submit(null, at(done, 1), () -> commands);
        done.await(1);
        assertThat(commands.over).hasValue(1);
        queue(0).barrier(null, at(done, 2), 0);
        done.await(2);
    }

    @Test
    void aBarrierEndsWithTheSubmissionBefore() {
        Gate gate = new Gate();
        TimelineSemaphore done = semaphore();
        queue(0).scheduler().submit(gate.closed(), at(done, 1), Commands::new);
        queue(0).barrier(null, at(done, 2), 0);
        assertThat(done.value()).isZero();
        assertThat(queue(0).counters().inFlight()).isEqualTo(2);
        assertThat(queue(0).counters().deviceWaits()).isEqualTo(1);
        gate.open();
        done.await(2);
    }

    @Test
    void hostCallsRunInTheirPlace() {
        TimelineSemaphore done = semaphore();
        List<Integer> seen = new CopyOnWriteArrayList<>();
        Gate gate = new Gate();
        queue(0).scheduler().submit(gate.closed(), at(done, 1), Commands::new);
        for (int i = 2; i < 20; i++) {
            int turn = i;
            if (i % 3 == 0) {
                queue(0).scheduler().submit(null, at(done, i), Commands::new);
            } else {
                queue(0).hostCall(null, at(done, i), () -> seen.add((int) done.value() + turn * 100), 0);
            }
        }
        assertThat(seen).isEmpty();
        gate.open();
        done.await(19);
        assertThat(seen).hasSize(12);
        assertThat(seen).allSatisfy(each -> assertThat(each % 100).isLessThan(each / 100));
        assertThat(seen).isSorted();
    }

    @Test
    void workIssuedBehindAStepOfTheHostComesAfterTheStep() {
        TimelineSemaphore done = semaphore();
        Pause pause = new Pause();
        queue(0).scheduler().submit(null, at(done, 1), () -> pause);
        queue(0).scheduler().submit(null, at(done, 2), Commands::new);
        queue(0).barrier(null, at(done, 3), 0);
        await(pause.begun);
        TimelineSemaphore other = semaphore();
        queue(1).scheduler().submit(null, at(other, 1), Commands::new); // the hardware is free
        other.await(1);
        assertThat(done.value()).isZero();
        pause.end.countDown();
        done.await(3);
    }

    @Test
    void operationsOverTogetherAreReportedTogetherUpToAFailure() {
        TimelineSemaphore done = semaphore();
        TimelineSemaphore failing = semaphore();
        Pause pause = new Pause();
        queue(0).scheduler().submit(null, at(done, 1), () -> pause);
        for (int i = 2; i <= 100; i++) {
            queue(0).barrier(null, at(done, i), 0);
        }
        queue(0).scheduler().submit(null, at(failing, 1), Refused::new);
        for (int i = 101; i <= 200; i++) {
            queue(0).barrier(null, at(done, i), 0);
        }
        await(pause.begun);
        pause.end.countDown();
        done.await(200);
        assertThat(failing.failure()).isSameAs(LOST);
        assertThat(queue(0).streamCounters().completions()).isEqualTo(3);
    }

    /** Commands that cannot be recorded. */
    private static final class Refused extends StreamOperation {
        Refused() {
            super("refused");
        }

        @Override
        StreamWork prepare() {
            throw LOST;
        }

        @Override
        protected void retain() {}

        @Override
        protected void release() {}
    }

    @Test
    void aQueueWaitsForAnotherWithoutTheHost() {
        Gate gate = new Gate();
        TimelineSemaphore between = semaphore();
        TimelineSemaphore done = semaphore();
        queue(0).scheduler().submit(gate.closed(), at(between, 1), Commands::new);
        queue(1).scheduler().submit(at(between, 1), at(done, 1), Commands::new);
        queue(1).barrier(at(between, 1), at(done, 2), 0);
        assertThat(queue(1).counters().deviceWaits()).isEqualTo(1);
        assertThat(queue(1).counters().elidedFrontier()).isEqualTo(1);
        assertThat(queue(1).counters().deferred()).isZero();
        assertThat(queue(1).counters().inFlight()).isEqualTo(2);
        gate.open();
        done.await(2);
    }

    @Test
    void aSharedHardwareQueueDoesNotWaitForWorkBehindAStep() {
        TimelineSemaphore between = semaphore();
        TimelineSemaphore done = semaphore();
        Pause pause = new Pause();
        queue(0).scheduler().submit(null, null, () -> pause);
        queue(0).scheduler().submit(null, at(between, 1), Commands::new);
        queue(1).scheduler().submit(at(between, 1), at(done, 1), Commands::new);
        assertThat(queue(1).counters().deferred()).isEqualTo(1);
        TimelineSemaphore other = semaphore();
        queue(1).scheduler().submit(null, at(other, 1), Commands::new);
        other.await(1);
        pause.end.countDown();
        done.await(1);
    }

    @Test
    void semaphoresOfAQueueTakeNothingOfTheDevice() {
        long[] before = VulkanDrivers.handle(device).liveObjects();
        TimelineSemaphore local = semaphore(SemaphoreScope.QUEUE_LOCAL);
        for (int i = 1; i <= 100; i++) {
            queue(0).barrier(i == 1 ? null : at(local, i - 1), at(local, i), 0);
        }
        local.await(100);
        for (int i = 0; i < 100; i++) {
            opened.add(device.createSemaphore(0, 0));
        }
        assertThat(VulkanDrivers.handle(device).liveObjects()).isEqualTo(before);
    }

    @Test
    void aLostDeviceFailsEverythingAndRefusesMore() {
        Gate gate = new Gate();
        TimelineSemaphore running = semaphore();
        TimelineSemaphore behind = semaphore();
        TimelineSemaphore waiting = semaphore();
        TimelineSemaphore refused = semaphore();
        queue(0).scheduler().submit(gate.closed(), at(running, 1), Commands::new);
        queue(0).scheduler().submit(null, at(behind, 1), Pause::new);
        queue(0).scheduler().submit(null, at(behind, 2), Commands::new);
        queue(1).barrier(at(semaphore(), 1), at(waiting, 1), 0);
        device.lost(LOST);
        assertThat(waiting.failure()).cause().isSameAs(LOST);
        queue(1).barrier(null, at(refused, 1), 0);
        assertThat(refused.failure()).cause().isSameAs(LOST);
        assertThat(device.failure().orElseThrow()).cause().isSameAs(LOST);
        assertThat(running.failure()).as("still with the hardware").isNull();
        gate.open();
        assertFails(running, 1);
        assertFails(behind, 1);
    }

    private static void assertFails(TimelineSemaphore semaphore, long value) {
        try {
            semaphore.await(value);
        } catch (IreeException e) {
            assertThat(semaphore.failure()).cause().isSameAs(LOST);
            return;
        }
        throw new AssertionError("it was reached");
    }

    @Test
    void closingWaitsForTheHardwareAndFailsWaitingWork() throws Exception {
        Gate gate = new Gate();
        TimelineSemaphore running = semaphore();
        TimelineSemaphore waiting = semaphore();
        queue(0).scheduler().submit(gate.closed(), at(running, 1), Commands::new);
        queue(0).barrier(at(semaphore(), 1), at(waiting, 1), 0);
        Thread closer = Thread.ofPlatform().start(device::close);
        while (waiting.failure() == null) {
            Thread.onSpinWait();
        }
        assertThat(waiting.failure().code()).isEqualTo(StatusCode.ABORTED);
        assertThat(closer.isAlive()).isTrue();
        gate.open();
        closer.join();
        assertThat(running.isReached(1)).isTrue();
    }

    @Test
    void aDeviceMayBeClosedFromItsOwnHostCallsAndCallbacks() {
        TimelineSemaphore done = semaphore();
        StreamDevice other = VulkanDrivers.open(DeviceOptions.builder());
        other.queue(0).hostCall(null, at(done, 1), other::close, 0);
        done.await(1);
        StreamDevice another = VulkanDrivers.open(DeviceOptions.builder());
        DeviceQueue first = another.queue(0);
        TimelineSemaphore called = semaphore();
        called.whenReached(1, (value, failure) -> another.close());
        Gate gate = new Gate();
        first.hostCall(null, at(called, 1), () -> {}, 0);
        called.await(1);
        gate.open();
        other.close();
        another.close();
        VulkanDrivers.assertNothingLeft(other);
        VulkanDrivers.assertNothingLeft(another);
    }

    @Test
    void aStepOutlivingTheCloseFreesTheLeftovers() throws Exception {
        StreamDevice other = VulkanDrivers.open(DeviceOptions.builder());
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        TimelineSemaphore done = semaphore();
        other.queue(0)
                .hostCall(
                        null,
                        at(done, 1),
                        () -> {
                            begun.countDown();
                            await(end);
                        },
                        0);
        TimelineSemaphore behind = semaphore();
        other.queue(0).barrier(null, at(behind, 1), 0);
        await(begun);
        Thread closer = Thread.ofPlatform().start(other::close);
        while (other.failure().isEmpty()
                || closer.getState() != Thread.State.WAITING && closer.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait(); // until the wait for the step
        }
        end.countDown();
        closer.join();
        done.await(1);
        assertThat(behind.failure()).isNotNull();
        assertThat(behind.failure().code()).isEqualTo(StatusCode.ABORTED);
        VulkanDrivers.assertNothingLeft(other);
    }
}
