package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.QueuePlace;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.FrontierCounters;
import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.hal.QueueCounters;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.StreamCounters;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.NativeTimepoints;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides when each operation of one queue is issued, what the device must wait for, and what its signals say. The only place where that
 * is decided, whatever the backend.
 *
 * <p>For backends: a device makes one for each of its queues, submits operations to it, and tells it when they have completed. Safe from
 * any thread; submitting never blocks, and throws only what no fence can carry.
 */
public abstract sealed class QueueScheduler permits FifoScheduler, UnorderedScheduler {
    /*
     * SCHED-1: an operation is issued at most once and ends exactly once. What holds it back (Deferral) calls resume() once; what was
     * issued ends when it retires, of which both kinds of queue see to it that it happens once.
     * SCHED-2: what becomes known while an operation is being held back is not missed: the timeline looks again when it registers.
     * SCHED-3: nothing is left on the list of a closed or lost queue: under its lock, that is known before anything is added, and
     * who says so reads the list afterwards.
     * SCHED-4: a wait that was elided is looked at again when the operation retires (resolve), so its failure gets there.
     */
    private static final Logger LOG = LoggerFactory.getLogger(QueueScheduler.class);

    final SchedulingDomain domain;
    final DomainQueues siblings; // of the domain, this one too
    final FrontierTracker tracker;
    final QueuePlace place;
    final long axis;
    private final Device device;
    private final QueueBackend backend;

    final LongAdder reached = new LongAdder();
    final LongAdder elidedFifo = new LongAdder();
    final LongAdder elidedFrontier = new LongAdder();
    final LongAdder deviceWaits = new LongAdder();
    final LongAdder deferred = new LongAdder();
    final LongAdder covered = new LongAdder();
    private final LongAdder heldBackNanos = new LongAdder();
    final LongAdder issued = new LongAdder(); // where they are not over before submit() returns
    final LongAdder refused = new LongAdder(); // failed before they were issued
    final LongAdder failed = new LongAdder();

    final OperationParts.Totals inParts = new OperationParts.Totals();

    private volatile Runnable idleListener = () -> {};

    private final PendingList pending = new PendingList();
    private volatile boolean closed; // written under the lock of pending
    volatile @Nullable IreeException
            lost; // why nothing runs here any more; written before the list is read for the last time

    QueueScheduler(SchedulingDomain domain, Device device, Object directGroup, QueueBackend backend) {
        this.domain = domain;
        this.siblings = DomainQueues.of(domain);
        this.tracker = domain.tracker();
        this.device = device;
        this.backend = backend;
        this.axis = domain.axes().allocate(CausalDomain.QUEUE);
        this.place = new QueuePlace(axis, device, directGroup, this instanceof FifoScheduler stream ? stream : null);
        tracker.register(axis);
    }

    /**
     * Makes the scheduler of a queue.
     *
     * @param domain the queues it knows of
     * @param device the device, borrowed
     * @param directGroup what devices that signal one another directly have in common, compared by identity; the device itself when it
     *     is alone
     * @param backend the hardware, whose kind decides how operations are ordered
     * @return the scheduler; the device closes it
     */
    public static QueueScheduler create(
            SchedulingDomain domain, Device device, Object directGroup, QueueBackend backend) {
        QueueScheduler scheduler = switch (backend) {
            case FifoBackend stream -> new FifoScheduler(domain, device, directGroup, stream);
            case UnorderedBackend workers -> new UnorderedScheduler(domain, device, directGroup, workers);
        };
        scheduler.siblings.add(scheduler);
        return scheduler;
    }

    /**
     * Returns the axis of the queue.
     *
     * @return the axis
     */
    public final long axis() {
        return axis;
    }

    /**
     * Submits an operation: it is issued once its waits allow, and signals when it is over.
     *
     * @param wait what to wait for; null for nothing
     * @param signal what to signal; null for nothing
     * @param make makes the operation, and throws what the signals are to fail with when it cannot be
     * @return null, or why there is no operation when the signals carry that
     * @throws IreeException FAILED_PRECONDITION when the signal fence is closed; without a signal fence a failure found now
     */
    public final @Nullable IreeException submit(
            @Nullable Fence wait, @Nullable Fence signal, Supplier<? extends QueueOperation> make) {
        return submit(wait, signal, make, null, true);
    }

