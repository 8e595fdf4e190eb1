package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.async.PromiseSource;
import io.github.iree4j.async.SemaphoreScope;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.frontier.FrontierAccumulator;
import io.github.iree4j.frontier.MutableFrontier;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.FrontierCounters;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.StreamCounters;
import io.github.iree4j.hal.pool.NativeTimepoint;
import io.github.iree4j.hal.storage.StorageRelease;
import io.github.iree4j.hal.storage.StorageRequest;
import io.github.iree4j.status.IreeException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Schedules a queue whose hardware executes its work in submission order.
 *
 * <p>An operation is issued as soon as each wait is reached, implied by the order, or executable by the hardware. The
 * operation then has its epoch, inherits all knowledge of the queue, and promises its signals. Operations retire, and
 * thereby signal, in order.
 */
final class FifoScheduler extends QueueScheduler implements PromiseSource {
    /*
     * Three steps run in the order of epochs, each on one thread at a time. Deciding: under `lock`. The lock covers
     * everything below and is held only for the decision. Giving to the backend: by the busy thread of `line`, without
     * the lock. Retiring: by the thread that has set `retirer`, outside the lock, since releasing the resources of an
     * operation may run user code. A thread finding a busy step leaves its work to the thread in this step.
     *
     * Promises are made under the lock: a promised operation has its place on the stream, behind everything decided
     * before. An operation of another stream waiting for the promised operation is given to the other stream once the
     * promised operation is on its own stream. Callbacks are deferred meanwhile, so no foreign code runs under the
     * lock.
     *
     * FIFO-1: operations retire, and so signal, in the order of epochs (`inFlight` is emptied from the head, by a
     * single retirer).
     * FIFO-2: no completion is lost: the retirer clears its flag under the lock, having found nothing to retire.
     *
     * SCOPE-2: a promise not recorded in its timeline is found here. From before the promise until the signal, an
     * operation is in exactly one of `inFlight`, `retiring` and `ending`, and both promising and searching happen under
     * the lock.
     */
    private static final Logger LOG = LoggerFactory.getLogger(FifoScheduler.class);

    final FifoBackend backend;
    final IssueLine line;
    private final Object lock = new Object();
    private final FrontierAccumulator accumulator;
    private final WaitPlan plan;
    private final ArrayDeque<QueueOperation> inFlight = new ArrayDeque<>(); // decided and incomplete, by epoch
    private final ArrayDeque<QueueOperation> retiring = new ArrayDeque<>(); // hardware done, signals due, by epoch
    private @Nullable QueueOperation ending; // the operation being finished by the retirer
    final TimepointRing timepoints = new TimepointRing(); // has its own lock: read by other queues
    private volatile int underWay; // operations in flight; written under the lock
    private final ArrayDeque<Long> calls = new ArrayDeque<>(); // epochs in flight that may wait for other queues
    private volatile long firstCall = Long.MAX_VALUE; // the head of calls; written under the lock, read by other queues
    private boolean retirer;
    private volatile long signalledUpTo; // the last epoch whose signals are made or have failed; written by the retirer
    private @Nullable Wanting wantingMemory; // held back for memory just now; cleared under the same lock
    private long issued; // operations with an epoch, without parts
    private long retired; // operations that have left `retiring`, without parts
    private long completions; // number of completion reports of the backend
    private long overUpTo; // the backend has completed everything up to this epoch

    /** An operation that the pools cannot serve without new memory. */
    private record Wanting(Deferral deferral, StorageRequest request, Frontier after) {}

    FifoScheduler(SchedulingDomain domain, Device device, Object directGroup, FifoBackend backend) {
        super(domain, device, directGroup, backend);
        this.backend = backend;
        this.line = new IssueLine(this, backend);
        this.plan = new WaitPlan(this, backend.waitRules());
        this.accumulator = new FrontierAccumulator(axis, domain.frontierCapacity());
    }

    @Override
    void start(QueueOperation operation) {
        if (!operation.reported) {
            operation.reported = true;
            siblings.submitted(this, operation);
        }
        boolean resumed = !operation.isBeingSubmitted();
        boolean held = HeldCallbacks.begin();
        try {
            IreeException failure;
            Wanting wanting;
            synchronized (lock) {
                failure = decideOrHold(operation);
                wanting = wantingMemory;
                wantingMemory = null;
            }
            if (wanting != null) { // without the lock: mapping new memory takes time
                failure = getMemory(wanting, resumed);
            }
            if (failure != null) {
                refuse(operation, failure);
            }
            if (resumed) {
                line.drainSoon(); // batched with all that becomes ready, and not on the signalling thread
            } else {
                line.drain();
            }
        } finally {
            HeldCallbacks.end(held);
        }
    }

