package io.github.iree4j.hal.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.SemaphoreOptions;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.async.WaitHelper;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.lifetime.UseGuard;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A thread in a wait for a device sees by itself the end of the work: the thread of the driver's waits is deaf here.
 */
@Timeout(60)
class CompletionHelperTest {
    private static final Duration LONG = Duration.ofSeconds(10);

    private ScriptedDriver driver;
    private StreamDevice device;

    private void open(int queues) {
        driver = new ScriptedDriver(queues, false);
        driver.watched = true;
        device = driver.open(DeviceOptions.builder().queueCount(queues), LONG);
    }

    @AfterEach
    void isClosedWithoutTrace() {
        driver.deafen(false);
        device.close();
        assertThat(StreamDevices.awaitFreed(device, LONG)).isTrue();
        assertThat(driver.leftovers()).isEmpty();
    }

    private void awaitEndOfWork() {
        while (driver.isBusy()) {
            Thread.onSpinWait();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void completedWorkIsSeenByTheWaitingThread(int queues) {
        open(queues);
        try (Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, 64);
                TimelineSemaphore timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT)) {
            for (int i = 1; i <= 20; i++) {
                driver.deafen(true);
                try (Fence done = Fence.at(timeline, i)) {
                    device.queue(i % queues).fill(null, done, buffer, 0, 64, i, 4, 0);
                    awaitEndOfWork();
                    done.await(LONG);
                }
            }
        }
    }

