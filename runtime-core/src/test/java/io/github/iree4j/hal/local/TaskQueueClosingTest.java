package io.github.iree4j.hal.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.spi.CpuOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.task.ProcessExecutor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The ends of running work: failures, and closing the device or its workers. */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class TaskQueueClosingTest extends TaskQueueFixture {
    @Test
    void aFailingKernelStopsTheRestOfItsDispatch() {
        Device device = open(2);
        AtomicInteger ran = new AtomicInteger();
        IreeException lost = IreeException.of(StatusCode.DATA_LOSS, "lost on purpose");
        CountDownLatch failing = new CountDownLatch(1);
        kernel.body = (group, dispatch, worker) -> {
            ran.incrementAndGet();
            if (group == 10) {
                failing.countDown();
                throw lost;
            }
            if (group > 10) { // the thread has run group 10 before, or another worker runs the group
                failing.await();
            }
        };
        assertThat(failure(dispatch(device, null, 1_000_000))).hasMessageContaining("lost on purpose");
        assertThat(ran.get()).as("some were running").isLessThan(500_000);
        kernel.body = (group, dispatch, worker) -> {};
        dispatch(device, null, 100_000).await();
    }

    @Test
    void workWithAFailedSignalIsNotContinued() {
        Device device =
                open(DeviceOptions.builder().with(CpuOptions.DEFAULTS.workers(2).inlineWork(Duration.ZERO)));
        AtomicInteger ran = new AtomicInteger();
        CountDownLatch failed = new CountDownLatch(1);
        kernel.body = (group, dispatch, worker) -> {
            ran.incrementAndGet();
            failed.await();
        };
        Fence done = dispatch(device, null, 100_000);
        Fence behind = dispatch(device, done, 1);
        done.fail(IreeException.of(StatusCode.CANCELLED, "no longer wanted"));
        failed.countDown();
        assertThat(failure(behind)).hasMessageContaining("no longer wanted");
        while (device.queue(0).counters().inFlight() > 0) {
            Thread.onSpinWait();
        }
        assertThat(ran.get()).isLessThan(1000);
    }

    @Test
    void closingADeviceStopsRunningWorkAndFailsWaitingWork() throws Exception {
        Device device = new LocalDriverProvider()
                .open(
                        "local",
                        DeviceOptions.builder()
                                .with(CpuOptions.DEFAULTS.workers(2).loader(kernel))
                                .build());
        CountDownLatch running = new CountDownLatch(2);
        AtomicInteger ran = new AtomicInteger();
        kernel.body = (group, dispatch, worker) -> {
            ran.incrementAndGet();
            running.countDown();
            while (device.failure().isEmpty()) { // until it is closed
                Thread.onSpinWait();
            }
        };
        Fence done = dispatch(device, null, 1_000_000);
        List<Fence> more = new ArrayList<>();
        for (int i = 0; i < 600; i++) { // more than the lanes and the stream hold
            more.add(dispatch(device, null, 1_000_000));
        }
        Fence behind = dispatch(device, done, 1);
        running.await();
        long begun = System.nanoTime();
        device.close();
        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(10));
        assertThat(failure(done)).extracting(IreeException::code).isEqualTo(StatusCode.ABORTED);
        assertThat(done.failure().orElseThrow())
                .hasMessageContaining("device 'local' was closed while its work was in flight");
        for (Fence each : more) {
            assertThat(failure(each)).extracting(IreeException::code).isEqualTo(StatusCode.ABORTED);
        }
        assertThat(failure(behind)).extracting(IreeException::code).isEqualTo(StatusCode.ABORTED);
        int then = ran.get();
        assertThat(then).isLessThan(100_000);
        assertThat(device.queue(0).counters().inFlight()).isZero();
    }

    @Test
    void closingADeviceWaitsForWorkRunByACaller() throws Exception {
        Device device = new LocalDriverProvider()
                .open(
                        "local",
                        DeviceOptions.builder()
                                .with(CpuOptions.DEFAULTS.workers(1).loader(kernel))
                                .build());
        CountDownLatch inKernel = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        AtomicInteger left = new AtomicInteger();
        kernel.body = (group, dispatch, worker) -> {
            inKernel.countDown();
            goOn.await();
            left.incrementAndGet();
        };
        Thread caller = Thread.ofPlatform().start(() -> dispatch(device, null, 1));
        inKernel.await();
        AtomicInteger seen = new AtomicInteger(-1);
        Thread closer = Thread.ofPlatform().start(() -> {
            device.close();
            seen.set(left.get());
        });
        while (closer.getState() != Thread.State.TIMED_WAITING) { // waiting for the caller
            Thread.onSpinWait();
        }
        assertThat(seen).hasValue(-1);
        goOn.countDown();
        closer.join();
        caller.join();
        assertThat(seen)
                .as("kernels returned at the time of the device's close")
                .hasValue(1);
    }

    @Test
    void aTransferHandedToAWorkerIsNotMadeOnceItsSignalHasFailed() throws Exception {
        Device device =
                open(DeviceOptions.builder().with(CpuOptions.DEFAULTS.workers(1).inlineWork(Duration.ZERO)));
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        kernel.body = (group, dispatch, worker) -> {
            running.countDown();
            goOn.await();
        };
        Buffer buffer = closed(device.allocator().allocate(BufferParams.DEFAULT, 12));
        device.queue(0).fill(null, null, buffer, 0, 12, 5, 4, 0);
        Fence busy = dispatch(device, null, 1);
        running.await();
        Fence filled = fence(device);
        Fence copied = fence(device);
        Fence updated = fence(device);
        Fence last = fence(device);
        device.queue(0).fill(null, filled, buffer, 0, 4, 6, 4, 0);
        device.queue(0).copy(null, copied, buffer, 0, buffer, 4, 4, 0);
        device.queue(0).update(null, updated, MemorySegment.ofArray(new int[] {7}), buffer, 8, 0);
        device.queue(0).barrier(busy, last, 0);
        for (Fence each : List.of(filled, copied, updated)) {
            each.fail(IreeException.of(StatusCode.CANCELLED, "no longer wanted"));
        }
        goOn.countDown();
        last.await();
        while (device.queue(0).counters().inFlight() > 0) {
            Thread.onSpinWait();
        }
        assertThat(buffer.map(MemoryAccess.READ, 0, Buffer.WHOLE).toArray(ValueLayout.JAVA_INT))
                .containsExactly(5, 5, 5);
    }

    @Test
    void aDeviceMayBeClosedByItsOwnWorker() throws Exception {
        Device device = open(2);
        CountDownLatch closed = new CountDownLatch(1);
        Fence start = fence(device);
        Fence done = dispatch(device, start, 5000);
        done.whenReached(failure -> {
            device.close();
            closed.countDown();
        });
        start.signal();
        assertThat(closed.await(60, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void closingTheSharedWorkersFailsTheWorkOfTheirDevices() {
        ProcessExecutor shared = ProcessExecutor.builder(1).build();
        Device device = open(DeviceOptions.builder()
                .with(CpuOptions.DEFAULTS.executor(shared).inlineWork(Duration.ZERO)));
        dispatch(device, null, 1).await();
        shared.close();
        assertThat(failure(dispatch(device, null, 1)))
                .extracting(IreeException::code)
                .isEqualTo(StatusCode.CANCELLED);
        CommandBuffer commands = closed(device.createCommandBuffer(0, CommandBuffer.TRANSFER, -1, 1));
        commands.finish();
        Fence done = fence(device);
        device.queue(0).execute(null, done, commands, null, 0);
        assertThat(done.failure().isPresent() || done.isReached()).isTrue();
    }
}