    /** Returns the reason why memory can never be reserved; null when the operation proceeds or waits. */
    private @Nullable IreeException getMemory(Wanting wanting, boolean resumed) {
        if (!resumed) {
            return awaitStorage(wanting.deferral, wanting.request, wanting.after, this::timepoint, false);
        }
        HeldCallbacks.run(() -> backend.wakeExecutor().execute(() -> {
            IreeException failure =
                    awaitStorage(wanting.deferral, wanting.request, wanting.after, this::timepoint, false);
            if (failure != null) {
                refuse(wanting.deferral.operation, failure);
            }
        }));
        return null;
    }

    /** Under the lock. Returns the reason why the operation can never be issued, or null. */
    private @Nullable IreeException decideOrHold(QueueOperation operation) {
        Fence wait = operation.wait;
        Optional<IreeException> failed = wait == null ? Optional.empty() : wait.failure();
        if (failed.isPresent()) {
            return failed.get();
        }
        if (isClosed()) { // FIFO-4
            return aborted(operation);
        }
        try {
            int held = plan.decide(wait, accumulator);
            if (!operation.counted) {
                operation.counted = true;
                plan.count(counts);
            }
            if (wait != null) {
                siblings.decided(operation, plan);
            }
            if (wait != null && held > 0) {
                return holdBack(operation, wait, held);
            }
            if (operation instanceof StorageRequest request) {
                Frontier after = runsAfter();
                if (!request.tryReservePresent(after, this::timepoint)) {
                    Deferral deferral = hold(operation, 1);
                    if (deferral == null) {
                        return operation.failure();
                    }
                    wantingMemory = new Wanting(deferral, request, after);
                    siblings.heldForMemory(operation, request);
                    return null;
                }
            }
            IreeException failure = OperationEnds.retain(operation);
            if (failure == null) {
                if (!plan.keepForeign()) { // ended meanwhile: the value is reached, or no longer promised
                    return decideOrHold(operation);
                }
                issue(operation);
            }
            return failure;
        } catch (RuntimeException | Error e) {
            return OperationEnds.failure(operation, e);
        } finally {
            plan.forget();
        }
    }

    /** Under the lock: returns the frontier preceding an operation issued now. */
    private Frontier runsAfter() {
        MutableFrontier after = new MutableFrontier(Frontier.MAXIMUM_CAPACITY);
        after.merge(accumulator.snapshot(tracker), tracker);
        if (accumulator.issued() > 0) {
            after.insertOrRaise(axis, accumulator.issued(), tracker);
        }
        plan.addTo(after, tracker);
        return after.snapshot();
    }

    /** Returns the earliest epoch of another stream that implies the given epoch and that this stream can wait for. */
    private @Nullable NativeTimepoint timepoint(long producer, long epoch) {
        if (producer == axis || !(siblings.queue(producer) instanceof FifoScheduler other)) {
            return null;
        }
        NativeTimepoint mark = other.timepoints.atOrAbove(epoch);
        return mark == null || !canWaitFor(other, mark.epoch()) ? null : mark;
    }

    /**
     * Returns whether the hardware may wait for an epoch of another queue. A call in flight there must not precede the
     * epoch.
     *
     * <p>FIFO-3: {@code firstCall} is written before anything behind the call is promised, and is therefore visible to
     * every reader of such a promise.
     */
    boolean canWaitFor(FifoScheduler other, long epoch) {
        return epoch < other.firstCall && backend.canWaitFor(other.backend, epoch);
    }

