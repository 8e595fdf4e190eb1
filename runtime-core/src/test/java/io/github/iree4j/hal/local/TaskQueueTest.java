package io.github.iree4j.hal.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.spi.CpuOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.task.ProcessExecutor;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The threads of each kind of work. */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class TaskQueueTest extends TaskQueueFixture {
    @Test
    void aDispatchRunsOnSeveralWorkers() {
        Device device = open(3);
        CyclicBarrier all = new CyclicBarrier(3);
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        kernel.body = (group, dispatch, worker) -> {
            if (threads.add(Thread.currentThread())) {
                all.await(60, TimeUnit.SECONDS); // passes when three threads are in it
            }
            assertThat(dispatch.maxConcurrency()).isEqualTo(3);
        };
        awaitAsleep(dispatch(device, null, 1000));
        assertThat(threads).hasSize(3).allMatch(Thread::isDaemon);
        assertThat(device.queryI64("hal.dispatch", "concurrency")).hasValue(3);
    }

    @Test
    void independentWorkOfAQueueRunsAtOnce() {
        Device device = open(3);
        CyclicBarrier all = new CyclicBarrier(3);
        kernel.body = (group, dispatch, worker) -> all.await(60, TimeUnit.SECONDS);
        Fence start = fence(device);
        List<Fence> done = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            done.add(dispatch(device, start, 1));
        }
        start.signal();
        done.forEach(Fence::await);
    }

    @Test
    void aSignallerDoesNotDoTheWaitingWork() {
        Device device = open(2);
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        kernel.body = (group, dispatch, worker) -> threads.add(Thread.currentThread());
        Fence start = fence(device);
        Fence done = dispatch(device, start, 1);
        start.signal();
        awaitAsleep(done);
        assertThat(threads).hasSize(1).doesNotContain(Thread.currentThread());
    }

    @Test
    void smallWorkIsDoneByItsSubmitterUnlessUnwanted() {
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        kernel.body = (group, dispatch, worker) -> threads.add(Thread.currentThread());
        Device device = open(2);
        Fence done = dispatch(device, null, known(executable(device), 1, 100), 1);
        assertThat(done.isReached()).as("done when the call returns").isTrue();
        assertThat(threads).containsExactly(Thread.currentThread());
        threads.clear();
        Device other = open(DeviceOptions.builder().with(CpuOptions.DEFAULTS.inlineWork(Duration.ZERO)));
        Fence later = dispatch(other, null, known(executable(other), 1, 100), 1);
        awaitAsleep(later);
        assertThat(threads).hasSize(1).doesNotContain(Thread.currentThread());
    }

    @Test
    void aSubmitterOfSmallWorkPaysNoThreads() {
        ProcessExecutor workers =
                closed(ProcessExecutor.builder(3).name("unneeded").build());
        Device device = open(DeviceOptions.builder()
                .with(CpuOptions.DEFAULTS.executor(workers).inlineWork(Duration.ofSeconds(1))));
        Buffer buffer = closed(device.allocator().allocate(BufferParams.DEFAULT, 12));
        for (int i = 0; i < 3; i++) {
            device.queue(0).fill(null, null, buffer, 0, 12, 5, 4, 0);
            assertThat(dispatch(device, null, known(executable(device), 1, 100), 1)
                            .isReached())
                    .isTrue();
        }
        assertThat(Thread.getAllStackTraces().keySet())
                .noneMatch(thread -> thread.getName().startsWith("unneeded-worker-"));
        dispatch(
                        open(DeviceOptions.builder()
                                .with(CpuOptions.DEFAULTS.executor(workers).inlineWork(Duration.ZERO))),
                        null,
                        1)
                .await();
        assertThat(workers.sleepingWorkers()).isBetween(0, 3);
    }

    @Test
    void workFoundToBeLongIsNotDoneByItsSubmitter() {
        Device device = open(2);
        Executable executable = executable(device);
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        kernel.body = (group, dispatch, worker) -> {
            threads.add(Thread.currentThread());
            long end = System.nanoTime() + 1_000_000;
            while (System.nanoTime() < end) {
                Thread.onSpinWait();
            }
        };
        for (int i = 0; i < 2; i++) {
            threads.clear();
            Fence done = fence(device);
            device.queue(0)
                    .dispatch(null, done, executable, 0, DispatchConfig.of(1, 1, 1), NONE, new BindingTable(), 0);
            awaitAsleep(done);
        }
        assertThat(threads).as("of the second call").hasSize(1).doesNotContain(Thread.currentThread());
    }

    @Test
    void devicesShareWorkersWhenAsked() {
        try (ProcessExecutor shared = ProcessExecutor.builder(2).name("shared").build()) {
            Set<String> threads = ConcurrentHashMap.newKeySet();
            String here = Thread.currentThread().getName(); // may help during the wait
            kernel.body = (group, dispatch, worker) ->
                    threads.add(Thread.currentThread().getName());
            for (int i = 0; i < 3; i++) {
                try (Device device = new LocalDriverProvider()
                                .open(
                                        "local",
                                        DeviceOptions.builder()
                                                .with(CpuOptions.DEFAULTS
                                                        .executor(shared)
                                                        .inlineWork(Duration.ZERO)
                                                        .loader(kernel))
                                                .build());
                        Executable executable = device.createExecutable(
                                new ExecutableParams("test", MemorySegment.ofArray(new byte[1]), null, NONE));
                        TimelineSemaphore timeline = device.createSemaphore(0, 0);
                        Fence done = Fence.at(timeline, 1)) {
                    device.queue(0)
                            .dispatch(
                                    null,
                                    done,
                                    executable,
                                    0,
                                    DispatchConfig.of(64, 1, 1),
                                    NONE,
                                    new BindingTable(),
                                    0);
                    done.await();
                    assertThat(device.queryI64("hal.dispatch", "concurrency")).hasValue(2);
                }
                assertThat(shared.liveProcesses()).as("of closed devices").isZero();
            }
            assertThat(threads).isNotEmpty().allMatch(name -> name.contains("shared") || name.equals(here));
        }
    }

    // LANE-1: an execution in a lane sees the writes of its predecessors, on any worker.
    // LANE-2: an operation in a wait for a lane gets a lane.
    @Test
    void moreRecordingsThanLanesAllRun() {
        Device device =
                open(DeviceOptions.builder().with(CpuOptions.DEFAULTS.workers(3).inlineWork(Duration.ZERO)));
        int count = 300;
        int regions = 40; // too many commands for the stream
        AtomicInteger ran = new AtomicInteger();
        kernel.body = (group, dispatch, worker) -> ran.incrementAndGet();
        Executable executable = executable(device);
        CommandBuffer commands = closed(device.createCommandBuffer(0, CommandBuffer.DISPATCH, -1, 0));
        for (int i = 0; i < regions; i++) {
            commands.dispatch(executable, 0, DispatchConfig.of(3, 1, 1), NONE, List.of(), 0);
            commands.executionBarrier(1, 1, 0);
        }
        commands.finish();
        Fence start = fence(device);
        TimelineSemaphore timeline = closed(device.createSemaphore(0, 0));
        List<Fence> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Fence done = fence(device);
            device.queue(0).execute(start, done, commands, null, 0);
            all.add(done);
        }
        // And a chain in which each sees the predecessor's work.
        for (int i = 1; i <= 50; i++) {
            device.queue(0)
                    .execute(closed(Fence.at(timeline, i - 1)), closed(Fence.at(timeline, i)), commands, null, 0);
        }
        start.signal();
        all.forEach(Fence::await);
        timeline.await(50);
        assertThat(ran).hasValue((count + 50) * regions * 3);
    }

    @Test
    void largeTransfersOfTheQueueAreShared() {
        Device device = open(2);
        int bytes = 3 << 20;
        Buffer a = closed(device.allocator().allocate(BufferParams.DEFAULT, bytes));
        Buffer b = closed(device.allocator().allocate(BufferParams.DEFAULT, bytes));
        Fence filled = fence(device);
        device.queue(0).fill(null, filled, a, 0, bytes, 0x1122334455667788L, 8, 0);
        Fence copied = fence(device);
        device.queue(0).copy(filled, copied, a, 0, b, 8, bytes - 8, 0);
        copied.await();
        MemorySegment words = b.map(1, 0, bytes);
        for (int i = 8; i < bytes; i += 4096) {
            assertThat(words.get(java.lang.foreign.ValueLayout.JAVA_LONG, i)).isEqualTo(0x1122334455667788L);
        }
    }

    @Test
    void waitingCallersHelp() {
        Device device = open(1);
        CyclicBarrier both = new CyclicBarrier(2);
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        kernel.body = (group, dispatch, worker) -> {
            if (threads.add(Thread.currentThread())) {
                both.await(60, TimeUnit.SECONDS); // passes when the worker and the caller are in it
            }
        };
        dispatch(device, null, known(executable(device), 1000, 1_000), 1000).await();
        assertThat(threads).hasSize(2).contains(Thread.currentThread());
    }

    // LANE-3: a region opened by a helper is continued, also if closed to the helper.
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void workLeftByAnEndingHelperIsGoneOnWith(boolean isAllKnown) throws Exception {
        ProcessExecutor workers = closed(ProcessExecutor.builder(1).build());
        Device device = open(DeviceOptions.builder()
                .with(CpuOptions.DEFAULTS.executor(workers).inlineWork(Duration.ZERO)));
        Thread caller = Thread.currentThread();
        CountDownLatch workerIsBusy = new CountDownLatch(1);
        CountDownLatch callerIsInTheFirstRegion = new CountDownLatch(1);
        AtomicInteger ran = new AtomicInteger();
        kernel.body = (group, dispatch, worker) -> {
            if (Thread.currentThread().equals(caller)) {
                callerIsInTheFirstRegion.countDown();
                while (workers.sleepingWorkers() == 0) { // with no work found
                    Thread.onSpinWait();
                }
            } else {
                workerIsBusy.countDown();
                callerIsInTheFirstRegion.await();
            }
            ran.incrementAndGet();
        };
        dispatch(device, null, 1);
        workerIsBusy.await();
        Executable known = known(executable(device), 1, 20_000);
        Executable rest = isAllKnown ? known : executable(device);
        CommandBuffer commands = closed(device.createCommandBuffer(0, CommandBuffer.DISPATCH, -1, 0));
        for (int i = 0; i < 40; i++) { // too long for the stream, a workgroup in each region
            commands.dispatch(i == 0 ? known : rest, 0, DispatchConfig.of(1, 1, 1), NONE, List.of(), 0);
            commands.executionBarrier(1, 1, 0);
        }
        commands.finish();
        Fence done = fence(device);
        device.queue(0).execute(null, done, commands, null, 0);
        try {
            done.await(Duration.ofNanos(1)); // does a single piece of work
        } catch (IreeException e) { // unless the worker has completed the rest by then
            assertThat(e.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        }
        awaitAsleep(done);
        assertThat(ran).hasValue(41);
    }

    @Test
    void aCallWithoutBlockingMayWaitForItsOwnSignals() throws Exception {
        Device device = open(1);
        Fence done = fence(device);
        CountDownLatch returns = new CountDownLatch(1);
        device.queue(0)
                .hostCall(
                        null,
                        done,
                        () -> {
                            done.await(Duration.ofSeconds(60));
                            returns.countDown();
                        },
                        DeviceQueue.HOST_CALL_NON_BLOCKING);
        done.await(Duration.ofSeconds(60));
        assertThat(returns.await(60, TimeUnit.SECONDS)).isTrue();
    }
}