    /** Submits an operation, or a part of one: of several parts only the waits of the first count, and none counts as an operation. */
    final @Nullable IreeException submit(
            @Nullable Fence wait,
            @Nullable Fence signal,
            Supplier<? extends QueueOperation> make,
            @Nullable OperationParts whole,
            boolean first) {
        if (signal != null && !signal.isLive()) {
            throw new IreeException(StatusCode.FAILED_PRECONDITION, "signal fence is closed");
        }
        QueueOperation operation;
        try {
            if (closed) {
                throw new IreeException(StatusCode.FAILED_PRECONDITION, "device '" + device.id() + "' is closed");
            }
            operation = make.get();
            check(operation, wait, signal);
        } catch (IreeException e) {
            if (whole == null) {
                refused.increment();
                failed.increment();
            }
            if (signal == null) {
                throw e;
            }
            signal.fail(e);
            return e;
        } catch (RuntimeException | Error e) { // a mistake of the caller, who hears of it; who waits must not hang
            refused.increment();
            failed.increment();
            if (signal != null) {
                signal.fail(new IreeException(StatusCode.INTERNAL, "operation could not be made: " + e, e));
            }
            throw e;
        }
        operation.wait = wait;
        operation.signal = signal;
        operation.whole = whole;
        operation.counted = !first;
        if (whole != null) { // so that release() comes before the signals
            IreeException unusable = retain(operation);
            if (unusable != null) {
                finish(operation, unusable);
                return unusable;
            }
        }
        operation.submitter = Thread.currentThread();
        siblings.submitted(this, operation);
        start(operation);
        operation.submitter = null;
        IreeException thrown = operation.thrown;
        if (thrown != null) {
            throw thrown;
        }
        return null;
    }

    private void check(QueueOperation operation, @Nullable Fence wait, @Nullable Fence signal) {
        IreeException gone = lost;
        if (gone != null) {
            throw gone;
        }
        if (wait != null) {
            if (!wait.isLive()) {
                throw new IreeException(
                        StatusCode.FAILED_PRECONDITION, "wait fence of " + operation.name() + " is closed");
            }
            for (int i = 0; i < wait.size(); i++) {
                wait.semaphore(i).checkUse(place);
            }
        }
        if (signal != null) {
            for (int i = 0; i < signal.size(); i++) {
                signal.semaphore(i).checkUse(place);
            }
        }
    }

    /**
     * Begins an operation that is carried out in parts.
     *
     * @param signal what the last part, or what follows it, will signal; null for nothing
     * @return the operation; the caller ends it
     * @throws IreeException FAILED_PRECONDITION when a scope does not allow that; then it has been counted
     */
    public final OperationParts beginParts(@Nullable Fence signal) {
        return new OperationParts(this, signal);
    }

    /** An operation goes to the hardware, where it is not over before submit() returns. */
    final void countIssued(QueueOperation operation) {
        OperationParts whole = operation.whole;
        if (whole == null) {
            issued.increment();
        } else {
            whole.issued();
        }
    }

    /** Issues an operation, holds it back or fails it. */
    abstract void start(QueueOperation operation);

    /** An operation that has run can be retired, its waits being resolved or one having failed. */
    abstract void resolved(QueueOperation operation, @Nullable IreeException waitFailure);

    /**
     * Says that the hardware is done with an operation. Said once for each that was issued.
     *
     * @param operation the operation
     * @param failure why it failed; null when it did not
     */
    public abstract void completed(QueueOperation operation, @Nullable IreeException failure);

    /**
     * Says that the hardware is done with everything that was issued up to an epoch. What was not said to have failed has not. For streams,
     * instead of {@link #completed} for each operation.
     *
     * @param epoch the epoch of an operation that was issued
     */
    public abstract void completedUpTo(long epoch);

    /** The backend, which could not take an operation, takes operations again. For streams. From a thread without locks. */
    public abstract void issueMore();