    /** Under the lock: gives an operation its place on the stream, and promises its signals. */
    private void issue(QueueOperation operation) {
        List<Premise> premises = plan.premises(operation.wait);
        List<Issue.Wait> predecessors = plan.predecessors(operation.wait);
        List<Issue.Wait> waits = List.of();
        List<FifoScheduler> producers = List.of();
        List<NativeTimepoint> marks = operation instanceof StorageRequest request ? request.marks() : List.of();
        if (plan.hasDeviceWaits() || !marks.isEmpty()) {
            waits = new ArrayList<>();
            producers = new ArrayList<>();
            plan.addWaits(waits, producers);
        }
        plan.join(accumulator, tracker);
        for (NativeTimepoint mark : marks) {
            FifoScheduler other = (FifoScheduler) mark.queue();
            waits.add(new Issue.Wait(other.backend, mark.epoch(), null));
            producers.add(other);
            accumulator.join(mark.frontier(), tracker);
        }
        if (operation instanceof StorageRequest request && request.premise().size() > 0) {
            premises = premises == null ? new ArrayList<>(1) : premises;
            premises.add(new Premise.Memory(request.premise()));
        }
        if (PremiseCheck.ASSERTED && !marks.isEmpty()) {
            premises = premises == null ? new ArrayList<>(marks.size()) : premises;
            for (NativeTimepoint mark : marks) {
                premises.add(new Premise.Imported("a mark", mark.frontier()));
            }
        }
        operation.premises = premises;
        long epoch = accumulator.issued() + 1;
        operation.setFrontierRelease(accumulator.issue(epoch, tracker));
        inFlight.add(operation);
        underWay = inFlight.size();
        if (operation.mayWait()) {
            calls.add(epoch);
            firstCall = calls.element();
        }
        if (operation.whole == null) {
            issued++;
            mostInFlight.raise(inFlight());
        } else {
            operation.whole.issued();
        }
        try {
            operation.placed();
        } catch (RuntimeException | Error e) { // the place is kept, because later operations rely on the place
            operation.fail(OperationEnds.failure(operation, e));
        }
        for (int i = 0; i < waits.size(); i++) {
            if (producers.get(i) != this) {
                producers.get(i).line.want(waits.get(i).epoch());
            }
        }
        if (operation.completion != null) {
            issuedOnes.add(operation, System.nanoTime()); // SCHED-6
        }
        try {
            siblings.issued(operation);
            if (operation.failure() == null) {
                promise(operation);
            }
        } catch (RuntimeException | Error e) { // SCHED-1: as above; refusing the operation now would end it twice
            operation.fail(OperationEnds.failure(operation, e));
        }
        line.add(new Issue(operation, epoch, waits, predecessors, producers));
    }

    /** Under the lock: promises the signals of a placed operation, and lets others use the memory allocated or released by the operation. */
    private void promise(QueueOperation operation) {
        Fence signal = promised(operation);
        boolean seen = signal != null && isSeenByOthers(signal);
        if (operation instanceof StorageRelease || seen) {
            seen(operation.frontier());
        }
        if (operation instanceof StorageRequest request) {
            request.issued(operation.frontier());
        } else if (operation instanceof StorageRelease release) {
            release.issued(operation.frontier());
        }
        if (signal != null) {
            signal.promise(operation.frontier());
            if (!seen && isSeenByOthers(signal)) { // just shared: the new user may have missed the promise
                seen(operation.frontier());
            }
        }
    }

    /** Returns the signals made by an operation at retirement: a deferred host call signals later. */
    private static @Nullable Fence promised(QueueOperation operation) {
        return operation.completion == null ? operation.signal : null;
    }

