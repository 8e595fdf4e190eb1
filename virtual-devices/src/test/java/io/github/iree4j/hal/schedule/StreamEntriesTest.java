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
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The real entries of a stream, compared with the reports of the counters. */
class StreamEntriesTest {
    private final FrontierTracker tracker = FrontierTracker.create();
    private final SchedulingDomain domain =
            SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, Frontier.MAXIMUM_CAPACITY);
    private final VirtualDevice device = VirtualDevice.builder().build();
    private final List<AutoCloseable> toClose = new ArrayList<>(List.of(tracker, device));

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable each : toClose.reversed()) {
            each.close();
        }
    }

    /** A call of the host, with possible waits for other queues. */
    private static final class Call extends Nothing {
        @Override
        protected boolean mayWait() {
            return true;
        }
    }

    /** Records the given operations. */
    private final class Stream implements FifoBackend {
        final List<String> entries = new ArrayList<>();
        List<Issue.Wait> predecessors = List.of(); // of the last operation
        final QueueScheduler scheduler = QueueScheduler.create(domain, device, device, this);

        void submit(@Nullable Fence wait, @Nullable Fence signal) {
            scheduler.submit(wait, signal, Nothing::new);
        }

        void call(Fence signal) {
            scheduler.submit(null, signal, Call::new);
        }

        @Override
        public boolean issue(Issue next) {
            next.waits().forEach(wait -> entries.add("wait"));
            entries.add("operation");
            predecessors = next.predecessors();
            return true;
        }

        @Override
        public boolean canWaitFor(FifoBackend producer, long epoch) {
            return true;
        }

        @Override
        public boolean canWaitForExternal(Object primitive) {
            return false;
        }
    }

    private Fence point(SemaphoreScope scope) {
        TimelineSemaphore semaphore = TimelineSemaphore.create(SemaphoreOptions.DEFAULTS.withScope(scope));
        Fence fence = Fence.at(semaphore, 1);
        semaphore.close();
        toClose.add(fence);
        return fence;
    }

    @Test
    void aQueueLocalTimelineTakesNoWait() {
        Stream stream = new Stream();
        Fence local = point(SemaphoreScope.QUEUE_LOCAL);
        stream.submit(null, local);
        stream.submit(local, point(SemaphoreScope.QUEUE_LOCAL));
        assertThat(stream.entries).containsExactly("operation", "operation");
        assertThat(stream.scheduler.counters().elidedFifo()).isEqualTo(1);
    }

    /** SCHED-8: whether a stream waits, or need not. */
    @Test
    void predecessorsAreTheProducersOfAllUnreachedWaits() {
        Stream stream = new Stream();
        Stream other = new Stream();
        Fence first = point(SemaphoreScope.DEVICE_LOCAL);
        Fence second = point(SemaphoreScope.DEVICE_LOCAL);
        stream.submit(null, first);
        assertThat(stream.predecessors).isEmpty();
        stream.submit(null, point(SemaphoreScope.DEVICE_LOCAL));
        stream.submit(first, second);
        assertThat(stream.predecessors).containsExactly(new Issue.Wait(stream, 1, null));
        try (Fence both = Fence.join(first, second)) {
            other.submit(both, null);
        }
        assertThat(other.entries).as("the first is covered").containsExactly("wait", "operation");
        assertThat(other.predecessors)
                .containsExactlyInAnyOrder(new Issue.Wait(stream, 1, null), new Issue.Wait(stream, 3, null));
        other.submit(first, null);
        assertThat(other.predecessors).as("without a wait").containsExactly(new Issue.Wait(stream, 1, null));
    }

    /** SCHED-8: a timeline of a single queue remembers only the last promise, which may fail alone. */
    @Test
    void aPredecessorIsTheFirstOperationSignallingTheValueOrAHigherValue() {
        Stream stream = new Stream();
        TimelineSemaphore timeline =
                TimelineSemaphore.create(SemaphoreOptions.DEFAULTS.withScope(SemaphoreScope.QUEUE_LOCAL));
        toClose.add(timeline);
        for (int value : new int[] {2, 4, 6}) {
            Fence signal = Fence.at(timeline, value);
            toClose.add(signal);
            stream.submit(null, signal);
        }
        for (int value = 1; value <= 6; value++) {
            Fence wait = Fence.at(timeline, value);
            toClose.add(wait);
            stream.submit(wait, null);
            assertThat(stream.predecessors)
                    .as("of a wait for %d", value)
                    .containsExactly(new Issue.Wait(stream, (value + 1) / 2, null));
        }
    }

    /** SCHED-8: a backend keeps its knowledge of failures until the signals have failed. */
    @Test
    void signalsAreMadeUpToAnEpochOnceTheyAreMade() {
        Stream stream = new Stream();
        Fence first = point(SemaphoreScope.DEVICE_LOCAL);
        stream.submit(null, first);
        stream.submit(null, null);
        assertThat(stream.scheduler.signalledUpTo()).isZero();
        stream.scheduler.completedUpTo(1);
        assertThat(first.isReached()).isTrue();
        assertThat(stream.scheduler.signalledUpTo()).isEqualTo(1);
    }

    @Test
    void anEpochIsAPointOnceAnotherStreamWaitsForItAndNoSooner() {
        Stream stream = new Stream();
        Stream other = new Stream();
        Fence seen = point(SemaphoreScope.DEVICE_LOCAL);
        stream.submit(null, seen);
        stream.submit(null, point(SemaphoreScope.DEVICE_LOCAL));
        assertThat(stream.scheduler.streamCounters().points()).isZero();
        other.submit(seen, null);
        new Stream().submit(seen, null);
        assertThat(stream.scheduler.streamCounters().points())
                .as("one for both")
                .isEqualTo(1);
        assertThat(other.scheduler.streamCounters().waits()).isEqualTo(1);
    }

    @Test
    void aChainOfAThousandOperationsPutsNoWaitOnItsStream() {
        Stream stream = new Stream();
        Fence before = null;
        for (int i = 0; i < 1000; i++) {
            Fence next = point(SemaphoreScope.PROCESS_LOCAL);
            stream.submit(before, next);
            before = next;
        }
        assertThat(stream.entries).doesNotContain("wait");
        assertThat(stream.scheduler.counters().elidedFifo()).isEqualTo(999);
    }

    @Test
    void aForkJoinOf64StreamsPutsAWaitPerBranch() {
        Stream ends = new Stream();
        Fence start = point(SemaphoreScope.PROCESS_LOCAL);
        ends.submit(null, start);
        List<Fence> done = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            Stream branch = new Stream();
            Fence middle = point(SemaphoreScope.PROCESS_LOCAL);
            Fence end = point(SemaphoreScope.PROCESS_LOCAL);
            branch.submit(start, middle);
            branch.submit(middle, end);
            assertThat(branch.entries).containsExactly("wait", "operation", "operation");
            assertThat(branch.scheduler.counters().deviceWaits()).isEqualTo(1);
            done.add(start);
            done.add(middle);
            done.add(end);
        }
        ends.entries.clear();
        Fence all = Fence.joinNullable(done);
        toClose.add(all);
        ends.submit(all, null);
        assertThat(ends.entries)
                .filteredOn("wait"::equals)
                .as("the least: the ends")
                .hasSize(64);
        QueueCounters counters = ends.scheduler.counters();
        assertThat(counters.deviceWaits()).isEqualTo(64);
        assertThat(counters.covered()).as("the middles").isEqualTo(64);
        assertThat(counters.elidedFifo()).as("the start").isEqualTo(1);
        assertThat(counters.deferred()).isZero();
    }

    /** FIFO-3: neither hardware asked before the call's end nor work behind a second call. */
    @Test
    void noStreamWaitsForTheSuccessorsOfACallInFlight() {
        Stream calling = new Stream();
        Stream other = new Stream();
        Fence before = point(SemaphoreScope.DEVICE_LOCAL);
        Fence called = point(SemaphoreScope.DEVICE_LOCAL);
        Fence calledAgain = point(SemaphoreScope.DEVICE_LOCAL);
        Fence behind = point(SemaphoreScope.DEVICE_LOCAL);
        calling.submit(null, before);
        calling.call(called);
        calling.call(calledAgain);
        calling.submit(null, behind);
        other.submit(before, null);
        other.submit(called, null);
        other.submit(behind, null);
        assertThat(other.entries)
                .as("the wait for the predecessors of the call")
                .containsExactly("wait", "operation");
        calling.scheduler.completedUpTo(2);
        other.submit(behind, null);
        assertThat(other.entries).as("the second call is in flight").containsExactly("wait", "operation", "operation");
        calling.scheduler.completedUpTo(3);
        other.submit(behind, null);
        assertThat(other.entries)
                .as("a wait decided now, and waits held until reached")
                .containsExactly("wait", "operation", "operation", "wait", "operation");
        calling.scheduler.completedUpTo(4);
        assertThat(other.entries)
                .containsExactly("wait", "operation", "operation", "wait", "operation", "operation", "operation");
    }
}