    @Test
    void workBehindAGateIsNotWaitedForByLooking() {
        open(1);
        try (Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, 64);
                TimelineSemaphore timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                Fence gate = Fence.at(timeline, 1);
                Fence done = Fence.at(timeline, 2)) {
            driver.deafen(true);
            driver.failAlways("value", () -> new AssertionError("looked"));
            device.queue(0).fill(gate, done, buffer, 0, 64, 1, 4, 0);
            assertThatThrownBy(() -> done.await(Duration.ofMillis(1)))
                    .isInstanceOfSatisfying(
                            IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED));
            assertThat(device.failure()).isEmpty();
            driver.heal();
            driver.deafen(false);
            timeline.signal(1);
            done.await(LONG);
        }
    }

    @Test
    void workBehindAHostCallIsGivenOnceTheCallHasEnded() {
        open(1);
        CountDownLatch ends = new CountDownLatch(1);
        try (Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, 64);
                TimelineSemaphore timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                Fence called = Fence.at(timeline, 1);
                Fence done = Fence.at(timeline, 2)) {
            device.queue(0)
                    .hostCall(
                            null,
                            called,
                            () -> {
                                try {
                                    ends.await();
                                } catch (InterruptedException e) {
                                    throw new IllegalStateException(e);
                                }
                            },
                            0);
            device.queue(0).fill(null, done, buffer, 0, 64, 1, 4, 0);
            ends.countDown();
            done.await(LONG);
        }
    }

    /** Work made due by the thread's look runs before the thread sleeps, although the thread is in a callback. */
    @Test
    void aWaitingCallbackRunsTheWorkDueByItsLook() {
        open(1);
        try (Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, 64);
                TimelineSemaphore work = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                TimelineSemaphore after = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                TimelineSemaphore gate = TimelineSemaphore.create(SemaphoreOptions.DEFAULTS);
                Fence done = Fence.at(work, 1)) {
            work.whenReached(1, (value, failure) -> after.signal(1));
            AtomicReference<Throwable> thrown = new AtomicReference<>();
            gate.whenReached(1, (value, failure) -> {
                try {
                    after.await(1, LONG);
                } catch (RuntimeException e) {
                    thrown.set(e);
                }
            });
            driver.deafen(true);
            device.queue(0).fill(null, done, buffer, 0, 64, 1, 4, 0);
            awaitEndOfWork();
            gate.signal(1);
            assertThat(thrown.get()).isNull();
            assertThat(after.value()).isEqualTo(1);
        }
    }

    /** Only the waiting thread has met the failure: nobody else would notify the waiters. */
    @Test
    void aFailureOfTheLookFailsTheDevice() {
        open(1);
        try (Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, 64);
                TimelineSemaphore timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                Fence done = Fence.at(timeline, 1)) {
            driver.deafen(true);
            device.queue(0).fill(null, done, buffer, 0, 64, 1, 4, 0);
            awaitEndOfWork();
            driver.fail("value", 0, 1, () -> new IllegalStateException("no value today"));
            HardwareStream stream = ((StreamQueue) device.queue(0)).stream();
            Thread.ofPlatform().start(() -> {
                while (stream.point(Long.MAX_VALUE) < 0) { // not stopped: work ended before may still succeed
                    Thread.onSpinWait();
                }
                driver.deafen(false); // work ends, and fails
            });
            assertThatThrownBy(() -> done.await(LONG)).hasStackTraceContaining("no value today");
        }
    }

    /**
     * The thread with the work for the hardware may be slow: a waiting thread asleep meanwhile would have to be woken.
     */
    @Test
    void workFromAnotherThreadIsWaitedForByLooking() throws InterruptedException {
        open(1);
        CountDownLatch submits = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        HardwareQueue queue = ((StreamQueue) device.queue(0)).stream().queue();
        CompletionHelper helper =
                new CompletionHelper(UseGuard.of(() -> "test", () -> {}), List.of(queue), failure -> {});
        assertThat(helper.help()).as("without work").isEqualTo(WaitHelper.Outcome.NOTHING);
        try (Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, 64);
                TimelineSemaphore timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                Fence done = Fence.at(timeline, 1)) {
            driver.fail("finish", 0, 1, () -> {
                submits.countDown();
                awaitQuietly(goesOn);
                return null;
            });
            Thread other = Thread.ofPlatform().start(() -> device.queue(0).fill(null, done, buffer, 0, 64, 1, 4, 0));
            submits.await();
            assertThat(helper.help()).as("work on its way").isEqualTo(WaitHelper.Outcome.BUSY);
            goesOn.countDown();
            other.join();
            done.await(LONG);
        }
        while (helper.help() != WaitHelper.Outcome.NOTHING) { // the thread that reported the end may not have left yet
            Thread.onSpinWait();
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Others sleep: a hundred threads in a wait for a device do not look a hundred times as often. */
    @Test
    void twoThreadsLookAtOnce() {
        open(1);
        CompletionHelper helper = new CompletionHelper(UseGuard.of(() -> "test", () -> {}), List.of(), failure -> {});
        assertThat(helper.tryBegin()).isTrue();
        assertThat(helper.tryBegin()).isTrue();
        assertThat(helper.tryBegin()).isFalse();
        helper.end(false);
        assertThat(helper.tryBegin()).isTrue();
    }

    @Test
    void aThreadForbiddenToLookIsToldOfTheEnd() {
        open(1);
        WaitHelper refuses = new WaitHelper() {
            @Override
            public boolean tryBegin() {
                return false;
            }

            @Override
            public Outcome help() {
                throw new AssertionError("looked");
            }

            @Override
            public void end(boolean worked) {
                throw new AssertionError("ended");
            }
        };
        try (TimelineSemaphore timeline = TimelineSemaphore.create(SemaphoreOptions.DEFAULTS.withHelper(refuses))) {
            Thread.ofPlatform().start(() -> timeline.signal(1));
            timeline.await(1, LONG);
        }
    }

    @Test
    void aLostDeviceFailsTheWaitingThread() throws InterruptedException {
        open(1);
        driver.hold(true);
        try (Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, 64);
                TimelineSemaphore timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                Fence done = Fence.at(timeline, 1)) {
            device.queue(0).fill(null, done, buffer, 0, 64, 1, 4, 0);
            AtomicReference<Throwable> thrown = new AtomicReference<>();
            Thread waiting = Thread.ofPlatform().start(() -> {
                try {
                    done.await(LONG);
                } catch (IreeException e) {
                    thrown.set(e);
                }
            });
            driver.lose();
            waiting.join();
            assertThat(thrown.get()).hasMessageContaining("lost on purpose");
        }
    }
}
