package io.github.iree4j.hal.virtual;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.QueueCounters;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;

/**
 * Streams and unordered queues of several devices with waits for each other, submitted to and run by several threads at
 * once.
 */
class ManyThreadsTest {
    private static final int OPERATIONS = 300;
    private static final int THREADS = 4;

    @Test
    void everythingRunsOnceAfterItsWaitsAndNothingHangs() throws Exception {
        for (int round = 0; round < 30; round++) {
            long seed = Effort.seed(20261120) + round;
            Random random = new Random(seed);
            VirtualClock clock = VirtualClock.automatic();
            Object group = new Object();
            List<VirtualDevice> devices = new ArrayList<>();
            for (int d = 0; d < 3; d++) {
                VirtualDevice.Builder builder = VirtualDevice.builder()
                        .id("d" + d)
                        .clock(clock)
                        .fifoQueues(2)
                        .unorderedQueue(3);
                devices.add((d < 2 ? builder.directGroup(group) : builder).build());
            }
            List<TimelineSemaphore> done = new ArrayList<>();
            List<List<Integer>> waits = new ArrayList<>();
            List<Integer> order = new ArrayList<>();
            for (int i = 0; i < OPERATIONS; i++) {
                done.add(TimelineSemaphore.create(0));
                List<Integer> mine = new ArrayList<>();
                for (int w = i == 0 ? 0 : random.nextInt(4); w > 0; w--) {
                    mine.add(Math.max(0, i - 1 - random.nextInt(20)));
                }
                waits.add(mine);
                order.add(i);
            }
            Collections.shuffle(order.subList(0, OPERATIONS / 2), random); // some wait before there is a promise
            AtomicIntegerArray ran = new AtomicIntegerArray(OPERATIONS);
            AtomicInteger early = new AtomicInteger();
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                int first = t;
                Random own = new Random(seed + t);
                threads.add(Thread.ofPlatform().start(() -> {
                    for (int n = first; n < OPERATIONS; n += THREADS) {
                        int i = order.get(n);
                        VirtualDevice device = devices.get(own.nextInt(devices.size()));
                        List<Fence.Entry> entries = new ArrayList<>();
                        waits.get(i).forEach(w -> entries.add(new Fence.Entry(done.get(w), 1)));
                        Fence wait = entries.isEmpty() ? null : Fence.of(entries);
                        try (Fence signal = Fence.at(done.get(i), 1)) {
                            device.queue(own.nextInt(3))
                                    .hostCall(
                                            wait,
                                            signal,
                                            () -> {
                                                for (int w : waits.get(i)) {
                                                    early.addAndGet(ran.get(w) == 0 ? 1 : 0);
                                                }
                                                ran.incrementAndGet(i);
                                            },
                                            0);
                        }
                        if (wait != null) {
                            wait.close();
                        }
                    }
                }));
            }
            for (Thread thread : threads) {
                assertThat(thread.join(Duration.ofSeconds(60)))
                        .as("seed %d hangs", seed)
                        .isTrue();
            }
            for (int i = 0; i < OPERATIONS; i++) {
                done.get(i).await(1, Duration.ofSeconds(60));
                assertThat(ran.get(i)).as("seed %d, operation %d", seed, i).isEqualTo(1);
            }
            assertThat(early).as("seed %d", seed).hasValue(0);
            long retired = 0;
            for (VirtualDevice device : devices) {
                for (int q = 0; q < 3; q++) {
                    QueueCounters counters = device.queue(q).counters();
                    assertThat(counters.pending()).isZero();
                    retired += counters.retired();
                }
                device.close();
            }
            assertThat(retired).isEqualTo(OPERATIONS);
            done.forEach(TimelineSemaphore::close);
        }
    }
}
