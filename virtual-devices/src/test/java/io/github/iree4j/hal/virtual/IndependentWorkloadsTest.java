package io.github.iree4j.hal.virtual;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.local.LocalDriverProvider;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.spi.CpuOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Independent workloads with disjoint axes never delay each other. */
@Tag("long")
class IndependentWorkloadsTest {
    private static final int PROGRAMS = Effort.rounds(300, 4_000);
    private static final long SEED = Effort.seed(IndependentWorkloadsTest.class, PROGRAMS + " programs", 20260701);

    /** Queues of a device; the first workload uses the first half, the other the second. */
    private static final int QUEUES = 6;

    /** For each operation its queue, among the workload's, and the earlier operations waited for. */
    private record Workload(List<Integer> queues, List<List<Integer>> waits) {
        static Workload random(Random random, int queues) {
            Workload made = new Workload(new ArrayList<>(), new ArrayList<>());
            int count = 5 + random.nextInt(30);
            for (int i = 0; i < count; i++) {
                made.queues.add(random.nextInt(queues));
                List<Integer> waits = new ArrayList<>();
                for (int w = random.nextInt(3); w > 0 && i > 0; w--) {
                    waits.add(random.nextInt(i));
                }
                made.waits.add(waits);
            }
            return made;
        }
    }

    /** One or two workloads on a device. */
    private static final class Run implements AutoCloseable {
        private final List<AutoCloseable> toClose = new ArrayList<>();
        private final VirtualClock clock = VirtualClock.stepped();
        private final FrontierTracker tracker = closed(FrontierTracker.create());
        private final VirtualDevice device;

        Run(boolean[] fifo, int width, long seed) {
            VirtualDevice.Builder builder = VirtualDevice.builder()
                    .clock(clock)
                    .schedulingDomain(
                            SchedulingDomain.create(AxisAllocator.create(3, 0), tracker, Frontier.DEFAULT_CAPACITY))
                    .script(new VirtualScript() {
                        @Override
                        public long duration(int queue, long number, QueueOperation operation) {
                            int slowest = queue < QUEUES / 2 ? 10 : 1000;
                            return 1 + new Random(seed + 31L * queue + 1009 * number).nextInt(slowest);
                        }
                    });
            for (boolean each : fifo) {
                if (each) {
                    builder.fifoQueues(1);
                } else {
                    builder.unorderedQueue(width);
                }
            }
            this.device = closed(builder.build());
        }

        private <T extends AutoCloseable> T closed(T resource) {
            toClose.add(resource);
            return resource;
        }

        /**
         * Submits the operations of a workload one by one; each signals the timeline returned and records the time of
         * its end.
         */
        Submission begin(Workload workload, int firstQueue, boolean blocked) {
            return new Submission(workload, firstQueue, blocked);
        }

        private final class Submission {
            final long[] ends;
            final List<TimelineSemaphore> timelines = new ArrayList<>();
            private final Workload workload;
            private final int firstQueue;
            private final @Nullable TimelineSemaphore never;
            private int next;

            Submission(Workload workload, int firstQueue, boolean blocked) {
                this.workload = workload;
                this.firstQueue = firstQueue;
                this.ends = new long[workload.queues.size()];
                this.never = blocked ? closed(TimelineSemaphore.create(0)) : null;
            }

            boolean submitNext() {
                if (next == ends.length) {
                    return false;
                }
                int index = next++;
                List<Fence.Entry> waits = new ArrayList<>();
                for (int each : workload.waits.get(index)) {
                    waits.add(new Fence.Entry(timelines.get(each), 1));
                }
                if (never != null && waits.isEmpty()) {
                    waits.add(new Fence.Entry(never, 1));
                }
                TimelineSemaphore done = closed(TimelineSemaphore.create(0));
                timelines.add(done);
                Fence wait = waits.isEmpty() ? null : closed(Fence.of(waits));
                device.queue(firstQueue + workload.queues.get(index))
                        .hostCall(wait, closed(Fence.at(done, 1)), () -> ends[index] = clock.now(), 0);
                return true;
            }

            boolean knows(Predicate<Long> axis) {
                return timelines.stream()
                        .map(timeline -> timeline.frontierAt(1))
                        .anyMatch(frontier -> {
                            boolean found = false;
                            for (int i = 0; frontier != null && i < frontier.size(); i++) {
                                found |= axis.test(frontier.axis(i));
                            }
                            return found;
                        });
            }
        }

        @Override
        public void close() {
            for (AutoCloseable each : toClose.reversed()) {
                try {
                    each.close();
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            }
        }
    }

