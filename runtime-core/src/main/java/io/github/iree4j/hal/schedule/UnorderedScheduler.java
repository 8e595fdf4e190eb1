package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.frontier.MutableFrontier;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.FrontierCounters;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.StreamCounters;
import io.github.iree4j.hal.pool.NativeTimepoints;
import io.github.iree4j.hal.storage.StorageRelease;
import io.github.iree4j.hal.storage.StorageRequest;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Schedules a queue that starts each operation when its waits are reached.
 *
 * <p>An operation gets its epoch at completion. Epochs therefore follow the order of completion, and "the axis reached
 * e" means that everything up to e is complete. The frontier of an operation contains its waits and its own entry,
 * never the knowledge of neighbours.
 */
final class UnorderedScheduler extends QueueScheduler {
    private final UnorderedBackend backend;
    private final AtomicLong epochs = new AtomicLong();
    private final AtomicLong finished = new AtomicLong(); // operations with an epoch and released resources
    private final LongAdder partsBegun = new LongAdder();
    private final LongAdder partsOver = new LongAdder(); // begun parts that have ended
    private final AtomicLong inFlight = new AtomicLong(); // operations counted that have not ended
    private final FrontierMeter meter = new FrontierMeter();
    private final Frontier first; // operations without dependencies share the axis

    UnorderedScheduler(SchedulingDomain domain, Device device, Object directGroup, UnorderedBackend backend) {
        super(domain, device, directGroup, backend);
        this.backend = backend;
        this.first = Frontier.producedBy(axis, 1);
    }

    @Override
    void start(QueueOperation operation) {
        Fence wait = operation.wait;
        boolean issueReported = !operation.reported && report(operation);
        if (wait != null) {
            Optional<IreeException> failure = wait.failure();
            if (failure.isPresent()) {
                refuse(operation, failure.get());
                return;
            }
            if (!wait.isReached()) {
                holdBack(operation, wait);
                return;
            }
            if (!operation.counted) {
                counts.reached.add(wait.size());
                operation.counted = true;
            }
            if (!issueReported) {
                observeWaits(operation, wait);
            }
            operation.imported = domain.imports(wait, meter);
        }
        if (operation instanceof StorageRequest request && isHeldForStorage(operation, request)) {
            return;
        }
        if (PremiseCheck.ASSERTED && !check(operation)) {
            refuse(operation, operation.failure());
            return;
        }
        if (operation.whole != null) {
            operation.whole.issued();
            partsBegun.increment();
        }
        if (!issueReported) {
            siblings.issued(operation);
        }
        if (operation.number != 0 && !operation.listedAsIssued && mayHang(operation)) { // on this thread
            issuedOnes.add(operation, System.nanoTime());
        }
        if (operation.retained) { // the resuming thread may run the operation: nothing else shows the run
            countInFlight(operation);
        }
        try {
            if (backend.execute(operation)) {
                return;
            }
        } catch (RuntimeException | Error e) {
            completed(operation, OperationEnds.failure(operation, e));
            return;
        }
        IreeException failure = OperationEnds.retain(operation);
        if (failure != null) {
            refuse(operation, failure);
            return;
        }
        countInFlight(operation);
        if (!operation.listedAsIssued) { // already listed after being held back
            issuedOnes.add(operation, System.nanoTime());
        }
        try {
            backend.issue(operation);
        } catch (RuntimeException | Error e) {
            completed(operation, OperationEnds.failure(operation, e));
        }
    }

    private void countInFlight(QueueOperation operation) {
        if (operation.whole == null && !operation.isInFlight) {
            operation.isInFlight = true;
            mostInFlight.raise(inFlight.incrementAndGet());
        }
    }

    /** Reports a submission; returns whether the report includes the issue. */
    private boolean report(QueueOperation operation) {
        operation.reported = true;
        Fence wait = operation.wait;
        boolean issuedAtOnce =
                !(operation instanceof StorageRequest) && (wait == null || wait.query() == StatusCode.OK);
        if (issuedAtOnce && siblings.submittedAndIssued(this, operation)) {
            return true;
        }
        siblings.submitted(this, operation);
        return false;
    }

    /** Returns whether running an operation may take long; storage is at hand when an allocation is issued. */
    private static boolean mayHang(QueueOperation operation) {
        return !(operation instanceof StorageRequest || operation instanceof StorageRelease);
    }

