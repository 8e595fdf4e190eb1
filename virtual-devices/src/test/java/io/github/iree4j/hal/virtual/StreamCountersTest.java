package io.github.iree4j.hal.virtual;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.QueuePeaks;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The counters, peaks and frontier of a stream. */
@Timeout(60)
class StreamCountersTest {
    private static final int MANY = 3;

    @Test
    void aStreamKnowsTheNumberOfItsOperations() {
        VirtualClock clock = VirtualClock.stepped();
        try (VirtualDevice device =
                VirtualDevice.builder().clock(clock).fifoQueues(1).build()) {
            DeviceQueue queue = device.queue(0);
            for (int i = 0; i < MANY; i++) {
                queue.barrier(null, null, 0);
            }
            clock.runUntilIdle();
            assertThat(queue.counters().inFlight()).isZero();
            assertThat(queue.takePeaks()).isEqualTo(new QueuePeaks(0, MANY));
            assertThat(queue.takePeaks()).isEqualTo(new QueuePeaks(0, 0));
        }
    }

    @Test
    void aStreamKnowsItsPast() {
        VirtualClock clock = VirtualClock.stepped();
        try (VirtualDevice device =
                        VirtualDevice.builder().clock(clock).fifoQueues(2).build();
                TimelineSemaphore semaphore = TimelineSemaphore.create(0);
                Fence first = Fence.at(semaphore, 1);
                Fence second = Fence.at(semaphore, 2)) {
            device.queue(0).barrier(null, first, 0);
            device.queue(1).barrier(first, second, 0);
            assertThat(device.queue(1).frontier().epochOf(device.queue(0).axis()))
                    .isEqualTo(1);
            assertThat(device.queue(1).frontierCounters().merges()).isEqualTo(1);
            assertThat(device.queue(1).frontierCounters().evictions()).isZero();
            clock.runUntilIdle();
            assertThat(device.queue(1).frontier().size()).isZero();
        }
    }
}
