package io.github.iree4j.hal.virtual;

import static org.assertj.core.api.Assertions.assertThat;

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
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each rule of scope, taint and elision by itself, read from the counters of the waiting queue. */
class WaitRulesTest {
    private final VirtualClock clock = VirtualClock.stepped();
    private final FrontierTracker tracker = FrontierTracker.create();
    private final SchedulingDomain domain = SchedulingDomain.create(AxisAllocator.create(7, 0), tracker, 2);
    private final Object group = new Object();
    private final List<AutoCloseable> toClose = new ArrayList<>();

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable each : toClose.reversed()) {
            each.close();
        }
        tracker.close();
    }

    private VirtualDevice streams(int count, @Nullable Object directGroup, VirtualScript script) {
        VirtualDevice.Builder builder = VirtualDevice.builder()
                .clock(clock)
                .schedulingDomain(domain)
                .fifoQueues(count)
                .script(script);
        VirtualDevice device = (directGroup == null ? builder : builder.directGroup(directGroup)).build();
        toClose.add(device);
        return device;
    }

    private VirtualDevice streams(int count) {
        return streams(count, group, new VirtualScript() {});
    }

    private TimelineSemaphore semaphore(SemaphoreScope scope) {
        TimelineSemaphore semaphore = TimelineSemaphore.create(SemaphoreOptions.DEFAULTS.withScope(scope));
        toClose.add(semaphore);
        return semaphore;
    }

    private Fence point() {
        return at(semaphore(SemaphoreScope.PROCESS_LOCAL), 1);
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

    private static void submit(DeviceQueue queue, @Nullable Fence wait, @Nullable Fence signal) {
        queue.barrier(wait, signal, 0);
    }

    /** The decisions since the last call: the count of each kind taken at least once. */
    private static Map<String, Long> decided(DeviceQueue queue, QueueCounters before) {
        QueueCounters now = queue.counters();
        Map<String, Long> decided = new TreeMap<>(Map.of(
                "reached", now.reached() - before.reached(),
                "elidedFifo", now.elidedFifo() - before.elidedFifo(),
                "elidedFrontier", now.elidedFrontier() - before.elidedFrontier(),
                "deviceWaits", now.deviceWaits() - before.deviceWaits(),
                "deferred", now.deferred() - before.deferred(),
                "covered", now.covered() - before.covered()));
        decided.values().removeIf(count -> count == 0);
        return decided;
    }

    private static Map<String, Long> submitAndLook(DeviceQueue queue, Fence wait, @Nullable Fence signal) {
        QueueCounters before = queue.counters();
        submit(queue, wait, signal);
        return decided(queue, before);
    }

    // ---- Scope.

    @ParameterizedTest
    @EnumSource
    void aScopeDecidesThePlaceOfAWaitAndThePlaceItsCost(SemaphoreScope scope) {
        VirtualDevice device = streams(2);
        VirtualDevice neighbour = streams(1);
        VirtualDevice stranger = streams(1, null, new VirtualScript() {});
        Map<DeviceQueue, Map<String, Long>> costs = Map.of(
                device.queue(0), Map.of("elidedFifo", 1L),
                device.queue(1), Map.of("deviceWaits", 1L),
                neighbour.queue(0), Map.of("deviceWaits", 1L),
                stranger.queue(0), Map.of("deferred", 1L));
        Map<DeviceQueue, SemaphoreScope> needs = Map.of(
                device.queue(0), SemaphoreScope.QUEUE_LOCAL,
                device.queue(1), SemaphoreScope.DEVICE_LOCAL,
                neighbour.queue(0), SemaphoreScope.DEVICE_GROUP,
                stranger.queue(0), SemaphoreScope.PROCESS_LOCAL);
        Fence produced = at(semaphore(scope), 1);
        submit(device.queue(0), null, produced);
        needs.forEach((queue, needed) -> {
            Fence done = point();
            long failedBefore = queue.counters().failed();
            Map<String, Long> decided = submitAndLook(queue, produced, done);
            if (scope.includes(needed)) {
                assertThat(decided).as("%s where %s is needed", scope, needed).isEqualTo(costs.get(queue));
            } else {
                assertThat(decided).as("%s where %s is needed", scope, needed).isEmpty();
                assertThat(queue.counters().failed()).isEqualTo(failedBefore + 1);
                assertThat(done.query()).isEqualTo(StatusCode.FAILED_PRECONDITION);
            }
        });
        clock.runUntilIdle();
        assertThat(produced.isReached()).isTrue();
    }

    // ---- Elision.

    @Test
    void reachedValuesCostNothing() {
        VirtualDevice device = streams(2);
        Fence done = point();
        submit(device.queue(0), null, done);
        clock.runUntilIdle();
        assertThat(submitAndLook(device.queue(0), done, null)).isEqualTo(Map.of("reached", 1L));
        assertThat(submitAndLook(device.queue(1), done, null)).isEqualTo(Map.of("reached", 1L));
    }

    @Test
    void valuesOnceAwaitedByTheQueueAreNotAwaitedAgain() {
        VirtualDevice device = streams(2);
        TimelineSemaphore timeline = semaphore(SemaphoreScope.PROCESS_LOCAL);
        for (int i = 1; i <= 3; i++) {
            submit(device.queue(0), null, at(timeline, i));
        }
        assertThat(submitAndLook(device.queue(1), at(timeline, 2), null)).isEqualTo(Map.of("deviceWaits", 1L));
        assertThat(submitAndLook(device.queue(1), at(timeline, 2), null)).isEqualTo(Map.of("elidedFrontier", 1L));
        assertThat(submitAndLook(device.queue(1), at(timeline, 1), null))
                .as("everything before it on its stream")
                .isEqualTo(Map.of("elidedFrontier", 1L));
        assertThat(submitAndLook(device.queue(1), at(timeline, 3), null))
                .as("what ran after it")
                .isEqualTo(Map.of("deviceWaits", 1L));
        clock.runUntilIdle();
    }

    @Test
    void workPassedByTheHardwareIsNotAwaitedDespiteALateSignal() {
        VirtualDevice device = streams(3, group, new VirtualScript() {
            @Override
            public long completionDelay(int queue, long number, QueueOperation operation) {
                return queue == 0 ? 50 : 0;
            }
        });
        Fence slow = point();
        Fence done = point();
        submit(device.queue(0), null, slow);
        submit(device.queue(1), slow, done);
        clock.runUntil(10);
        assertThat(tracker.completed(device.queue(1).axis())).isEqualTo(1);
        assertThat(done.isReached())
                .as("the awaited completion is not reported to the host")
                .isFalse();
        assertThat(submitAndLook(device.queue(2), done, null)).isEqualTo(Map.of("elidedFrontier", 1L));
        clock.runUntilIdle();
        assertThat(done.isReached()).isTrue();
    }

    @Test
    void ofWaitsImplyingEachOtherTheLastRemains() {
        VirtualDevice device = streams(5);
        Fence[] chain = new Fence[4];
        for (int i = 0; i < chain.length; i++) {
            chain[i] = point();
            submit(device.queue(i), i == 0 ? null : chain[i - 1], chain[i]);
        }
        assertThat(submitAndLook(device.queue(4), all(chain[3], chain[2]), null))
                .isEqualTo(Map.of("deviceWaits", 1L, "covered", 1L));
        clock.runUntilIdle();
    }

    @Test
    void unpromisedValuesAreWaitedForOnTheHost() {
        VirtualDevice device = streams(2);
        Fence unpromised = point();
        assertThat(submitAndLook(device.queue(0), unpromised, null)).isEqualTo(Map.of("deferred", 1L));
        unpromised.signal();
        assertThat(device.queue(0).counters().waits()).as("counted once").isEqualTo(1);
        clock.runUntilIdle();
    }

    // ---- Taint.

    @Test
    void knowledgeForgottenByAFullFrontierIsAwaitedAgainUntilItsCompletion() {
        VirtualDevice device = streams(4);
        Fence a = point();
        Fence b = point();
        Fence c = point();
        submit(device.queue(1), null, a);
        submit(device.queue(2), null, point());
        submit(device.queue(2), null, b); // a later epoch than a's
        submit(device.queue(3), null, point());
        submit(device.queue(3), null, point());
        submit(device.queue(3), null, c);
        TimelineSemaphore own = semaphore(SemaphoreScope.PROCESS_LOCAL);
        submit(device.queue(0), all(a, b, c), at(own, 1)); // room for two: the own entry and c, the greatest
        Frontier lossy = own.frontierAt(1);
        assertThat(lossy).isNotNull();
        assertThat(lossy.isTainted()).isTrue();
        assertThat(lossy.reaches(device.queue(3).axis(), 3)).isEqualTo(Known.YES);
        assertThat(lossy.reaches(device.queue(1).axis(), 1)).isEqualTo(Known.UNKNOWN);
        assertThat(submitAndLook(device.queue(0), c, null)).isEqualTo(Map.of("elidedFrontier", 1L));
        assertThat(submitAndLook(device.queue(0), a, null))
                .as("waited for, but evicted from knowledge")
                .isEqualTo(Map.of("deviceWaits", 1L));
        clock.runUntilIdle();
        assertThat(submitAndLook(device.queue(0), all(a, b, c), at(own, 2))).isEqualTo(Map.of("reached", 3L));
        assertThat(own.frontierAt(2))
                .isNotNull()
                .satisfies(f -> assertThat(f.isTainted()).isFalse());
        clock.runUntilIdle();
    }

    @Test
    void aTaintedPromiseImpliesNoOtherWaitAndIsImpliedByNone() {
        VirtualDevice device = streams(2);
        Fence known = point();
        submit(device.queue(0), null, known);
        TimelineSemaphore timeline = semaphore(SemaphoreScope.PROCESS_LOCAL);
        VirtualEvent foreign = VirtualEvent.create(clock);
        timeline.promiseExternal(1, foreign);
        assertThat(submitAndLook(device.queue(1), all(known, at(timeline, 1)), null))
                .isEqualTo(Map.of("deviceWaits", 2L));
        assertThat(submitAndLook(device.queue(1), all(known, at(timeline, 1)), null))
                .as("the device's own axis is known now, the foreign axis never is")
                .isEqualTo(Map.of("elidedFrontier", 1L, "deviceWaits", 1L));
        foreign.fire();
        timeline.signalExternal(1);
        clock.runUntilIdle();
        assertThat(device.queue(1).counters().inFlight()).isZero();
    }

    @Test
    void aForeignPrimitiveUnknownToTheHardwareIsAwaitedOnTheHost() {
        VirtualDevice device = streams(1);
        TimelineSemaphore timeline = semaphore(SemaphoreScope.PROCESS_LOCAL);
        timeline.promiseExternal(1, "of another driver");
        Fence done = point();
        assertThat(submitAndLook(device.queue(0), at(timeline, 1), done)).isEqualTo(Map.of("deferred", 1L));
        timeline.signalExternal(1);
        clock.runUntilIdle();
        assertThat(done.isReached()).isTrue();
    }

    @Test
    void aValueReachedFromOutsideTaintsItsWaitersInFlight() {
        VirtualDevice device = streams(1);
        TimelineSemaphore timeline = semaphore(SemaphoreScope.PROCESS_LOCAL);
        TimelineSemaphore own = semaphore(SemaphoreScope.PROCESS_LOCAL);
        timeline.signalExternal(1);
        assertThat(submitAndLook(device.queue(0), at(timeline, 1), at(own, 1))).isEqualTo(Map.of("reached", 1L));
        assertThat(own.frontierAt(1))
                .isNotNull()
                .satisfies(f -> assertThat(f.isTainted()).isTrue());
        clock.runUntilIdle();
        assertThat(submitAndLook(device.queue(0), at(own, 1), at(own, 2))).isEqualTo(Map.of("reached", 1L));
        assertThat(own.frontierAt(2))
                .isNotNull()
                .satisfies(f -> assertThat(f.isTainted()).isFalse());
        clock.runUntilIdle();
    }
}
