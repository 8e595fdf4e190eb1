package io.github.iree4j.hal.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.SemaphoreOptions;
import io.github.iree4j.async.SemaphoreScope;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The knowledge of an operation of an unordered queue about earlier operations, and the race of cancellation with
 * holding back.
 */
class SchedulerRulesTest {
    private static final IreeException CANCELLED = IreeException.of(StatusCode.CANCELLED, "cancelled on purpose");

    private final FrontierTracker tracker = FrontierTracker.create();
    private final SchedulingDomain domain =
            SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, Frontier.DEFAULT_CAPACITY);
    private final VirtualDevice device = VirtualDevice.builder().build();
    private final List<QueueOperation> issued = new ArrayList<>();
    private final List<AutoCloseable> toClose = new ArrayList<>(List.of(tracker, device));
    private final QueueScheduler workers =
            QueueScheduler.create(domain, device, device, (UnorderedBackend) issued::add);

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable each : toClose.reversed()) {
            each.close();
        }
    }

    private TimelineSemaphore semaphore() {
        TimelineSemaphore semaphore = TimelineSemaphore.create(0);
        toClose.add(semaphore);
        return semaphore;
    }

    private Fence at(TimelineSemaphore semaphore, long value) {
        Fence fence = Fence.at(semaphore, value);
        toClose.add(fence);
        return fence;
    }

    private static Frontier frontier(TimelineSemaphore semaphore) {
        return Objects.requireNonNull(semaphore.frontierAt(1));
    }

    private void complete() {
        List<QueueOperation> all = List.copyOf(issued);
        issued.clear();
        all.forEach(operation -> workers.completed(operation, null));
    }

    @Test
    void anOperationKnowsAllKnowledgeOfItsWaits() {
        long first = domain.axes().allocate(CausalDomain.QUEUE);
        long second = domain.axes().allocate(CausalDomain.QUEUE);
        tracker.register(first);
        tracker.register(second);
        TimelineSemaphore one = semaphore();
        TimelineSemaphore two = semaphore();
        one.signal(1, Frontier.producedBy(first, 5)); // known to come before, not known to have completed
        two.signal(1, Frontier.producedBy(second, 7));
        Fence waits = Fence.of(List.of(new Fence.Entry(one, 1), new Fence.Entry(two, 1)));
        toClose.add(waits);
        TimelineSemaphore done = semaphore();
        workers.submit(waits, at(done, 1), Nothing::new);
        complete();
        assertThat(frontier(done).producerAxis()).isEqualTo(workers.axis());
        assertThat(frontier(done).epochOf(first)).isEqualTo(5);
        assertThat(frontier(done).epochOf(second)).isEqualTo(7);
        assertThat(frontier(done).isTainted()).isFalse();
    }

    @Test
    void anOperationKnowsNothingOfItsNeighbours() {
        long first = domain.axes().allocate(CausalDomain.QUEUE);
        tracker.register(first);
        TimelineSemaphore one = semaphore();
        one.signal(1, Frontier.producedBy(first, 5));
        TimelineSemaphore informed = semaphore();
        TimelineSemaphore neighbour = semaphore();
        workers.submit(at(one, 1), at(informed, 1), Nothing::new);
        workers.submit(null, at(neighbour, 1), Nothing::new);
        complete();
        assertThat(frontier(informed).epochOf(first)).isEqualTo(5);
        assertThat(frontier(neighbour).size()).isEqualTo(1);
    }

    /** Otherwise the next call, made by whoever waits for the signal, may find no memory. */
    @Test
    void aCallWithItsLastSignalMadeUsesNoMemoryAnyMore() {
        MemoryHolder call = new MemoryHolder("call", new OperationsUnderWay());
        TimelineSemaphore done = semaphore();
        List<Boolean> seen = new ArrayList<>();
        done.whenReached(1, (_, _) -> seen.add(call.isFinished()));
        MemoryHolder before = call.enter();
        workers.submit(null, at(done, 1), Nothing::new);
        call.leave(before);
        call.end();
        assertThat(call.isFinished()).isFalse();
        complete();
        assertThat(seen).containsExactly(true);
    }

    @Test
    void taintOfAWaitReachesTheSignals() {
        TimelineSemaphore outside = semaphore();
        outside.signalExternal(1);
        TimelineSemaphore done = semaphore();
        workers.submit(at(outside, 1), at(done, 1), Nothing::new);
        complete();
        assertThat(frontier(done).isTainted()).isTrue();
        assertThat(frontier(done).hasProducer()).isTrue();
    }

    @Test
    void anOperationFailsWithTheFirstOfItsFailingWaitsInAnyCase() {
        for (int failing = 0; failing < 3; failing++) {
            List<TimelineSemaphore> timelines = List.of(semaphore(), semaphore(), semaphore());
            Fence waits = Fence.of(
                    timelines.stream().map(each -> new Fence.Entry(each, 1)).toList());
            toClose.add(waits);
            TimelineSemaphore done = semaphore();
            workers.submit(waits, at(done, 1), Nothing::new);
            timelines.get(failing).fail(CANCELLED);
            assertThat(done.failure()).as("wait %d", failing).isNotNull().hasMessageContaining("cancelled on purpose");
            assertThat(issued).isEmpty();
        }
    }

    @Test
    void aSignalBeyondItsScopeIsRefused() {
        QueueScheduler others = QueueScheduler.create(domain, device, device, (UnorderedBackend) issued::add);
        TimelineSemaphore narrow =
                TimelineSemaphore.create(SemaphoreOptions.DEFAULTS.withScope(SemaphoreScope.QUEUE_LOCAL));
        toClose.add(narrow);
        workers.submit(null, at(narrow, 1), Nothing::new);
        complete();
        assertThat(narrow.value()).isEqualTo(1);
        others.submit(null, at(narrow, 2), Nothing::new);
        assertThat(issued).isEmpty();
        assertThat(narrow.failure()).isNotNull().hasMessageContaining("use by queue");
    }

    @Test
    void aWaiterShortOfMemoryHearsThatNothingIsUnderWayAnyMore() {
        int[] heard = new int[1];
        workers.whenIdle(() -> heard[0]++);
        workers.submit(null, null, Nothing::new);
        complete();
        assertThat(heard[0]).as("no operation waits for memory").isZero();
        DomainQueues.of(domain).shortOfMemory();
        workers.submit(null, null, Nothing::new);
        workers.submit(null, null, Nothing::new);
        workers.completed(issued.removeFirst(), null);
        assertThat(heard[0]).as("one is in flight").isZero();
        complete();
        assertThat(heard[0]).isEqualTo(1);
    }

    @Test
    void anOperationCancelledWhileBeingHeldBackDoesNotWait() {
        TimelineSemaphore never = semaphore();
        TimelineSemaphore done = semaphore();
        List<String> calls = new ArrayList<>();
        Nothing operation = new Nothing() {
            @Override
            protected void retain() { // called for a wait, before the wait is visible
                calls.add("retain");
                workers.cancel(this, CANCELLED);
            }

            @Override
            protected void release() {
                calls.add("release");
            }
        };
        workers.submit(at(never, 1), at(done, 1), () -> operation);
        assertThat(done.failure()).isSameAs(CANCELLED);
        assertThat(workers.counters().pending()).isZero();
        assertThat(calls).containsExactly("retain", "release");
        never.signal(1);
        assertThat(issued).isEmpty();
    }

    @Test
    void aWaitingOperationIsCancelledAtOnceAndARunningOperationAtItsEnd() {
        TimelineSemaphore never = semaphore();
        TimelineSemaphore waits = semaphore();
        TimelineSemaphore runs = semaphore();
        Nothing held = new Nothing();
        Nothing running = new Nothing();
        workers.submit(at(never, 1), at(waits, 1), () -> held);
        workers.submit(null, at(runs, 1), () -> running);
        workers.cancel(held, CANCELLED);
        workers.cancel(running, CANCELLED);
        assertThat(waits.failure()).isSameAs(CANCELLED);
        assertThat(runs.failure()).isNull();
        complete();
        assertThat(runs.failure()).isSameAs(CANCELLED);
        assertThat(runs.value()).isZero();
    }

    @Test
    void theFirstFailureOfAnOperationIsItsFailure() {
        TimelineSemaphore done = semaphore();
        workers.submit(null, at(done, 1), Nothing::new);
        QueueOperation operation = issued.removeFirst();
        workers.cancel(operation, CANCELLED);
        workers.completed(operation, IreeException.of(StatusCode.DATA_LOSS, "later"));
        assertThat(done.failure()).isSameAs(CANCELLED);
    }

    @Test
    void dependentsOfAFailureHearOfItsRoot() {
        TimelineSemaphore root = semaphore();
        TimelineSemaphore first = semaphore();
        TimelineSemaphore second = semaphore();
        workers.submit(at(root, 1), at(first, 1), Nothing::new);
        workers.submit(at(first, 1), at(second, 1), Nothing::new);
        IreeException cause = IreeException.of(StatusCode.DATA_LOSS, "the root");
        root.fail(cause);
        first.fail(IreeException.of(StatusCode.ABORTED, "too late"));
        assertThat(second.failure()).isSameAs(cause);
        assertThat(issued).isEmpty();
    }

    @Test
    void anOperationIsListedAsPendingOrInFlightFromItsSubmissionToItsEnd() {
        TimelineSemaphore wait = semaphore();
        TimelineSemaphore[] done = {semaphore(), semaphore(), semaphore()};
        for (TimelineSemaphore each : done) {
            workers.submit(at(wait, 1), at(each, 1), Nothing::new);
        }
        assertThat(workers.inFlight(10)).isEmpty();
        wait.signal(1);
        assertThat(workers.pending(10)).isEmpty();
        assertThat(workers.inFlight(10)).hasSize(3).allSatisfy(each -> {
            assertThat(each.waits()).isEmpty();
            assertThat(each.since().isNegative()).isFalse();
        });
        assertThat(workers.inFlight(2)).hasSize(2);
        assertThat(workers.inFlight(10))
                .extracting(each -> each.signals().getFirst().semaphore())
                .containsExactly(done[0].id(), done[1].id(), done[2].id());
        workers.completed(issued.remove(1), null);
        assertThat(workers.inFlight(10))
                .extracting(each -> each.signals().getFirst().semaphore())
                .containsExactly(done[0].id(), done[2].id());
        workers.completed(issued.removeFirst(), IreeException.of(StatusCode.DATA_LOSS, "failed"));
        complete();
        assertThat(workers.inFlight(10)).isEmpty();
    }

    @Test
    void aResumedOperationIsListedAsInFlightBeforeItIsIssued() {
        List<QueueScheduler> self = new ArrayList<>();
        List<Integer> listed = new ArrayList<>();
        QueueScheduler others = QueueScheduler.create(domain, device, device, new UnorderedBackend() {
            @Override
            public boolean execute(QueueOperation operation) {
                listed.add(self.getFirst().inFlight(10).size());
                return false;
            }

            @Override
            public void issue(QueueOperation operation) {
                self.getFirst().completed(operation, null);
            }
        });
        self.add(others);
        TimelineSemaphore wait = semaphore();
        TimelineSemaphore done = semaphore();
        others.submit(at(wait, 1), at(done, 1), Nothing::new);
        wait.signal(1);
        assertThat(listed).containsExactly(1);
        assertThat(done.value()).isEqualTo(1);
        assertThat(others.inFlight(10)).isEmpty();
    }

    @Test
    void removalFromTheMiddleLeavesTheOthersWaiting() {
        TimelineSemaphore[] waits = {semaphore(), semaphore(), semaphore()};
        TimelineSemaphore[] done = {semaphore(), semaphore(), semaphore()};
        for (int i = 0; i < 3; i++) {
            workers.submit(at(waits[i], 1), at(done[i], 1), Nothing::new);
        }
        waits[1].signal(1);
        assertThat(workers.counters().pending()).isEqualTo(2);
        assertThat(workers.pending(10)).hasSize(2);
        assertThat(workers.pending(1)).hasSize(1);
        workers.lost(CANCELLED);
        assertThat(done[0].failure()).isSameAs(CANCELLED);
        assertThat(done[2].failure()).isSameAs(CANCELLED);
        assertThat(workers.counters().pending()).isZero();
    }

    @Test
    void aWaiterForMoreOfAClosedQueueIsCalled() {
        List<String> calls = new ArrayList<>();
        tracker.whenCompleted(
                Frontier.of(workers.axis(), 1), failure -> calls.add(failure == null ? "over" : failure.code() + ""));
        workers.close();
        assertThat(calls).containsExactly("CANCELLED");
    }

    @Test
    void aNewWaiterOnAClosingQueueFails() {
        TimelineSemaphore done = semaphore();
        workers.submit(at(semaphore(), 1), at(done, 1), () -> {
            workers.close();
            return new Nothing();
        });
        assertThat(done.failure()).isNotNull().extracting(IreeException::code).isEqualTo(StatusCode.ABORTED);
        assertThat(workers.counters().pending()).isZero();
    }

    @Test
    @Timeout(150)
    void nothingIsKeptOfAnOperationWithAFailedWaitAlsoByItsOtherWaits() {
        TimelineSemaphore never = semaphore();
        TimelineSemaphore fails = semaphore();
        WeakReference<QueueOperation> gone = holdBackOnBoth(never, fails);
        fails.fail(CANCELLED);
        while (gone.get() != null) {
            System.gc();
        }
        assertThat(never.value()).isZero();
    }

    private WeakReference<QueueOperation> holdBackOnBoth(TimelineSemaphore first, TimelineSemaphore second) {
        Fence both = Fence.of(List.of(new Fence.Entry(first, 1), new Fence.Entry(second, 1)));
        toClose.add(both);
        Nothing operation = new Nothing();
        workers.submit(both, at(semaphore(), 1), () -> operation);
        return new WeakReference<>(operation);
    }

    @Test
    void submissionsOfAnEndedCallAreWithdrawnAndNothingElse() {
        MemoryHolder over = new MemoryHolder("over", new OperationsUnderWay());
        MemoryHolder other = new MemoryHolder("other", new OperationsUnderWay());
        TimelineSemaphore ofOver = waitingFor(over);
        TimelineSemaphore ofOther = waitingFor(other);
        TimelineSemaphore ofNone = semaphore();
        workers.submit(at(semaphore(), 1), at(ofNone, 1), Nothing::new);
        domain.withdraw(over, CANCELLED);
        assertThat(ofOver.failure()).isSameAs(CANCELLED);
        assertThat(ofOther.failure()).isNull();
        assertThat(ofNone.failure()).isNull();
        assertThat(workers.counters().pending()).isEqualTo(2);
    }

    private TimelineSemaphore waitingFor(MemoryHolder call) {
        TimelineSemaphore done = semaphore();
        MemoryHolder before = call.enter();
        workers.submit(at(semaphore(), 1), at(done, 1), Nothing::new);
        call.leave(before);
        return done;
    }

    @Test
    void anOperationInPartsEndsOnce() {
        OperationParts parts = workers.beginParts(null);
        parts.end(true);
        parts.end(true);
        assertThat(workers.counters().failed()).isEqualTo(1);
        assertThat(workers.counters().submitted()).isEqualTo(1);
    }

    @Test
    void aQueueRunningAPartOfAnOperationIsNotIdle() {
        OperationParts parts = workers.beginParts(null);
        assertThat(workers.isIdle()).as("nothing runs before the first part").isTrue();
        for (int i = 0; i < 2; i++) {
            TimelineSemaphore done = semaphore();
            parts.submit(null, at(done, 1), Nothing::new);
            assertThat(workers.isIdle()).as("part %d runs", i).isFalse();
            complete();
            assertThat(done.value()).isEqualTo(1);
            assertThat(workers.isIdle()).as("the next part is not there yet").isTrue();
        }
        parts.end(false);
    }

    @Test
    void workOfTheHostKnowsItsPredecessors() {
        long first = domain.axes().allocate(CausalDomain.QUEUE);
        tracker.register(first);
        TimelineSemaphore one = semaphore();
        one.signal(1, Frontier.producedBy(first, 5));
        Frontier after = domain.beginHostWork(at(one, 1)).end();
        assertThat(after.epochOf(first)).isEqualTo(5);
        assertThat(tracker.completed(after.producerAxis())).isEqualTo(after.producerEpoch());
    }
}
