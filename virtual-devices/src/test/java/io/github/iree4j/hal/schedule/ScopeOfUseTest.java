package io.github.iree4j.hal.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.SemaphoreProbe;
import io.github.iree4j.async.SemaphoreScope;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.pool.NativeTimepoint;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** SCOPE-2: work of a queue for itself leaves no trace, and another queue that joins later finds everything. */
class ScopeOfUseTest {
    private static final int ROUNDS = 200;

    private final FrontierTracker tracker = FrontierTracker.create();
    private final SchedulingDomain domain =
            SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, Frontier.MAXIMUM_CAPACITY);
    private final VirtualDevice device = VirtualDevice.builder().build();
    private final RecordingStream hardware = new RecordingStream();
    private final FifoScheduler home = stream(device, device, hardware);
    private final TimelineSemaphore timeline = TimelineSemaphore.create(0);
    private final List<AutoCloseable> toClose = new ArrayList<>(List.of(tracker, device, timeline));

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable each : toClose.reversed()) {
            each.close();
        }
    }

    private FifoScheduler stream(Device of, Object group, RecordingStream backend) {
        return (FifoScheduler) QueueScheduler.create(domain, of, group, backend);
    }

    /** Submits an operation that waits for a value, 0 for no value, and signals the next. */
    private static void submit(QueueScheduler queue, TimelineSemaphore of, long wait, long signal) {
        try (Fence before = wait == 0 ? null : Fence.at(of, wait);
                Fence after = Fence.at(of, signal)) {
            queue.submit(before, after, Nothing::new);
        }
    }

    private void chain(int from, int to) {
        for (long value = from; value <= to; value++) {
            submit(home, timeline, value - 1, value);
        }
    }

    private long epochAt(long value) {
        return Objects.requireNonNull(timeline.frontierAt(value)).producerEpoch();
    }

    private void assertNothingIsKept() {
        assertThat(SemaphoreProbe.historySize(timeline)).as("records").isZero();
        assertThat(SemaphoreProbe.isAwaited(timeline)).as("registrations").isFalse();
        assertThat(home.timepoints.size()).as("marks").isZero();
        assertThat(home.streamCounters().points()).as("points").isZero();
        assertThat(home.streamCounters().waits()).as("native waits").isZero();
        assertThat(timeline.usedScope()).isEqualTo(SemaphoreScope.QUEUE_LOCAL);
    }

    @Test
    void aChainOfAThousandOnASingleQueueKeepsNothing() {
        chain(1, 1000);
        assertNothingIsKept();
        assertThat(home.counters().elidedFifo()).isEqualTo(999);
        home.completedUpTo(600);
        assertThat(timeline.value()).isEqualTo(600);
        assertThat(epochAt(600)).isEqualTo(600);
        assertNothingIsKept();
        home.completedUpTo(1000);
        assertThat(timeline.value()).isEqualTo(1000);
        assertNothingIsKept();
    }

    @Test
    void theHostMayWaitWithoutWideningAnything() {
        chain(1, 3);
        List<Long> reached = new ArrayList<>();
        timeline.whenReached(2, (value, failure) -> reached.add(value));
        home.completedUpTo(3);
        assertThat(reached).containsExactly(2L);
        assertNothingIsKept();
    }

    @Test
    void anotherQueueWaitsForTheVerySignallingOperation() {
        chain(1, 9);
        home.completedUpTo(2);
        RecordingStream others = new RecordingStream();
        FifoScheduler other = stream(device, device, others);
        submit(other, timeline, 4, 20);
        assertThat(others.entries).containsExactly("wait for 4", "nothing");
        assertThat(timeline.usedScope()).isEqualTo(SemaphoreScope.DEVICE_LOCAL);
        for (long value = 2; value <= 9; value++) {
            assertThat(epochAt(value)).as("at %d", value).isEqualTo(value);
        }
        assertThat(other.frontier().epochOf(home.axis())).isEqualTo(4);
        for (long epoch = 3; epoch <= 9; epoch++) {
            NativeTimepoint mark = Objects.requireNonNull(home.timepoints.atOrAbove(epoch));
            assertThat(mark.epoch()).as("mark for reuse of memory").isEqualTo(epoch);
        }
        chain(10, 10);
        assertThat(epochAt(10)).isEqualTo(10);
        assertThat(home.timepoints.size()).isEqualTo(8);
    }

    @Test
    void aPromiseJustBeingKeptIsFoundAndSoAreThePromisesBehindIt() {
        RecordingStream others = new RecordingStream();
        FifoScheduler other = stream(device, device, others);
        List<Long> epochs = new ArrayList<>();
        TimelineSemaphore unrelated = TimelineSemaphore.create(0);
        toClose.add(unrelated);
        submit(home, timeline, 0, 1);
        try (Fence signal = Fence.at(timeline, 2)) {
            home.submit(null, signal, () -> new Nothing() {
                @Override
                protected void release() { // before it signals
                    submit(other, timeline, 2, 20);
                    for (long value = 1; value <= 5; value++) {
                        epochs.add(epochAt(value));
                    }
                }
            });
        }
        submit(home, timeline, 0, 3);
        submit(home, unrelated, 0, 6);
        submit(home, timeline, 0, 4);
        submit(home, timeline, 0, 5);
        home.completedUpTo(5);
        assertThat(epochs).containsExactly(1L, 2L, 3L, 5L, 6L);
        assertThat(timeline.frontierAt(6)).as("of the other queue").isEqualTo(timeline.frontierAt(20));
        assertThat(others.entries).hasSize(1);
    }

    @Test
    void aQueueComingAfterTheEndOfEverythingFindsNothingToWaitFor() {
        chain(1, 9);
        home.completedUpTo(9);
        RecordingStream others = new RecordingStream();
        FifoScheduler other = stream(device, device, others);
        submit(other, timeline, 4, 20);
        assertThat(others.entries).containsExactly("nothing");
        assertThat(other.frontier().epochOf(home.axis())).isZero();
        assertThat(other.counters().reached()).isEqualTo(1);
    }

    @Test
    void devicesSignallingEachOtherAreAGroup() {
        Object group = new Object();
        VirtualDevice peer = VirtualDevice.builder().build();
        toClose.add(peer);
        FifoScheduler here = stream(device, group, new RecordingStream());
        FifoScheduler there = stream(peer, group, new RecordingStream());
        submit(here, timeline, 0, 1);
        submit(there, timeline, 1, 2);
        assertThat(timeline.usedScope()).isEqualTo(SemaphoreScope.DEVICE_GROUP);
        submit(home, timeline, 2, 3);
        assertThat(timeline.usedScope()).isEqualTo(SemaphoreScope.DEVICE_GROUP);
        VirtualDevice far = VirtualDevice.builder().build();
        toClose.add(far);
        submit(stream(far, far, new RecordingStream()), timeline, 3, 4);
        assertThat(timeline.usedScope()).isEqualTo(SemaphoreScope.PROCESS_LOCAL);
    }

    @Test
    void aSeparateUnorderedQueueKeepsNothingEither() {
        List<QueueOperation> issued = new ArrayList<>();
        QueueScheduler workers = QueueScheduler.create(domain, device, device, (UnorderedBackend) issued::add);
        for (long value = 1; value <= 100; value++) {
            submit(workers, timeline, value - 1, value);
            workers.completed(issued.getLast(), null);
        }
        assertThat(timeline.value()).isEqualTo(100);
        assertThat(SemaphoreProbe.historySize(timeline)).isZero();
        assertThat(epochAt(100)).isEqualTo(100);
    }

    @Test
    void aFailureReachesWorkElidedOnASingleQueue() {
        chain(1, 3);
        TimelineSemaphore after = TimelineSemaphore.create(0);
        toClose.add(after);
        try (Fence wait = Fence.at(timeline, 2);
                Fence signal = Fence.at(after, 1)) {
            home.submit(wait, signal, Nothing::new);
        }
        timeline.fail(IreeException.of(StatusCode.ABORTED, "on purpose"));
        home.completedUpTo(4);
        assertThat(after.failure()).isNotNull().hasMessageContaining("on purpose");
    }

    @Test
    void aQueueJoiningDuringThePromisesOfTheHomeFindsEveryPromise() throws Exception {
        int values = 40; // fewer than the marks kept
        for (int round = 0; round < ROUNDS; round++) {
            TimelineSemaphore shared = TimelineSemaphore.create(0);
            FifoScheduler first = stream(device, device, new RecordingStream());
            FifoScheduler other = stream(device, device, new RecordingStream());
            submit(first, shared, 0, 1);
            CyclicBarrier start = new CyclicBarrier(2);
            int after = round % 7;
            Thread comes = Thread.ofPlatform().start(() -> {
                try {
                    start.await();
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
                while (shared.frontierAt(after) == null) {
                    Thread.onSpinWait();
                }
                submit(other, shared, 1, values + 1);
            });
            start.await();
            for (long value = 2; value <= values; value++) {
                submit(first, shared, value - 1, value);
                if (value == 10) {
                    first.completedUpTo(5);
                }
            }
            comes.join();
            for (long value = 6; value <= values; value++) {
                assertThat(Objects.requireNonNull(shared.frontierAt(value)).producerEpoch())
                        .as("round %d, at %d", round, value)
                        .isEqualTo(value);
                assertThat(Objects.requireNonNull(first.timepoints.atOrAbove(value))
                                .epoch())
                        .as("round %d, mark at %d", round, value)
                        .isEqualTo(value);
            }
            first.completedUpTo(values);
            other.completedUpTo(1);
            assertThat(shared.value()).isEqualTo(values + 1);
            shared.close();
            first.close();
            other.close();
        }
    }
}
