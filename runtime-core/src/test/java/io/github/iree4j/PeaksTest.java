package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.QueuePeaks;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A peak is remembered after the end, until asked for. */
@Timeout(60)
class PeaksTest {
    private static final int MANY = 3;

    @Test
    void aQueueKnowsHowManyOperationsWereInFlightAndPending() throws InterruptedException {
        try (IreeRuntime runtime = IreeRuntime.create();
                Timeline gate = runtime.createTimeline();
                Timeline done = runtime.createTimeline()) {
            DeviceQueue queue = runtime.device().queue(0);
            CountDownLatch begun = new CountDownLatch(MANY);
            CountDownLatch end = new CountDownLatch(1);
            try (Fence open = gate.at(1);
                    Fence all = done.at(1, MANY)) {
                for (int i = 0; i < MANY; i++) {
                    queue.hostCall(open, all, () -> waitFor(begun, end), 0);
                }
                gate.semaphore().signal(1);
                begun.await();
                end.countDown();
                all.await();
            }
            while (queue.counters().inFlight() > 0) {
                Thread.onSpinWait();
            }
            assertThat(queue.takePeaks()).isEqualTo(new QueuePeaks(MANY, MANY));
            assertThat(queue.takePeaks()).isEqualTo(new QueuePeaks(0, 0));
        }
    }

    private static void waitFor(CountDownLatch begun, CountDownLatch end) {
        begun.countDown();
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void anAllocatorKnowsHowMuchMemoryWasInUse() {
        try (IreeRuntime runtime = IreeRuntime.create()) {
            long size = 1 << 20;
            Buffer first = runtime.device().allocator().allocate(BufferParams.DEFAULT, size);
            Buffer second = runtime.device().allocator().allocate(BufferParams.DEFAULT, size);
            second.close();
            assertThat(runtime.device().allocator().takeMostLive()).isEqualTo(2 * size);
            assertThat(runtime.device().allocator().takeMostLive()).isEqualTo(size);
            first.close();
            runtime.device().allocator().takeMostLive();
            assertThat(runtime.device().allocator().takeMostLive()).isZero();
        }
    }
}
