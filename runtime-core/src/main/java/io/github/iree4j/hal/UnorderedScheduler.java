package io.github.iree4j.hal;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.SignalRecord;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.frontier.MutableFrontier;
import io.github.iree4j.hal.pool.NativeTimepoints;
import io.github.iree4j.status.IreeException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Schedules a queue that starts each operation when its waits are reached.
 *
 * <p>An operation gets its epoch when it completes, so that the order of epochs is that of completion and "the axis reached e" means that
 * everything up to e is over. Its frontier is what it waited for and its own entry, never what its neighbours knew.
 */
final class UnorderedScheduler extends QueueScheduler {
    private final UnorderedBackend backend;
    private final AtomicLong epochs = new AtomicLong();
    private final LongAdder partsOver = new LongAdder();
    private final LongAdder ended = new LongAdder(); // of those that were handed over
    private final FrontierMeter meter = new FrontierMeter();
    private final Frontier first; // the frontiers of operations that depend on nothing share its axis

    UnorderedScheduler(SchedulingDomain domain, Device device, Object directGroup, UnorderedBackend backend) {
        super(domain, device, directGroup);
        this.backend = backend;
        this.first = Frontier.producedBy(axis, 1);
    }

    @Override
    void start(QueueOperation operation) {
        Fence wait = operation.wait;
        if (wait != null) {
            IreeException failure = wait.failure();
            if (failure != null) {
                refuse(operation, failure);
                return;
            }
            if (!operation.elides && !wait.isReached()) {
                holdBack(operation, wait);
                return;
            }
            if (!operation.counted) {
                reached.add(wait.size());
                operation.counted = true;
            }
            operation.imported = domain.imports(wait, meter);
        }
        if (operation instanceof StorageRequest request && isHeldForStorage(operation, request)) {
            return;
        }
        if (operation.whole != null) {
            operation.whole.issued();
        }
        try {
            if (backend.execute(operation)) {
                return;
            }
        } catch (RuntimeException | Error e) {
            completed(operation, failure(operation, e));
            return;
        }
        IreeException failure = retain(operation);
        if (failure != null) {
            refuse(operation, failure);
            return;
        }
        if (operation.whole == null) {
            operation.handedOver = true;
            issued.increment();
        }
        try {
            backend.issue(operation);
        } catch (RuntimeException | Error e) {
            completed(operation, failure(operation, e));
        }
    }

    /** Gets an operation its memory; returns whether it waits for it, or has failed. */
    private boolean isHeldForStorage(QueueOperation operation, StorageRequest request) {
        MutableFrontier imported = operation.imported;
        Frontier after = imported == null ? Frontier.EMPTY : imported.snapshot();
        IreeException failure;
        try {
            if (request.tryReserve(after, NativeTimepoints.NONE)) {
                return false;
            }
            Deferral deferral = hold(operation, 1);
            failure = deferral == null
                    ? operation.failure()
                    : awaitStorage(deferral, request, after, NativeTimepoints.NONE, true);
        } catch (RuntimeException | Error e) {
            failure = failure(operation, e);
        }
        if (failure != null) {
            refuse(operation, failure);
        }
        return true;
    }

    /** Waits for what is not reached, but for what another of the waits implies. */
    private void holdBack(QueueOperation operation, Fence wait) {
        int count = wait.size();
        SignalRecord[] promises = new SignalRecord[count];
        boolean[] open = new boolean[count]; // to be waited for
        int waiting = 0;
        for (int i = 0; i < count; i++) {
            promises[i] = new SignalRecord();
            boolean known = wait.semaphore(i).lookup(wait.value(i), promises[i]);
            if (!known) {
                promises[i] = new SignalRecord(); // what is in the other is of no use
            }
            open[i] = !promises[i].isReached();
            waiting += open[i] ? 1 : 0;
        }
        if (waiting == 0) { // reached meanwhile
            start(operation);
            return;
        }
        int dropped = waiting > 1 ? CoveredWaits.drop(promises, count, open, open.clone()) : 0;
        if (!operation.counted) {
            reached.add(count - waiting);
            covered.add(dropped);
            deferred.add(waiting - dropped);
            operation.counted = true;
        }
        operation.elides = dropped > 0;
        Deferral deferral = hold(operation, waiting - dropped);
        if (deferral == null) {
            refuse(operation, operation.failure());
            return;
        }
        for (int i = 0; i < count; i++) {
            if (open[i]) {
                deferral.add(wait.semaphore(i), wait.value(i), false);
            }
        }
    }

    @Override
    public void completed(QueueOperation operation, @Nullable IreeException failure) {
        if (failure != null) {
            operation.fail(failure);
        }
        if (operation.handedOver) {
            ended.increment();
        }
        long epoch = epochs.incrementAndGet();
        if (operation.whole != null) {
            partsOver.increment();
        }
        MutableFrontier imported = operation.imported;
        operation.setFrontierRelease(
                imported == null ? first.producedAt(epoch) : imported.produce(axis, epoch, tracker));
        tell(epoch);
        if (resolve(operation)) {
            finish(operation, operation.failure());
        }
        noteEnd();
    }

    @Override
    void resolved(QueueOperation operation, @Nullable IreeException waitFailure) {
        if (waitFailure != null) {
            operation.blame(waitFailure);
            operation.elides = false; // decided
        }
        if (resolve(operation)) {
            finish(operation, operation.failure());
        }
        noteEnd();
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
        tracker.retire(axis); // whoever knows an epoch of this queue has it from an operation that has completed
    }

    @Override
    long inFlight() {
        return Math.max(0, issued.sum() - ended.sum());
    }

    @Override
    public boolean isIdle() {
        return inFlight() == 0;
    }

    @Override
    long retired() {
        return Math.max(0, epochs.get() - partsOver.sum());
    }
}
