package io.github.iree4j.hal.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.async.SemaphoreOptions;
import io.github.iree4j.async.SemaphoreScope;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.async.io.Completion;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.lifetime.UseGuard;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * STREAM-11: work that a closed device with sound hardware does not run any more ends behind its waits: others rely on
 * the order.
 */
@Timeout(60)
class StoppedStreamTest {
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final int BYTES = 64;

    private final List<AutoCloseable> opened = new ArrayList<>();
    private final ScriptedDriver driver = new ScriptedDriver(3, false);
    private final StreamDevice device = driver.open(DeviceOptions.builder().queueCount(3), LONG);
    private final DriverTimeline gate = driver.createTimeline(0, false);
    private final Fence open = fence();
    private final Buffer buffer = buffer();

    /** Writes the buffer, once the gate is open. */
    private final Fence late = fence();

    @AfterEach
    void close() throws Exception {
        if (!open.semaphore(0).isReached(1)) {
            letGo();
        }
        for (AutoCloseable each : opened.reversed()) {
            each.close();
        }
        device.close();
        gate.close();
        assertThat(StreamDevices.awaitFreed(device, LONG)).as("freed").isTrue();
        assertThat(driver.leftovers()).isEmpty();
    }

    private void hold() {
        assertThat(open.semaphore(0).promiseExternal(1, ForeignPoint.open(device, gate, 1)))
                .isTrue();
        device.queue(1).fill(open, late, buffer, 0, BYTES, 7, 1, 0);
    }

    private void letGo() {
        gate.signal(1);
        open.semaphore(0).signalExternal(1);
    }

    private Buffer buffer() {
        Buffer made = device.allocator().allocate(BufferParams.DEFAULT, BYTES);
        opened.add(made);
        return made;
    }

    private Fence fence() {
        TimelineSemaphore own =
                TimelineSemaphore.create(SemaphoreOptions.DEFAULTS.withScope(SemaphoreScope.DEVICE_LOCAL));
        opened.add(own);
        Fence fence = Fence.at(own, 1);
        opened.add(fence);
        return fence;
    }

    private HardwareStream stream(int queue) {
        return ((StreamQueue) device.queue(queue)).stream();
    }

    /** A transfer ends on a test's command. */
    private static final class SlowFile extends HalFile {
        final CompletableFuture<Completion> begun = new CompletableFuture<>();

        SlowFile() {
            super("slow file", MemoryAccess.READ);
        }

        @Override
        public boolean isAsynchronous() {
            return true;
        }

        @Override
        public long length() {
            return BYTES;
        }

        @Override
        protected void doStartRead(
                long offset, MemorySegment target, Supplier<@Nullable IreeException> stop, Completion completion) {
            begun.complete(completion);
        }

        @Override
        protected void doRead(long offset, MemorySegment target) {
            throw new AssertionError("read");
        }

        @Override
        protected void doWrite(long offset, MemorySegment source) {
            throw new AssertionError("written");
        }

        @Override
        protected void destroy() {}
    }

    /**
     * Queue 2 has an operation behind a file that waits for running work of queue 1. Queue 0 waits for that operation,
     * so later work on queue 0 waits for nothing.
     */
    @Test
    void workHeldAtTheCloseOfTheDeviceKeepsItsPlaceBehindItsWaits() {
        hold();
        SlowFile file = new SlowFile();
        opened.add(file);
        device.queue(2).read(null, fence(), file, 0, buffer(), 0, BYTES, 0);
        Completion transfer = file.begun.join();
        Fence held = fence();
        device.queue(2).barrier(late, held, 0);
        Fence behind = fence();
        device.queue(0).barrier(held, behind, 0);
        Fence copied = fence();
        Buffer copy = buffer();
        device.queue(0).copy(late, copied, buffer, 0, copy, 0, BYTES, 0);
        assertThat(device.queue(0).counters().elidedFrontier()).isEqualTo(1);
        long point = stream(2).point(2);
        boolean outer = HeldCallbacks.begin(); // without a wait for the end
        try {
            device.close();
            transfer.ended(BYTES, null);
        } finally {
            HeldCallbacks.end(outer);
        }
        assertThat(stream(2).queue().timeline.value()).isLessThan(point);
        letGo();
        copied.await(LONG);
        byte[] bytes = new byte[BYTES];
        copy.read(0, MemorySegment.ofArray(bytes));
        assertThat(bytes).containsOnly(7);
        assertThat(held.failure()).isPresent();
    }