    /**
     * Returns what the hardware of a stream was asked for.
     *
     * @return the counters now; zeros where there is no stream
     */
    public abstract StreamCounters streamCounters();

    /**
     * Looks, with {@code -Diree4j.causal.assert=true}, whether everything that an operation rests on instead of waits is the case: called by
     * backends that know when an operation begins, and when it is over. One that began too early fails, with the premise and its values.
     *
     * @param operation one that was issued
     */
    public final void assertPremises(QueueOperation operation) {
        if (PremiseCheck.ASSERTED) {
            check(operation);
        }
    }

    /** Fails an operation that runs too early, and returns false then. Called only where premises are asserted. */
    abstract boolean check(QueueOperation operation);

    /**
     * Cancels an operation that is not over: one that waits will not run, one that was issued may run in vain. Its signals fail.
     *
     * @param operation one that was submitted here
     * @param cause what its signals fail with
     */
    public final void cancel(QueueOperation operation, IreeException cause) {
        operation.fail(cause); // looked at when it retires
        operation.cancelled = true; // and this when it is held back
        Deferral deferral = operation.deferral;
        if (deferral != null) {
            deferral.end(cause);
        }
    }

    /**
     * Says that the device is lost: what waits fails, and so does everything submitted from now on, and every wait for the axis of this
     * queue. What was issued the backend completes, with the cause.
     *
     * @param cause why
     */
    public final void lost(IreeException cause) {
        if (lost != null) {
            return;
        }
        lost = cause;
        tracker.fail(axis, cause);
        abandonPending(operation -> cause);
    }

    /** Fails what still waits with ABORTED, and what would have to wait from now on. Harmless when repeated. */
    public final void close() {
        synchronized (pending) {
            if (closed) {
                return;
            }
            closed = true;
        }
        siblings.remove(this);
        abandonPending(this::aborted);
        endAxis();
    }

    /** The queue is closed: nothing more happens on its axis than what is in flight. */
    abstract void endAxis();

    final boolean isClosed() {
        return closed;
    }

    private IreeException aborted(QueueOperation operation) {
        return new IreeException(
                StatusCode.ABORTED,
                "device '" + device.id() + "' was closed while " + operation.name() + " waited to run");
    }

    private void abandonPending(Function<QueueOperation, IreeException> cause) {
        for (Deferral each : pending.all()) {
            each.end(cause.apply(each.operation));
        }
    }

    /** Ends what certain calls have submitted here and that waits, for memory included. */
    final void withdraw(Predicate<MemoryHolder> calls, IreeException cause) {
        for (Deferral each : pending.all()) {
            MemoryHolder holder = each.operation.holder;
            if (holder != null && calls.test(holder)) {
                each.end(cause);
            }
        }
    }

    /**
     * Returns what the queue has done so far.
     *
     * @return the counters now
     */
    public final QueueCounters counters() {
        long whole = retired();
        long inFlight = inFlight();
        long retiredNow = whole + inParts.retired.sum();
        long pendingNow;
        long pendingWholes;
        synchronized (pending) {
            pendingNow = pending.count();
            pendingWholes = pending.parts();
        }
        inFlight += Math.max(0, inParts.begun.sum() - inParts.over.sum() - pendingWholes);
        return new QueueCounters(
                retiredNow + inFlight + pendingNow + refused.sum(),
                retiredNow,
                failed.sum(),
                pendingNow,
                inFlight,
                reached.sum(),
                elidedFifo.sum(),
                elidedFrontier.sum(),
                deviceWaits.sum(),
                deferred.sum(),
                covered.sum(),
                heldBackNanos.sum());
    }

    /**
     * Returns operations that wait to be issued, the longest waiting first.
     *
     * @param limit the most to return
     * @return a snapshot
     */
    public final List<PendingOperation> pending(int limit) {
        return pending.describe(limit);
    }

    /**
     * Returns what the next operation runs after.
     *
     * @return as {@link DeviceQueue#frontier()}
     */
    public abstract Frontier frontier();