    /** Reserves memory for an operation; returns whether the operation is held back for memory, or has failed. */
    private boolean isHeldForStorage(QueueOperation operation, StorageRequest request) {
        MutableFrontier imported = operation.imported;
        Frontier after = imported == null ? Frontier.EMPTY : imported.snapshot();
        boolean resumed = !operation.isBeingSubmitted();
        IreeException failure;
        try {
            if (resumed
                    ? request.tryReservePresent(after, NativeTimepoints.NONE)
                    : request.tryReserve(after, NativeTimepoints.NONE)) {
                return false;
            }
            Deferral deferral = hold(operation, 1);
            siblings.heldForMemory(operation, request);
            if (deferral == null) {
                failure = operation.failure();
            } else if (resumed) { // not on the signalling thread: new memory takes time
                HeldCallbacks.run(() -> backend.wakeExecutor().execute(() -> {
                    IreeException never = awaitStorage(deferral, request, after, NativeTimepoints.NONE, false);
                    if (never != null) {
                        refuse(operation, never);
                    }
                }));
                failure = null;
            } else {
                failure = awaitStorage(deferral, request, after, NativeTimepoints.NONE, true);
            }
        } catch (RuntimeException | Error e) {
            failure = OperationEnds.failure(operation, e);
        }
        if (failure != null) {
            refuse(operation, failure);
        }
        return true;
    }

    /** Holds an operation back until all values are reached. No wait is dropped: a promise implying another promise is no fact about the other. */
    private void holdBack(QueueOperation operation, Fence wait) {
        int count = wait.size();
        boolean[] open = new boolean[count];
        int waiting = 0;
        for (int i = 0; i < count; i++) {
            open[i] = wait.semaphore(i).value() < wait.value(i); // PREM-2
            waiting += open[i] ? 1 : 0;
        }
        if (waiting == 0) { // reached meanwhile
            start(operation);
            return;
        }
        if (!operation.counted) {
            counts.reached.add(count - waiting);
            counts.deferred.add(waiting);
            operation.counted = true;
        }
        observeWaits(operation, wait);
        Deferral deferral = hold(operation, waiting);
        if (deferral == null) {
            refuse(operation, operation.failure());
            return;
        }
        for (int i = 0; i < count; i++) {
            if (open[i]) {
                deferral.add(wait.semaphore(i), wait.value(i), false, i);
            }
        }
    }

    private void observeWaits(QueueOperation operation, Fence wait) {
        if (siblings.observer() != null) {
            siblings.decided(operation, new ReachedWaits(wait));
        }
    }

    @Override
    public void completed(QueueOperation operation, @Nullable IreeException failure) {
        if (failure != null) {
            operation.fail(failure);
        }
        if (!isLeftToHost(operation)) {
            end(operation);
        }
        lookForIdleness();
    }

    @Override
    void end(QueueOperation operation) {
        if (operation.isInFlight) {
            inFlight.decrementAndGet();
        }
        siblings.completed(operation);
        long epoch = epochs.incrementAndGet();
        if (operation.whole != null) {
            partsOver.increment();
        }
        MutableFrontier imported = operation.imported;
        operation.setFrontierRelease(
                imported == null ? first.producedAt(epoch) : imported.produce(axis, epoch, tracker));
        completeUpTo(epoch);
        try {
            ends.finish(operation, operation.failure());
        } finally {
            long done = finished.incrementAndGet();
            if (done == epochs.get()) { // everything that has an epoch
                quiesceUpTo(done);
            }
        }
    }

    @Override
    boolean check(QueueOperation operation) {
        return PremiseCheck.ofWorkers(this, operation);
    }

    @Override
    void resolved(QueueOperation operation, @Nullable IreeException waitFailure) {
        throw new IllegalStateException(operation.name() + " ran although it waits, on a queue that orders nothing");
    }

    @Override
    public void completedUpTo(long epoch) {
        throw IreeException.of(
                StatusCode.FAILED_PRECONDITION,
                "epochs of an unordered queue say nothing of one another; report each operation that completes");
    }

    @Override
    public void issueMore() {
        // Nothing is refused.
    }

    @Override
    public long signalledUpTo() {
        return 0;
    }

    @Override
    public StreamCounters streamCounters() {
        return StreamCounters.NONE;
    }

    @Override
    public Frontier frontier() {
        long completed = tracker.completed(axis);
        return completed == 0 ? Frontier.EMPTY : Frontier.of(axis, completed);
    }

    @Override
    public FrontierCounters frontierCounters() {
        return meter.counters();
    }

    @Override
    void endAxis() {
        tracker.retire(axis); // epochs of this queue become known only through completed operations
    }

    @Override
    long inFlight() {
        return inFlight.get();
    }

    @Override
    public boolean isIdle() {
        return inFlight() <= leftToHost.get() && partsBegun.sum() == partsOver.sum();
    }

    @Override
    long retired() {
        return Math.max(0, epochs.get() - partsOver.sum());
    }
}
