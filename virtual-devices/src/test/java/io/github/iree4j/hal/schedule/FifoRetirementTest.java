package io.github.iree4j.hal.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** FIFO-1, FIFO-2: completions reported by several threads, in any order. */
class FifoRetirementTest {
    private static final int OPERATIONS = 400;

    @Test
    void signalsComeInOrderWhicheverThreadReportsCompletions() throws Exception {
        for (int round = 0; round < 50; round++) {
            long seed = Effort.seed(20261120) + round;
            try (FrontierTracker tracker = FrontierTracker.create();
                    VirtualDevice device = VirtualDevice.builder().build();
                    TimelineSemaphore timeline = TimelineSemaphore.create(0)) {
                LinkedBlockingQueue<QueueOperation> onHardware = new LinkedBlockingQueue<>();
                SchedulingDomain domain =
                        SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, Frontier.DEFAULT_CAPACITY);
                QueueScheduler scheduler = QueueScheduler.create(domain, device, device, new RecordingStream() {
                    @Override
                    public boolean issue(Issue next) {
                        return onHardware.add(next.operation());
                    }
                });
                AtomicBoolean submitted = new AtomicBoolean();
                List<Thread> completers = new ArrayList<>();
                for (int t = 0; t < 3; t++) {
                    Random random = new Random(seed + t);
                    completers.add(Thread.ofPlatform().start(() -> complete(scheduler, onHardware, submitted, random)));
                }
                for (int i = 1; i <= OPERATIONS; i++) {
                    try (Fence signal = Fence.at(timeline, i)) {
                        scheduler.submit(null, signal, Nothing::new);
                    }
                }
                submitted.set(true);
                for (Thread completer : completers) {
                    completer.join();
                }
                // LINE-1, LINE-2: a signal out of order would have failed the timeline; a lost completion would have
                // left it short.
                assertThat(timeline.failure()).as("seed %d", seed).isNull();
                assertThat(timeline.value()).as("seed %d", seed).isEqualTo(OPERATIONS);
                assertThat(tracker.completed(scheduler.axis())).isEqualTo(OPERATIONS);
                assertThat(scheduler.counters().inFlight()).isZero();
            }
        }
    }

    @Test
    void workOverAtItsIssueIsRetiredByItsSubmissionUnlessEarlierWorkIsUnderWay() {
        try (FrontierTracker tracker = FrontierTracker.create();
                VirtualDevice device = VirtualDevice.builder().build();
                TimelineSemaphore timeline = TimelineSemaphore.create(0)) {
            SchedulingDomain domain =
                    SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, Frontier.DEFAULT_CAPACITY);
            List<QueueOperation> onHardware = new ArrayList<>();
            List<QueueScheduler> owner = new ArrayList<>();
            QueueScheduler scheduler = QueueScheduler.create(domain, device, device, new RecordingStream() {
                @Override
                public boolean issue(Issue next) {
                    onHardware.add(next.operation());
                    if (onHardware.size() != 2) {
                        owner.getFirst().completed(next.operation(), null);
                    }
                    return true;
                }
            });
            owner.add(scheduler);
            submit(scheduler, timeline, 1);
            assertThat(timeline.value()).isEqualTo(1);
            submit(scheduler, timeline, 2);
            submit(scheduler, timeline, 3); // a wrong report of the backend: the order is kept
            assertThat(timeline.value()).isEqualTo(1);
            assertThat(scheduler.counters().inFlight()).isEqualTo(2);
            scheduler.completed(onHardware.get(1), null);
            assertThat(timeline.value()).isEqualTo(3);
            assertThat(scheduler.isIdle()).isTrue();
        }
    }

    @Test
    void aCompletionUpToAnEpochEndsAllEarlierWorkWithTheReportedFailures() {
        try (FrontierTracker tracker = FrontierTracker.create();
                VirtualDevice device = VirtualDevice.builder().build();
                TimelineSemaphore a = TimelineSemaphore.create(0);
                TimelineSemaphore b = TimelineSemaphore.create(0);
                TimelineSemaphore c = TimelineSemaphore.create(0)) {
            SchedulingDomain domain =
                    SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, Frontier.DEFAULT_CAPACITY);
            List<QueueOperation> onHardware = new ArrayList<>();
            QueueScheduler scheduler = QueueScheduler.create(domain, device, device, new RecordingStream() {
                @Override
                public boolean issue(Issue next) {
                    return onHardware.add(next.operation());
                }
            });
            submit(scheduler, a, 1);
            submit(scheduler, b, 1);
            submit(scheduler, c, 1);
            IreeException trap = IreeException.of(StatusCode.ABORTED, "kernel trapped");
            scheduler.completed(onHardware.get(1), trap);
            assertThat(b.failure()).as("the predecessor is not complete").isNull();
            scheduler.completedUpTo(2);
            assertThat(a.value()).isEqualTo(1);
            assertThat(b.failure()).isSameAs(trap);
            assertThat(c.value()).isZero();
            assertThat(tracker.completed(scheduler.axis())).isEqualTo(2);
            scheduler.completedUpTo(3);
            assertThat(c.value()).isEqualTo(1);
            assertThat(scheduler.isIdle()).isTrue();
        }
    }

    private static void submit(QueueScheduler scheduler, TimelineSemaphore timeline, long value) {
        try (Fence signal = Fence.at(timeline, value)) {
            scheduler.submit(null, signal, Nothing::new);
        }
    }

    @Test
    void cancellingFailsTheSignalsOfWaitingAndSubmittedWorkButNotOfEndedWork() {
        IreeException cause = IreeException.of(StatusCode.CANCELLED, "no longer wanted");
        try (FrontierTracker tracker = FrontierTracker.create();
                VirtualDevice device = VirtualDevice.builder().build();
                TimelineSemaphore never = TimelineSemaphore.create(0);
                TimelineSemaphore a = TimelineSemaphore.create(0);
                TimelineSemaphore b = TimelineSemaphore.create(0);
                TimelineSemaphore c = TimelineSemaphore.create(0);
                Fence unreached = Fence.at(never, 1);
                Fence over = Fence.at(a, 1);
                Fence running = Fence.at(b, 1);
                Fence waiting = Fence.at(c, 1)) {
            SchedulingDomain domain =
                    SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, Frontier.DEFAULT_CAPACITY);
            QueueScheduler scheduler = QueueScheduler.create(domain, device, device, new RecordingStream());
            Nothing first = new Nothing();
            Nothing second = new Nothing();
            Nothing third = new Nothing();
            scheduler.submit(null, over, () -> first);
            scheduler.submit(null, running, () -> second);
            scheduler.submit(unreached, waiting, () -> third);
            scheduler.completed(first, null);
            for (Nothing each : List.of(first, second, third)) {
                scheduler.cancel(each, cause);
            }
            assertThat(over.isReached()).isTrue();
            assertThat(waiting.failure()).containsSame(cause);
            assertThat(running.failure()).as("until completed by the hardware").isEmpty();
            scheduler.completed(second, null);
            assertThat(running.failure()).containsSame(cause);
            never.signal(1);
            assertThat(scheduler.counters().pending()).isZero();
            assertThat(scheduler.counters().failed()).isEqualTo(2);
            assertThat(scheduler.counters().retired()).isEqualTo(2);
        }
    }

    /** Takes a few operations at a time and reports the operations in another order. */
    private static void complete(
            QueueScheduler scheduler,
            LinkedBlockingQueue<QueueOperation> onHardware,
            AtomicBoolean submitted,
            Random random) {
        List<QueueOperation> taken = new ArrayList<>();
        try {
            while (!submitted.get() || !onHardware.isEmpty()) {
                QueueOperation next = onHardware.poll(1, TimeUnit.MILLISECONDS);
                if (next == null) {
                    continue; // the submitter, or another completing thread, was descheduled for as long
                }
                taken.add(next);
                if (random.nextInt(4) == 0) {
                    taken.reversed().forEach(operation -> scheduler.completed(operation, null));
                    taken.clear();
                }
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        taken.reversed().forEach(operation -> scheduler.completed(operation, null));
    }
}