    /**
     * Queue 0 has a detached host call that waits for running work of queue 1. Queue 2 waits for the call, and queue 0
     * for queue 2: the end of the call, which does not run any more, is not the end of the work behind.
     */
    @Test
    void anUnrunStepEndsBeforeTheWorkBehindIt() {
        hold();
        Fence called = fence();
        device.queue(0).hostCall(late, called, () -> {}, DeviceQueue.HOST_CALL_NON_BLOCKING);
        Fence between = fence();
        device.queue(2).barrier(called, between, 0);
        Fence last = fence();
        device.queue(0).barrier(between, last, 0);
        for (int each : new int[] {0, 2}) {
            assertThat(device.queue(each).counters().deferred())
                    .as("of queue %d", each)
                    .isZero();
        }
        long point = stream(0).point(1);
        HeldCallbacks.run(device::close); // without a wait for the end
        assertThat(stream(0).queue().timeline.value()).isLessThan(point);
        letGo();
        assertThatThrownBy(() -> last.await(LONG)).hasMessageContaining("closed while its work was in flight");
    }

    /** The epoch of an operation implies all its predecessors, for memory too. */
    @Test
    void workGivenToAStoppedStreamKeepsItsPlaceBehindItsWaits() {
        hold();
        IreeException cause = IreeException.of(StatusCode.ABORTED, "stopped on purpose");
        stream(2).stop(cause, false);
        Fence refused = fence();
        device.queue(2).barrier(late, refused, 0);
        long axis = device.queue(2).axis();
        assertThat(device.schedulingDomain().tracker().completed(axis)).isZero();
        assertThat(stream(2).point(1)).isPositive();
        letGo();
        late.await(LONG);
        while (device.schedulingDomain().tracker().completed(axis) == 0) {
            assertThat(Thread.interrupted()).as("too late").isFalse();
        }
        assertThatThrownBy(() -> refused.await(LONG)).isNotNull();
        assertThat(refused.failure()).containsSame(cause);
    }

    /** FIFO-4. The issuing thread is not there yet. */
    @Test
    void placedWorkAtTheCloseOfTheDeviceFailsLikeWaitingWork() {
        Fence ready = fence();
        Fence done = fence();
        device.queue(0).barrier(ready, done, 0);
        ready.semaphore(0).whenReached(1, (value, failure) -> HeldCallbacks.run(device::close));
        ready.semaphore(0).signal(1);
        assertThatThrownBy(() -> done.await(LONG)).hasMessageContaining("closed while its work was in flight");
        assertThat(done.query()).isEqualTo(StatusCode.ABORTED);
    }

    /**
     * STREAM-13: the thread of a host step submits the operations behind the step, perhaps ended before the thread has
     * left the driver.
     */
    @Test
    void theDriverStaysWhileTheThreadOfAStepGives() throws InterruptedException {
        CountDownLatch issued = new CountDownLatch(1);
        CountDownLatch giving = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Fence called = fence();
        Fence filled = fence();
        device.queue(0)
                .hostCall(
                        null,
                        called,
                        () -> {
                            await(issued);
                            driver.fail("give", 0, 1, () -> {
                                giving.countDown();
                                await(goOn);
                                return null;
                            });
                        },
                        0);
        device.queue(0).fill(null, filled, buffer, 0, BYTES, 7, 1, 0);
        issued.countDown();
        giving.await();
        filled.await(LONG);
        Thread closer = Thread.ofPlatform().start(device::close);
        assertThat(StreamDevices.awaitFreed(device, Duration.ofMillis(100)))
                .as("freed while a thread gives")
                .isFalse();
        goOn.countDown();
        closer.join();
    }

    private static void await(CountDownLatch latch) {
        assertThatCode(latch::await).doesNotThrowAnyException();
    }

    /** STREAM-4: memory perhaps in use by the driver is not freed for want of an answer. */
    @Test
    void aQueueIsNotOverWhileItsDriverCannotTell() throws InterruptedException {
        ScriptedDriver other = new ScriptedDriver(1, false);
        HardwareQueue queue = new HardwareQueue(
                other, UseGuard.of(() -> "other", () -> {}), other.lanes().getFirst(), false);
        other.hold(true);
        queue.nudge();
        CountDownLatch asked = new CountDownLatch(2);
        Supplier<Throwable> bug = () -> {
            asked.countDown();
            return IreeException.of(StatusCode.INTERNAL, "on purpose");
        };
        other.failAlways("value", bug);
        assertThat(queue.isOver()).isFalse();
        Thread waiter = Thread.ofPlatform().start(queue::awaitOver);
        asked.await();
        other.heal();
        assertThat(queue.isOver()).isFalse();
        assertThat(waiter.isAlive()).isTrue();
        other.hold(false);
        waiter.join();
        assertThat(queue.isOver()).isTrue();
        other.close();
    }
}