    /** Returns whether other queues use at least one timeline. */
    private static boolean isSeenByOthers(Fence signal) {
        for (int i = 0; i < signal.size(); i++) {
            if (signal.semaphore(i).usedScope() != SemaphoreScope.QUEUE_LOCAL) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void seen(Frontier promise) {
        timepoints.add(this, axis, promise.producerEpoch(), promise);
    }

    @Override
    public void recall(TimelineSemaphore semaphore, ObjLongConsumer<Frontier> promises) {
        synchronized (lock) {
            if (ending != null) {
                recall(ending, semaphore, promises);
            }
            retiring.forEach(each -> recall(each, semaphore, promises));
            inFlight.forEach(each -> recall(each, semaphore, promises));
        }
    }

    @SuppressWarnings("ReferenceEquality") // timelines compare by identity
    private static void recall(
            QueueOperation operation, TimelineSemaphore semaphore, ObjLongConsumer<Frontier> promises) {
        Fence signal = promised(operation);
        for (int i = 0; signal != null && i < signal.size(); i++) {
            if (signal.semaphore(i) == semaphore) {
                promises.accept(operation.frontier(), signal.value(i));
            }
        }
    }

    /** Under the lock. */
    private @Nullable IreeException holdBack(QueueOperation operation, Fence wait, int held) {
        Deferral deferral = hold(operation, held);
        if (deferral == null) {
            return operation.failure();
        }
        plan.defer(wait, deferral);
        return null;
    }

    @Override
    public void issueMore() {
        line.issueMore();
    }

    @Override
    public StreamCounters streamCounters() {
        synchronized (lock) {
            return line.counters(completions);
        }
    }

    @Override
    boolean check(QueueOperation operation) {
        return PremiseCheck.ofStream(this, operation);
    }

    /**
     * Under the lock: returns the epoch of the first incomplete operation that signals a value or a higher value. A
     * timeline of a single queue only remembers the last promise, and the failure of this promise is no failure of the
     * lower value.
     *
     * @param otherwise the epoch of the known promise
     */
    long firstSignaller(TimelineSemaphore semaphore, long value, long otherwise) {
        long[] first = {otherwise};
        recall(semaphore, (frontier, promised) -> {
            if (promised >= value) {
                first[0] = Math.min(first[0], frontier.producerEpoch());
            }
        });
        return first[0];
    }

    /** Returns whether the hardware has completed an epoch, reported or not. */
    boolean hasPassed(long epoch) {
        return backend.hasPassed(epoch);
    }

    @Override
    public long signalledUpTo() {
        return signalledUpTo;
    }

    @Override
    public void completedUpTo(long epoch) {
        boolean held = HeldCallbacks.begin();
        try {
            synchronized (lock) {
                overUpTo = Math.max(overUpTo, epoch);
                completions++;
            }
            retire();
        } finally {
            HeldCallbacks.end(held);
        }
    }

    @Override
    public void completed(QueueOperation operation, @Nullable IreeException failure) {
        boolean held = HeldCallbacks.begin();
        try {
            synchronized (lock) {
                if (failure != null) {
                    operation.fail(failure);
                }
                operation.completed = true;
                completions++;
            }
            retire();
        } finally {
            HeldCallbacks.end(held);
        }
    }

    @Override
    void resolved(QueueOperation operation, @Nullable IreeException waitFailure) {
        boolean held = HeldCallbacks.begin();
        try {
            synchronized (lock) {
                if (waitFailure != null) {
                    operation.blame(waitFailure);
                    operation.premises = null; // decided
                }
            }
            retire();
        } finally {
            HeldCallbacks.end(held);
        }
    }

    /** Finishes, in order, all operations completed by the hardware whose waits are resolved, unless another thread is retiring. */
    void retire() {
        synchronized (lock) {
            if (retirer) {
                return;
            }
            retirer = true;
        }
        for (QueueOperation operation; (operation = nextToRetire()) != null; ) {
            try {
                if (!isLeftToHost(operation)) {
                    ends.finish(operation, operation.failure()); // FIFO-1
                }
            } catch (RuntimeException | Error e) { // thrown while resources of the operation were released
                LOG.error("{} of {} could not be ended", operation.name(), this, e);
            }
            quiesceUpTo(operation.epoch());
            signalledUpTo = operation.epoch();
        }
        lookForIdleness();
    }

    @Override
    void end(QueueOperation operation) {
        ends.finish(operation, operation.failure());
    }

    @Override
    List<QueueOperation> placed() {
        synchronized (lock) {
            List<QueueOperation> placed = new ArrayList<>(inFlight);
            placed.addAll(retiring);
            if (ending != null) {
                placed.add(ending);
            }
            return placed;
        }
    }

    @Override
    public boolean isIdle() {
        return underWay == 0;
    }

    private @Nullable QueueOperation nextToRetire() {
        synchronized (lock) {
            ending = null;
            long epoch = 0;
            for (QueueOperation head; (head = inFlight.peek()) != null && isComplete(head); ) {
                epoch = head.epoch();
                assertPremises(head);
                siblings.completed(head);
                retiring.add(inFlight.remove());
                if (head.mayWait()) {
                    calls.remove();
                    firstCall = calls.isEmpty() ? Long.MAX_VALUE : calls.element();
                }
            }
            underWay = inFlight.size();
            if (epoch > 0) {
                completeUpTo(epoch);
            }
            if (epoch > 0 && isClosed() && inFlight.isEmpty()) {
                tracker.retire(axis);
            }
            QueueOperation next = retiring.peek();
            if (next == null || next.deferral != null || !resolve(next)) {
                retirer = false; // FIFO-2
                return null;
            }
            retired += next.whole == null ? 1 : 0;
            ending = retiring.remove();
            return ending;
        }
    }

    /** Under the lock: returns whether the hardware has completed the head. */
    private boolean isComplete(QueueOperation head) {
        return head.completed || head.epoch() <= overUpTo;
    }

    @Override
    public Frontier frontier() {
        synchronized (lock) {
            return accumulator.snapshot(tracker);
        }
    }

    @Override
    public FrontierCounters frontierCounters() {
        synchronized (lock) {
            return new FrontierCounters(accumulator.merges(), accumulator.evictions());
        }
    }

    @Override
    void endAxis() {
        boolean held = HeldCallbacks.begin();
        try {
            synchronized (lock) {
                if (inFlight.isEmpty()) {
                    tracker.retire(axis);
                }
            }
        } finally {
            HeldCallbacks.end(held);
        }
    }

    @Override
    public void whenGiven(Runnable action) {
        line.whenEmpty(action);
    }

    @Override
    long inFlight() {
        synchronized (lock) {
            return issued - retired();
        }
    }

    @Override
    long retired() {
        synchronized (lock) {
            return retired - leftToHost.get();
        }
    }
}