    /**
     * Returns what it took to gather frontiers.
     *
     * @return as {@link DeviceQueue#frontierCounters()}
     */
    public abstract FrontierCounters frontierCounters();

    /**
     * Sets what is called when nothing is under way here any more while operations wait for memory, with no lock held.
     *
     * @param listener looks whether somebody who waits for memory can go on now
     */
    public final void whenIdle(Runnable listener) {
        idleListener = listener;
    }

    /**
     * Returns whether nothing is under way: no operation was issued that is not over.
     *
     * @return false while some operation is going to end without anything else happening. Takes no lock
     */
    public abstract boolean isIdle();

    /** The hardware is done with everything up to an epoch, and it has completed unless the device is lost. */
    final void tell(long epoch) {
        if (lost == null) {
            tracker.advance(axis, epoch);
        }
    }

    /** The host is done with everything up to an epoch too: of a lost device nothing up to it is under way from now on. */
    final void quiet(long epoch) {
        if (lost != null) {
            tracker.quiesce(axis, epoch);
        }
    }

    /** Something has ended. */
    final void noteEnd() {
        if (siblings.isShortOfMemory() && isIdle()) {
            idleListener.run();
        }
    }

    /** How many operations were issued, not over by then, and are not over, without those that are parts of others. */
    abstract long inFlight();

    /** How many operations have run and are over, without those that have parts. */
    abstract long retired();

    // ---- Holding back.

    /**
     * Puts an operation on the list of those that wait, keeping what it uses.
     *
     * @return what holds it back; the caller adds the waits. Null when that cannot be, with the failure in the operation
     */
    final @Nullable Deferral hold(QueueOperation operation, int count) {
        Deferral deferral = new Deferral(this, operation, true, count);
        IreeException failure = retain(operation);
        if (failure == null) {
            synchronized (pending) {
                failure = lost; // SCHED-3
                if (failure != null) {
                    // nobody looks at the list again
                } else if (closed) {
                    failure = aborted(operation);
                } else {
                    failure = pending.add(deferral, device.id());
                }
            }
        }
        if (failure != null) {
            operation.fail(failure);
            return null;
        }
        operation.deferral = deferral;
        if (operation.cancelled && deferral.abandon()) { // cancelled before it could be seen here
            operation.deferral = null;
            pending.remove(deferral);
            return null;
        }
        return deferral;
    }

    /**
     * Gets an operation memory that was not there, and goes on with it; or holds it back until it has some. Takes long, so without a lock.
     *
     * @param deferral what holds it back meanwhile
     * @param tried whether there was no way to get it at once
     * @return why it never will get any; null when it goes on or waits
     */
    final @Nullable IreeException awaitStorage(
            Deferral deferral, StorageRequest request, Frontier after, NativeTimepoints timepoints, boolean tried) {
        QueueOperation operation = deferral.operation;
        try {
            if (!tried && request.tryReserve(after, timepoints)) {
                deferral.reached(0, null);
                return null;
            }
            siblings.shortOfMemory();
            request.reserve(after, timepoints, failure -> deferral.reached(0, failure));
            return null;
        } catch (RuntimeException | Error e) {
            if (!deferral.abandon()) {
                return null; // ended meanwhile, with a cause of its own
            }
            operation.deferral = null;
            pending.remove(deferral);
            return failure(operation, e);
        }
    }

    /** Where operations are resumed when there are many at once; null for here. */
    @SuppressWarnings("ReferenceEquality") // it is one
    final @Nullable Executor crowdExecutor() {
        Executor executor = backend.wakeExecutor();
        return executor == QueueBackend.SAME_THREAD ? null : executor;
    }

    /** Called once by each deferral. */
    final void resume(Deferral deferral, @Nullable IreeException waitFailure) {
        QueueOperation operation = deferral.operation;
        operation.deferral = null;
        if (!deferral.beforeIssue) {
            resolved(operation, waitFailure);
            return;
        }
        pending.remove(deferral);
        heldBackNanos.add(System.nanoTime() - deferral.since);
        if (waitFailure != null) {
            refuse(operation, waitFailure);
        } else {
            start(operation);
        }
    }

    // ---- The end of an operation.

