package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TaintWindow;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.hal.spi.DeviceOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Diagnostics of work without progress. */
@Timeout(300)
class RuntimeDiagnosticsTest {

    @Test
    void aWaitingOperationNamesItsWait() {
        try (IreeRuntime runtime = IreeRuntime.create();
                Timeline timeline = runtime.createTimeline();
                Fence wait = timeline.at(7)) {
            DeviceQueue queue = runtime.device().queue(0);
            queue.barrier(wait, null, 0);
            PendingOperation pending = queue.pending(10).getFirst();
            assertThat(pending.name()).isEqualTo("barrier");
            assertThat(pending.forMemory()).isFalse();
            assertThat(pending.since().isNegative()).isFalse();
            assertThat(pending.waits())
                    .containsExactly(
                            new PendingOperation.Wait(timeline.semaphore().id(), 7, 0, false, Axis.NONE, 0, ""));
            assertThat(queue.counters().pending()).isEqualTo(1);
            timeline.semaphore().signal(7);
            assertThat(queue.pending(10)).isEmpty();
            assertThat(queue.counters().heldBackNanos()).isPositive();
        }
    }

    @Test
    void theListOfWaitingOperationsIsAsLongAsIsAskedFor() {
        try (IreeRuntime runtime = IreeRuntime.create();
                Timeline timeline = runtime.createTimeline();
                Fence wait = timeline.at(1)) {
            DeviceQueue queue = runtime.device().queue(0);
            for (int i = 0; i < 5; i++) {
                queue.barrier(wait, null, 0);
            }
            assertThat(queue.pending(3)).hasSize(3);
            assertThat(queue.pending(10)).hasSize(5);
            timeline.semaphore().signal(1);
        }
    }

    @Test
    void anAllocationWaitingForMemoryIsReported() {
        DeviceOptions small = DeviceOptions.builder().memoryLimit(1 << 20).build();
        try (IreeRuntime runtime =
                        IreeRuntime.builder().device("local", "local", small).build();
                TimelineSemaphore semaphore = TimelineSemaphore.create(0);
                Fence one = Fence.at(semaphore, 1);
                Fence release = Fence.at(semaphore, 2);
                Fence freed = Fence.at(semaphore, 3);
                TimelineSemaphore other = TimelineSemaphore.create(0);
                Fence two = Fence.at(other, 1)) {
            DeviceQueue queue = runtime.device().queue(0);
            Buffer first = queue.alloca(null, one, BufferParams.DEFAULT, 900_000, 0);
            one.await();
            queue.dealloca(release, freed, first, 0);
            Buffer second = queue.alloca(null, two, BufferParams.DEFAULT, 900_000, 0);
            assertThat(queue.pending(10)).anySatisfy(operation -> {
                assertThat(operation.forMemory()).isTrue();
                assertThat(operation.waits()).isEmpty();
            });
            semaphore.signal(2);
            two.await();
            first.close();
            second.close();
        }
    }

    @Test
    void timelinesOfTheRuntimeAreListedWhileOpen() {
        try (IreeRuntime runtime = IreeRuntime.create();
                Timeline kept = runtime.createTimeline()) {
            Timeline closed = runtime.createTimeline();
            closed.close();
            assertThat(runtime.monitor().timelines()).containsExactly(kept.semaphore());
        }
    }

    @Test
    void fencesOfTheRuntimeAreListedWhileOpen() {
        try (IreeRuntime runtime = IreeRuntime.create()) {
            try (Fence fence = runtime.createFence("uploaded")) {
                System.gc(); // drops everything kept by nobody else
                assertThat(runtime.monitor().timelines()).containsExactly(fence.semaphore(0));
            }
            assertThat(runtime.monitor().timelines()).isEmpty();
        }
    }

    @Test
    void aTaintWindowBeginsWithAnExternalSignalAndEndsWithAnInternalSignal() {
        long opened = TaintWindow.openedCount();
        long recovered = TaintWindow.recoveredCount();
        try (TimelineSemaphore semaphore = TimelineSemaphore.create(0)) {
            semaphore.signal(3);
            semaphore.signalExternal(5);
            semaphore.signalExternal(6);
            TaintWindow window = TaintWindow.recent().getLast();
            assertThat(window.semaphore()).isEqualTo(semaphore.id());
            assertThat(window.watermark()).isEqualTo(3);
            assertThat(window.reached()).isEqualTo(6);
            assertThat(window.cause()).contains("outside");
            assertThat(window.recovered()).isNull();
            semaphore.signal(7);
            assertThat(window.recovered()).isNotNull();
            assertThat(semaphore.watermark()).isEqualTo(7);
        }
        assertThat(TaintWindow.openedCount()).isGreaterThan(opened);
        assertThat(TaintWindow.recoveredCount()).isGreaterThan(recovered);
    }
}