    @Test
    void eachEndsAtTheTimeOfALoneRunAndKnowsNothingOfTheOther() {
        for (int i = 0; i < PROGRAMS; i++) {
            long seed = SEED + i;
            Random random = new Random(seed);
            boolean[] fifo = new boolean[QUEUES];
            for (int q = 0; q < QUEUES; q++) {
                fifo[q] = random.nextInt(3) == 0;
            }
            int width = 1 + random.nextInt(3);
            Workload mine = Workload.random(random, QUEUES / 2);
            Workload other = Workload.random(random, QUEUES / 2);
            long[] alone;
            try (Run run = new Run(fifo, width, seed)) {
                Run.Submission submission = run.begin(mine, 0, false);
                while (submission.submitNext()) {}
                run.clock.runUntilIdle();
                alone = submission.ends;
            }
            try (Run run = new Run(fifo, width, seed)) {
                Run.Submission submission = run.begin(mine, 0, false);
                boolean blocked = random.nextBoolean();
                Run.Submission slow = run.begin(other, QUEUES / 2, blocked);
                boolean more = true;
                while (more) {
                    more = random.nextBoolean() ? submission.submitNext() | slow.submitNext() : submission.submitNext();
                }
                while (slow.submitNext()) {}
                run.clock.runUntilIdle();
                assertThat(submission.ends).as("seed %d", seed).containsExactly(alone);
                List<Long> theirs = new ArrayList<>();
                List<Long> ours = new ArrayList<>();
                for (int q = 0; q < QUEUES / 2; q++) {
                    ours.add(run.device.queue(q).axis());
                    theirs.add(run.device.queue(QUEUES / 2 + q).axis());
                }
                assertThat(submission.knows(theirs::contains))
                        .as("seed %d", seed)
                        .isFalse();
                assertThat(slow.knows(ours::contains)).as("seed %d", seed).isFalse();
                assertThat(slow.timelines.getFirst().isReached(1))
                        .as("seed %d", seed)
                        .isEqualTo(!blocked);
            }
        }
    }

    @Test
    void blockedWorkOnAnUnorderedQueueDelaysNoOtherWork() {
        for (int i = 0; i < PROGRAMS; i++) {
            long seed = SEED + i;
            Random random = new Random(seed);
            int width = 1 + random.nextInt(3);
            Workload mine = Workload.random(random, 1);
            Workload other = Workload.random(random, 1);
            List<long[]> ends = new ArrayList<>();
            for (boolean together : new boolean[] {false, true}) {
                try (Run run = new Run(new boolean[] {false}, width, seed)) {
                    Run.Submission submission = run.begin(mine, 0, false);
                    Run.Submission blocked = run.begin(other, 0, true);
                    do {
                        if (together) {
                            blocked.submitNext();
                        }
                    } while (submission.submitNext());
                    run.clock.runUntilIdle();
                    ends.add(submission.ends);
                }
            }
            assertThat(ends.get(1)).as("seed %d", seed).containsExactly(ends.get(0));
        }
    }

    @Test
    @Timeout(300)
    void onTheCpuWorkEndsWhileOtherWorkIsStuckOrWaits() throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        try (Device device = new LocalDriverProvider()
                        .open(
                                "local",
                                DeviceOptions.builder()
                                        .queueCount(2)
                                        .with(CpuOptions.DEFAULTS.workers(2))
                                        .build());
                TimelineSemaphore never = TimelineSemaphore.create(0);
                TimelineSemaphore stuck = TimelineSemaphore.create(0);
                TimelineSemaphore waits = TimelineSemaphore.create(0);
                TimelineSemaphore mine = TimelineSemaphore.create(0);
                Fence neverReached = Fence.at(never, 1);
                Fence stuckDone = Fence.at(stuck, 1);
                Fence waitsDone = Fence.at(waits, 1)) {
            device.queue(0).hostCall(neverReached, waitsDone, () -> {}, 0);
            Thread busy = Thread.ofVirtual()
                    .start(() -> device.queue(0)
                            .hostCall(
                                    null,
                                    stuckDone,
                                    () -> {
                                        entered.countDown();
                                        try {
                                            go.await();
                                        } catch (InterruptedException e) {
                                            throw new AssertionError(e);
                                        }
                                    },
                                    0));
            entered.await();
            for (int i = 1; i <= 200; i++) {
                try (Fence before = Fence.at(mine, i - 1);
                        Fence after = Fence.at(mine, i)) {
                    device.queue(i % 2).hostCall(before, after, () -> {}, 0); // also on the blocked queue
                }
            }
            mine.await(200, Duration.ofSeconds(30));
            assertThat(stuck.value()).isZero();
            assertThat(waits.value()).isZero();
            go.countDown();
            stuck.await(1);
            busy.join();
            never.signal(1);
            waits.await(1);
        }
    }
}