    /** Keeps what the operation uses until it is over; returns why that is not possible. */
    static @Nullable IreeException retain(QueueOperation operation) {
        if (operation.retained) {
            return null;
        }
        try {
            operation.retain();
        } catch (RuntimeException | Error e) {
            return failure(operation, e);
        }
        Fence signal = operation.signal;
        if (signal != null) {
            try {
                signal.retain();
            } catch (IreeException e) {
                letGo(operation);
                return e;
            }
        }
        operation.retained = true;
        MemoryHolder holder =
                MemoryHolder.current(); // on the thread that submits: whoever resumes it finds it retained
        operation.holder = holder;
        if (holder != null) {
            holder.operationBegins();
        }
        return null;
    }

    private static void letGo(QueueOperation operation) {
        try {
            operation.release();
        } catch (RuntimeException | Error e) { // whoever waits for the operation has nothing to do with that
            LOG.error("{} could not let go of what it used", operation.name(), e);
        }
    }

    /** What an operation fails with when code of its own, or of its backend, throws. */
    static IreeException failure(QueueOperation operation, Throwable thrown) {
        return thrown instanceof IreeException failure
                ? failure
                : new IreeException(StatusCode.INTERNAL, operation.name() + " failed: " + thrown, thrown);
    }

    /** Ends an operation that will not run. */
    final void refuse(QueueOperation operation, @Nullable IreeException cause) {
        if (operation.whole == null) {
            refused.increment();
        }
        finish(operation, cause);
    }

    /** Ends an operation: lets go of what it used, and signals or fails its fence. */
    final void finish(QueueOperation operation, @Nullable IreeException outcome) {
        try {
            end(operation, outcome);
        } finally {
            siblings.over(operation, outcome != null);
            MemoryHolder holder = operation.holder;
            if (holder != null && operation.retained) {
                holder.operationEnds();
            }
        }
    }

    private void end(QueueOperation operation, @Nullable IreeException outcome) {
        if (outcome != null) {
            if (operation.whole == null) {
                failed.increment();
            }
            tell(operation, outcome);
        }
        Fence signal = operation.signal;
        if (operation.retained) {
            letGo(operation);
        }
        if (signal != null) {
            if (outcome == null) {
                signal.signalOrFail(operation.frontier());
            } else {
                signal.fail(outcome);
            }
            if (operation.retained) {
                signal.release();
            }
        } else if (outcome != null) {
            report(operation, outcome);
        }
    }

    private static void tell(QueueOperation operation, IreeException outcome) {
        try {
            operation.failed(outcome);
        } catch (RuntimeException | Error e) { // as above
            LOG.error("{} could not take its failure", operation.name(), e);
        }
    }

    private void report(QueueOperation operation, IreeException outcome) {
        if (Thread.currentThread().equals(operation.submitter)) {
            operation.thrown = outcome;
        } else {
            LOG.error("{} without a signal fence failed on device '{}'", operation.name(), device.id(), outcome);
        }
    }

    /**
     * Looks whether the waits of an operation that has run are all resolved; one that was elided may not have been yet, where this host
     * sees the completions of different queues in another order than they happened.
     *
     * @return true when they are, with the failure in the operation if one has; false when the operation is held back until then
     */
    final boolean resolve(QueueOperation operation) {
        Fence wait = operation.wait;
        if (wait == null || operation.premises == null) {
            return true;
        }
        int open = -1;
        for (int i = 0; i < wait.size(); i++) {
            if (wait.semaphore(i).value() < wait.value(i)) { // what was reached first and failed later was reached
                IreeException cause = wait.semaphore(i).failure();
                if (cause != null) {
                    operation.blame(cause);
                    return true;
                }
                open = i;
            }
        }
        if (open < 0) {
            return true;
        }
        // One is enough to look again; its value may have been reached since.
        Deferral deferral = new Deferral(this, operation, false, 1);
        operation.deferral = deferral;
        deferral.add(wait.semaphore(open), wait.value(open), false);
        return false;
    }

    @Override
    public final String toString() {
        return "queue " + place + " of device '" + device.id() + "'";
    }
}
