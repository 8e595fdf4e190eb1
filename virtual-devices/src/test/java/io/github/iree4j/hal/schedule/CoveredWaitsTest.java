package io.github.iree4j.hal.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.SemaphoreOptions;
import io.github.iree4j.async.SemaphoreScope;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.QueueCounters;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.status.Known;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Waits implied by another wait of the operation are free: a before b, and c waits for both. */
class CoveredWaitsTest {
    private final FrontierTracker tracker = FrontierTracker.create();
    private final SchedulingDomain domain =
            SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, Frontier.DEFAULT_CAPACITY);
    private final VirtualDevice device = VirtualDevice.builder().build();
    private final List<AutoCloseable> toClose = new ArrayList<>();

    private final RecordingStream streamA = new RecordingStream();
    private final RecordingStream streamC = new RecordingStream() {
        @Override
        public boolean canWaitFor(FifoBackend producer, long epoch) {
            return producer != streamA;
        }
    };
    private final QueueScheduler queueA = queue(streamA);
    private final QueueScheduler queueB = queue(new RecordingStream());
    private final QueueScheduler queueC = queue(streamC);
    private final Nothing a = new Nothing();
    private final Nothing b = new Nothing();
    private final Nothing c = new Nothing();
    private final Fence aDone = fence();
    private final Fence bDone = fence();
    private final Fence cDone = fence();

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable each : toClose.reversed()) {
            each.close();
        }
        device.close();
        tracker.close();
    }

    private QueueScheduler queue(FifoBackend backend) {
        return QueueScheduler.create(domain, device, device, backend);
    }

    private Fence fence() {
        TimelineSemaphore semaphore = TimelineSemaphore.create(0);
        toClose.add(semaphore);
        Fence fence = Fence.at(semaphore, 1);
        toClose.add(fence);
        return fence;
    }

    private Fence both() {
        Fence joined = Fence.join(aDone, bDone);
        toClose.add(joined);
        return joined;
    }

    @Test
    void aWaitOnTheDeviceSparesAWaitOnTheHost() {
        queueA.submit(null, aDone, () -> a);
        queueB.submit(aDone, bDone, () -> b);
        queueC.submit(both(), cDone, () -> c);
        assertThat(streamC.entries).containsExactly("wait for 1", "nothing");
        QueueCounters counters = queueC.counters();
        assertThat(counters.deferred()).isZero();
        assertThat(counters.covered()).isEqualTo(1);
        assertThat(counters.deviceWaits()).isEqualTo(1);
        assertThat(c.frontier().reaches(queueA.axis(), 1)).isEqualTo(Known.YES);
    }

    @Test
    void completedWorkImpliesItsPastBeforeTheHostHearsOfIt() {
        queueA.submit(null, aDone, () -> a);
        queueB.submit(aDone, bDone, () -> b);
        queueB.completed(b, null);
        assertThat(bDone.isReached()).as("not before the second wait").isFalse();
        queueC.submit(both(), cDone, () -> c);
        assertThat(streamC.entries).containsExactly("nothing");
        QueueCounters counters = queueC.counters();
        assertThat(counters.elidedFrontier()).isEqualTo(1);
        assertThat(counters.covered()).isEqualTo(1);
        queueC.completed(c, null);
        assertThat(cDone.isReached()).as("not before its waits").isFalse();
        queueA.completed(a, null);
        assertThat(cDone.isReached()).isTrue();
    }

    @Test
    void ofTwoWaitsForTheSameOperationTheWaitOnTheDeviceStays() {
        TimelineSemaphore narrow =
                TimelineSemaphore.create(SemaphoreOptions.DEFAULTS.withScope(SemaphoreScope.PROCESS_LOCAL));
        toClose.add(narrow);
        RecordingStream stream = new RecordingStream() {
            private int asked;

            @Override
            public boolean canWaitFor(FifoBackend producer, long epoch) {
                return asked++ > 0; // not for the first of the two
            }
        };
        QueueScheduler consumer = queue(stream);
        try (Fence first = Fence.at(narrow, 1);
                Fence signals = Fence.join(first, aDone)) {
            queueA.submit(null, signals, () -> a);
            consumer.submit(signals, cDone, () -> c);
        }
        assertThat(stream.entries).containsExactly("wait for 1", "nothing");
        assertThat(consumer.counters().deferred()).as("needlessly").isZero();
    }

    @Test
    void aWaitHoldingTheOperationBackSparesNothing() {
        Fence unknown = fence();
        queueA.submit(null, aDone, () -> a);
        queueB.submit(aDone, bDone, () -> b);
        try (Fence all = Fence.join(aDone, unknown)) {
            queueC.submit(all, cDone, () -> c);
        }
        assertThat(queueC.counters().deferred()).isEqualTo(2);
        assertThat(queueC.counters().covered()).isZero();
        unknown.signal();
        assertThat(streamC.entries).as("a is not reached yet").isEmpty();
        queueA.completed(a, null);
        assertThat(streamC.entries).containsExactly("nothing");
    }
}
