package io.github.iree4j.hal.virtual;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.SemaphoreOptions;
import io.github.iree4j.async.SemaphoreScope;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.QueueCounters;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Decisions of the scheduler about waits, read from the counters. */
class WaitResolutionTest {
    private static final IreeException LOST = IreeException.of(StatusCode.DATA_LOSS, "lost on purpose");

    private final VirtualClock clock = VirtualClock.stepped();
    private final FrontierTracker tracker = FrontierTracker.create();
    private final SchedulingDomain domain =
            SchedulingDomain.create(AxisAllocator.create(7, 0), tracker, Frontier.DEFAULT_CAPACITY);
    private final Object group = new Object();
    private final List<AutoCloseable> toClose = new ArrayList<>();

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable each : toClose.reversed()) {
            each.close();
        }
        tracker.close();
    }

    private VirtualDevice device(VirtualDevice.Builder builder) {
        VirtualDevice device =
                builder.clock(clock).schedulingDomain(domain).directGroup(group).build();
        toClose.add(device);
        return device;
    }

    private VirtualDevice streams(int count) {
        return device(VirtualDevice.builder().fifoQueues(count));
    }

    private TimelineSemaphore semaphore() {
        return semaphore(SemaphoreOptions.DEFAULTS);
    }

    private TimelineSemaphore semaphore(SemaphoreOptions options) {
        TimelineSemaphore semaphore = TimelineSemaphore.create(options);
        toClose.add(semaphore);
        return semaphore;
    }

    private Fence at(TimelineSemaphore semaphore, long value) {
        Fence fence = Fence.at(semaphore, value);
        toClose.add(fence);
        return fence;
    }

    private Fence all(Fence... fences) {
        Fence joined = Fence.joinNullable(List.of(fences));
        toClose.add(joined);
        return joined;
    }

    private void submit(DeviceQueue queue, @Nullable Fence wait, @Nullable Fence signal) {
        queue.barrier(wait, signal, 0);
    }

    private Frontier frontier(TimelineSemaphore semaphore, long value) {
        Frontier frontier = semaphore.frontierAt(value);
        assertThat(frontier).as("frontier of value %d", value).isNotNull();
        return frontier;
    }

    @Test
    void aChainOnAStreamElidesEveryWait() {
        DeviceQueue queue = streams(1).queue(0);
        TimelineSemaphore timeline = semaphore();
        submit(queue, null, at(timeline, 1));
        for (int i = 1; i < 1000; i++) {
            submit(queue, at(timeline, i), at(timeline, i + 1));
        }
        assertThat(timeline.value()).as("nothing has run").isZero();
        clock.runUntilIdle();
        assertThat(timeline.value()).isEqualTo(1000);
        QueueCounters counters = queue.counters();
        assertThat(counters.elidedFifo()).isEqualTo(999);
        assertThat(counters.waits()).isEqualTo(999);
        assertThat(counters.retired()).isEqualTo(1000);
        assertThat(counters.inFlight()).isZero();
        assertThat(frontier(timeline, 1000).size()).isEqualTo(1);
        assertThat(clock.now()).as("one tick each").isEqualTo(1000);
    }

    @Test
    void aForkJoinOf64BranchesWaitsOncePerOtherStream() {
        VirtualDevice device = streams(8);
        TimelineSemaphore start = semaphore();
        submit(device.queue(0), null, at(start, 1));
        List<Fence> branches = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            Fence done = at(semaphore(), 1);
            submit(device.queue(i % 8), at(start, 1), done);
            branches.add(done);
        }
        for (int i = 1; i < 8; i++) {
            QueueCounters branch = device.queue(i).counters();
            assertThat(branch.deviceWaits()).as("queue %d", i).isEqualTo(1);
            assertThat(branch.elidedFrontier()).as("queue %d", i).isEqualTo(7);
        }
        Fence end = at(semaphore(), 1);
        submit(device.queue(0), all(branches.toArray(Fence[]::new)), end);
        QueueCounters join = device.queue(0).counters();
        assertThat(join.deviceWaits()).isEqualTo(7);
        assertThat(join.covered()).isEqualTo(49);
        assertThat(join.elidedFifo()).isEqualTo(8 + 8);
        assertThat(join.deferred()).isZero();
        clock.runUntilIdle();
        assertThat(end.isReached()).isTrue();
        assertThat(clock.now()).as("start, 8 branches on each stream, end").isEqualTo(10);
    }

    @Test
    void aDiamondIsWaitedForOnceAtItsEnd() {
        VirtualDevice device = streams(3);
        Fence a = at(semaphore(), 1);
        Fence b = at(semaphore(), 1);
        Fence c = at(semaphore(), 1);
        submit(device.queue(0), null, a);
        submit(device.queue(1), a, b);
        submit(device.queue(2), all(a, b), c); // b knows a
        QueueCounters counters = device.queue(2).counters();
        assertThat(counters.deviceWaits()).isEqualTo(1);
        assertThat(counters.covered()).isEqualTo(1);
        Fence d = at(semaphore(), 1);
        submit(device.queue(2), all(a, b), d); // c's queue knows both
        assertThat(device.queue(2).counters().elidedFrontier()).isEqualTo(2);
        submit(device.queue(0), c, at(semaphore(), 1));
        clock.runUntilIdle();
        assertThat(d.isReached()).isTrue();
        assertThat(device.queue(0).counters().deviceWaits()).isEqualTo(1);
    }

    @Test
    void knowledgeIsTransitiveAcrossDevices() {
        VirtualDevice one = streams(1);
        VirtualDevice two = streams(1);
        VirtualDevice three = streams(1);
        TimelineSemaphore first = semaphore();
        TimelineSemaphore second = semaphore();
        TimelineSemaphore third = semaphore();
        submit(one.queue(0), null, at(first, 1));
        submit(two.queue(0), at(first, 1), at(second, 1));
        submit(three.queue(0), at(second, 1), at(third, 1));
        assertThat(frontier(third, 1))
                .as("before anything has run")
                .satisfies(f -> assertThat(f.reaches(one.queue(0).axis(), 1)).isEqualTo(Known.YES))
                .satisfies(f -> assertThat(f.reaches(two.queue(0).axis(), 1)).isEqualTo(Known.YES));
        submit(three.queue(0), at(first, 1), null);
        assertThat(three.queue(0).counters().elidedFrontier()).isEqualTo(1);
        clock.runUntilIdle();
        assertThat(third.value()).isEqualTo(1);
    }

    @Test
    void unconnectedDevicesWaitOnTheHost() {
        VirtualDevice one = streams(1);
        VirtualDevice other = VirtualDevice.builder()
                .clock(clock)
                .schedulingDomain(domain)
                .fifoQueues(1)
                .build();
        toClose.add(other);
        Fence done = at(semaphore(), 1);
        submit(one.queue(0), null, done);
        Fence after = at(semaphore(), 1);
        submit(other.queue(0), done, after);
        assertThat(other.queue(0).counters().deferred()).isEqualTo(1);
        assertThat(other.queue(0).counters().pending()).isEqualTo(1);
        clock.runUntilIdle();
        assertThat(after.isReached()).isTrue();
        assertThat(other.queue(0).counters().pending()).isZero();
    }

    @Test
    void aWaitBeforeItsSignalOnAStreamIsIssuedOnThePromise() {
        DeviceQueue queue = streams(1).queue(0);
        TimelineSemaphore timeline = semaphore();
        submit(queue, at(timeline, 1), at(timeline, 2));
        assertThat(queue.counters().pending()).isEqualTo(1);
        submit(queue, null, at(timeline, 1));
        assertThat(queue.counters().pending())
                .as("issued before anything has run")
                .isZero();
        assertThat(queue.counters().inFlight()).isEqualTo(2);
        clock.runUntilIdle();
        assertThat(timeline.value()).isEqualTo(2);
        assertThat(queue.counters().deferred()).isEqualTo(1);
        assertThat(queue.counters().waits()).isEqualTo(1);
    }

    @Test
    void aLateWaiterInheritsTheNeedsOfTheValueAndNoMore() {
        VirtualDevice device = streams(4);
        TimelineSemaphore timeline = semaphore();
        for (int i = 1; i <= 3; i++) {
            submit(device.queue(i - 1), i == 1 ? null : at(timeline, i - 1), at(timeline, i));
        }
        TimelineSemaphore late = semaphore();
        submit(device.queue(3), at(timeline, 2), at(late, 1));
        Frontier known = frontier(late, 1);
        assertThat(known.reaches(device.queue(0).axis(), 1)).isEqualTo(Known.YES);
        assertThat(known.reaches(device.queue(1).axis(), 1)).isEqualTo(Known.YES);
        assertThat(known.epochOf(device.queue(2).axis()))
                .as("value 3 was not waited for")
                .isZero();
        clock.runUntilIdle();
        assertThat(late.value()).isEqualTo(1);
    }

    @Test
    void aValueFromOutsideIsWaitedForAndTheTaintEnds() {
        VirtualDevice device = streams(2);
        TimelineSemaphore timeline = semaphore();
        VirtualEvent foreign = VirtualEvent.create(clock);
        timeline.promiseExternal(1, foreign);
        TimelineSemaphore mine = semaphore();
        submit(device.queue(0), at(timeline, 1), at(mine, 1));
        assertThat(device.queue(0).counters().deviceWaits()).as("for the event").isEqualTo(1);
        assertThat(frontier(mine, 1).isTainted()).isTrue();
        submit(device.queue(0), at(timeline, 1), at(mine, 2));
        assertThat(device.queue(0).counters().deviceWaits())
                .as("a tainted value proves nothing, so there is another wait")
                .isEqualTo(2);
        clock.runUntilIdle();
        assertThat(mine.value()).as("the event has not fired").isZero();
        foreign.fire();
        clock.runUntilIdle();
        assertThat(mine.value())
                .as("the stream continued, but the host does not know")
                .isZero();
        timeline.signalExternal(1);
        assertThat(mine.value()).isEqualTo(2);

        submit(device.queue(0), at(mine, 2), at(mine, 3));
        assertThat(frontier(mine, 3).isTainted())
                .as("nothing foreign is left in flight")
                .isFalse();
        submit(device.queue(1), at(mine, 3), at(timeline, 2));
        submit(device.queue(0), at(timeline, 2), at(mine, 4));
        assertThat(frontier(mine, 4).isTainted()).isFalse();
        submit(device.queue(0), at(mine, 3), at(mine, 5));
        clock.runUntilIdle();
        assertThat(mine.value()).isEqualTo(5);
        assertThat(timeline.isTainted(1))
                .as("the signal moved the watermark past it")
                .isFalse();
    }

    @Test
    void failureReachesOperationsWithAnElidedWait() {
        AtomicInteger ran = new AtomicInteger();
        VirtualDevice device = device(VirtualDevice.builder().fifoQueues(2).script(new VirtualScript() {
            @Override
            public @Nullable IreeException failure(int queue, long number, QueueOperation operation) {
                return queue == 0 && number == 1 ? LOST : null;
            }

            @Override
            public long completionDelay(int queue, long number, QueueOperation operation) {
                return queue == 0 ? 50 : 0; // the failure is reported to the host last
            }
        }));
        TimelineSemaphore failing = semaphore();
        TimelineSemaphore unrelated = semaphore();
        TimelineSemaphore dependent = semaphore();
        TimelineSemaphore other = semaphore();
        device.queue(0).barrier(null, at(failing, 1), 0);
        device.queue(0).barrier(null, at(unrelated, 1), 0);
        device.queue(0).hostCall(at(failing, 1), at(dependent, 1), ran::incrementAndGet, 0); // elided: same stream
        submit(device.queue(1), at(unrelated, 1), at(unrelated, 2)); // a device wait for the second operation
        device.queue(1).hostCall(at(failing, 1), at(other, 1), ran::incrementAndGet, 0); // elided: known
        assertThat(device.queue(0).counters().elidedFifo()).isEqualTo(1);
        assertThat(device.queue(1).counters().elidedFrontier()).isEqualTo(1);
        clock.runUntilIdle();
        assertThat(ran).as("the hardware did not know, the host did").hasValue(0);
        assertThat(dependent.failure()).isSameAs(LOST);
        assertThat(other.failure()).isSameAs(LOST);
        assertThat(unrelated.value()).as("unrelated work continues").isEqualTo(2);
        assertThat(device.queue(0).counters().failed()).isEqualTo(2);
        assertThat(device.queue(1).counters().failed()).isEqualTo(1);
    }

    @Test
    void aLostDeviceFailsItsAxesAndTheirDependentsAndNothingElse() {
        VirtualDevice lost = streams(1);
        VirtualDevice alive = streams(1);
        TimelineSemaphore a = semaphore();
        TimelineSemaphore b = semaphore();
        TimelineSemaphore c = semaphore();
        submit(lost.queue(0), null, at(a, 1));
        submit(lost.queue(0), at(semaphore(), 1), at(c, 1));
        submit(alive.queue(0), at(a, 1), at(b, 1));
        lost.lose(LOST);
        clock.runUntilIdle();
        assertThat(a.failure()).cause().isSameAs(LOST);
        assertThat(b.failure()).cause().isSameAs(LOST);
        assertThat(c.failure()).as("pending").cause().isSameAs(LOST);
        assertThat(tracker.failure(lost.queue(0).axis())).cause().isSameAs(LOST);
        TimelineSemaphore refused = semaphore();
        submit(lost.queue(0), null, at(refused, 1));
        assertThat(refused.failure()).cause().isSameAs(LOST);
        TimelineSemaphore fine = semaphore();
        submit(alive.queue(0), null, at(fine, 1));
        clock.runUntilIdle();
        assertThat(fine.value()).isEqualTo(1);
        lost.close();
        TimelineSemaphore late = semaphore();
        submit(lost.queue(0), null, at(late, 1));
        assertThat(late.failure()).as("of a closed device, too").cause().isSameAs(LOST);
        assertThatThrownBy(() -> lost.createCommandBuffer(0, 0, 1, 0)).hasCause(LOST);
    }

    @Test
    void aQueueLocalTimelineNeedsNoEventAndIsRefusedElsewhere() {
        VirtualDevice device = streams(2);
        TimelineSemaphore local = semaphore(SemaphoreOptions.DEFAULTS.withScope(SemaphoreScope.QUEUE_LOCAL));
        submit(device.queue(0), null, at(local, 1));
        submit(device.queue(0), at(local, 1), at(local, 2));
        assertThat(device.queue(0).counters().elidedFifo()).isEqualTo(1);
        TimelineSemaphore done = semaphore();
        submit(device.queue(1), at(local, 2), at(done, 1));
        IreeException refused = done.failure();
        assertThat(refused).isNotNull();
        assertThat(refused.code()).isEqualTo(StatusCode.FAILED_PRECONDITION);
        assertThat(refused.getMessage()).contains("DEVICE_LOCAL");
        assertThatThrownBy(() -> submit(device.queue(1), at(local, 2), null)).hasMessage(refused.getMessage());
        clock.runUntilIdle();
        assertThat(local.value()).isEqualTo(2);
    }

    @Test
    void unorderedQueuesWaitForEachValueDespiteItsPromise() {
        VirtualDevice device = device(VirtualDevice.builder().fifoQueues(2).unorderedQueue(4));
        Fence a = at(semaphore(), 1);
        Fence b = at(semaphore(), 1);
        Fence done = at(semaphore(), 1);
        submit(device.queue(0), null, a);
        submit(device.queue(1), a, b);
        submit(device.queue(2), all(a, b), done);
        QueueCounters counters = device.queue(2).counters();
        assertThat(counters.covered()).isZero();
        assertThat(counters.deferred()).isEqualTo(2);
        clock.runUntilIdle();
        assertThat(done.isReached()).isTrue();
        submit(device.queue(2), all(a, b), at(semaphore(), 1));
        assertThat(device.queue(2).counters().reached()).isEqualTo(2);
    }

    @Test
    void independentWorkOnAnUnorderedQueueIsNotDelayed() {
        VirtualDevice device = device(VirtualDevice.builder().unorderedQueue(4).script(new VirtualScript() {
            @Override
            public long duration(int queue, long number, QueueOperation operation) {
                return number == 1 ? 1000 : 1;
            }
        }));
        TimelineSemaphore slow = semaphore();
        TimelineSemaphore quick = semaphore();
        submit(device.queue(0), null, at(slow, 1));
        for (int i = 1; i <= 100; i++) {
            submit(device.queue(0), i == 1 ? null : at(quick, i - 1), at(quick, i));
        }
        clock.runUntil(100);
        assertThat(quick.value()).isEqualTo(100);
        assertThat(slow.value()).isZero();
        assertThat(frontier(quick, 100).size())
                .as("nothing is known of the neighbour")
                .isEqualTo(1);
        assertThat(device.queue(0).counters().inFlight()).isEqualTo(1);
        clock.runUntilIdle();
        assertThat(slow.value()).isEqualTo(1);
    }

    @Test
    void anOperationWithAFailedWaitIsOverWithoutHavingRun() {
        DeviceQueue queue = streams(1).queue(0);
        TimelineSemaphore never = semaphore();
        TimelineSemaphore done = semaphore();
        submit(queue, at(never, 1), at(done, 1));
        never.fail(LOST);
        assertThat(done.failure()).isSameAs(LOST);
        assertThat(queue.counters().pending()).isZero();
        assertThat(queue.counters().failed()).isEqualTo(1);
        assertThat(queue.counters().retired()).isZero();
    }

    @Test
    void accumulatedKnowledgeIsForgottenOnceItHasCompleted() {
        VirtualDevice device = streams(20);
        TimelineSemaphore hub = semaphore();
        for (int i = 1; i < 20; i++) {
            Fence done = at(semaphore(), 1);
            submit(device.queue(i), null, done);
            submit(device.queue(0), done, at(hub, i));
        }
        assertThat(frontier(hub, 19).isTainted()).as("19 axes do not fit").isTrue();
        clock.runUntilIdle();
        submit(device.queue(0), null, at(hub, 20));
        assertThat(frontier(hub, 20).isTainted()).isFalse();
        assertThat(frontier(hub, 20).size()).isEqualTo(1);
        clock.runUntilIdle();
    }
}
