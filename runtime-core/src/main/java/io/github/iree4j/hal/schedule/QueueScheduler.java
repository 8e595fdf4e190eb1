package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.QueuePlace;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.FrontierCounters;
import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.hal.QueueCounters;
import io.github.iree4j.hal.QueuePeaks;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.StreamCounters;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.NativeTimepoints;
import io.github.iree4j.hal.storage.StorageRequest;
import io.github.iree4j.status.HighWater;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides about the issue of each operation of a queue, the waits performed by the device, and the promises of the
 * operation's signals. This class is the single place of these decisions, for every backend.
 *
 * <p>For backends: a device creates a scheduler for each queue, submits operations to the scheduler, and reports
 * completions. Safe from any thread. Submitting never blocks, and throws only failures that no fence can carry.
 */
public abstract sealed class QueueScheduler permits FifoScheduler, UnorderedScheduler {
    /*
     * SCHED-1: an operation is issued at most once and ends exactly once. The operation's Deferral calls resume() once.
     * An issued operation ends when it retires; each kind of queue retires an operation once.
     * SCHED-2: a promise or value arriving while an operation is being held back is not missed: the timeline re-checks
     * at registration.
     * SCHED-3: no operation stays on the list of a closed or lost queue: additions check the state under the list's
     * lock, and the closing thread reads the list after setting the state.
     * SCHED-4: an elided wait is checked again when the operation retires (resolve), so the failure of the wait is not
     * lost.
     * SCHED-6: a deferred host call ends once, when the queue and the host have both finished the call
     * (CallCompletion). A lost or withdrawn call is found in the list of issued operations; a call enters this list
     * before it can run.
     */
    final SchedulingDomain domain;
    final DomainQueues siblings; // of the domain, including this scheduler
    final FrontierTracker tracker;
    final QueuePlace place;
    final long axis;
    private final Device device;
    private final QueueBackend backend;

    final WorkCounts counts = new WorkCounts();
    final HighWater mostInFlight = new HighWater(); // operations in parts are not counted

    private volatile Runnable idleListener = () -> {};

    private final PendingList pending = new PendingList();
    final IssuedList issuedOnes = new IssuedList();
    final OperationEnds ends;
    final AtomicInteger leftToHost = new AtomicInteger(); // deferred calls that have run and are incomplete
    private volatile boolean closed; // written under the lock of pending
    volatile @Nullable IreeException lost; // cause of the device loss; written before the last read of the list

    QueueScheduler(SchedulingDomain domain, Device device, Object directGroup, QueueBackend backend) {
        this.domain = domain;
        this.siblings = DomainQueues.of(domain);
        this.tracker = domain.tracker();
        this.device = device;
        this.backend = backend;
        this.ends = new OperationEnds(this, device.id());
        this.axis = domain.axes().allocate(CausalDomain.QUEUE);
        this.place = new QueuePlace(axis, device, directGroup, this instanceof FifoScheduler stream ? stream : null);
        tracker.register(axis);
    }

    /**
     * Creates the scheduler of a queue.
     *
     * @param domain the domain, with all known queues
     * @param device the device, borrowed
     * @param directGroup the group of devices that signal one another directly, compared by identity; the device itself
     *     when alone
     * @param backend the hardware; its kind decides how operations are ordered
     * @return the scheduler; the device closes the scheduler
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
     * Returns the device of the queue.
     *
     * @return the device, borrowed
     */
    public final Device device() {
        return device;
    }

    /**
     * Returns whether the hardware runs operations in the order of epochs.
     *
     * @return false when operations start as their waits are reached
     */
    public final boolean isStream() {
        return this instanceof FifoScheduler;
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
     * Submits an operation. The scheduler issues the operation once its waits allow, and signals on completion.
     *
     * @param wait the fence to wait for; null for none
     * @param signal the fence to signal; null for none
     * @param make creates the operation; an exception thrown here fails the signals
     * @return null, or the failure to create the operation, carried by the signals
     * @throws IreeException FAILED_PRECONDITION when the signal fence is closed; without a signal fence, a failure
     *     found now
     */
    public final @Nullable IreeException submit(
            @Nullable Fence wait, @Nullable Fence signal, Supplier<? extends QueueOperation> make) {
        return submit(wait, signal, make, null, true);
    }

    /** Submits an operation or a part of an operation. Only the waits of the first part are counted, and no part counts as an operation. */
    final @Nullable IreeException submit(
            @Nullable Fence wait,
            @Nullable Fence signal,
            Supplier<? extends QueueOperation> make,
            @Nullable OperationParts whole,
            boolean first) {
        if (signal != null && !signal.isLive()) {
            throw IreeException.of(StatusCode.FAILED_PRECONDITION, "signal fence is closed");
        }
        QueueOperation operation;
        try {
            if (closed) {
                throw refusal(first);
            }
            operation = make.get();
            check(operation, wait, signal);
        } catch (IreeException e) {
            if (whole == null) {
                counts.refused.increment();
                counts.failed.increment();
            }
            if (signal == null) {
                throw e;
            }
            signal.fail(e);
            return e;
        } catch (RuntimeException | Error e) { // caller bug: rethrow; waiters must not hang
            counts.refused.increment();
            counts.failed.increment();
            if (signal != null) {
                signal.fail(IreeException.of(StatusCode.INTERNAL, "operation could not be made: " + e, e));
            }
            throw e;
        }
        operation.wait = wait;
        operation.signal = signal;
        operation.whole = whole;
        operation.counted = !first;
        if (whole != null) { // early, so that release() precedes the signals
            IreeException unusable = OperationEnds.retain(operation);
            if (unusable != null) {
                ends.finish(operation, unusable);
                return unusable;
            }
        }
        operation.submitter = Thread.currentThread();
        operation.reported = siblings.observer() == null;
        siblings.begins(this, operation);
        start(operation);
        operation.submitter = null;
        IreeException thrown = operation.thrown;
        if (thrown != null) {
            throw thrown;
        }
        return null;
    }

    /** Returns the cause for refusing an operation on a closed queue; an earlier loss of the device, after which callers try again, takes precedence. */
    private IreeException refusal(boolean first) {
        IreeException gone = lost;
        return gone != null ? gone : closed(device.id(), !first); // later parts are in flight
    }

    /**
     * Returns the refusal of a closed device. A call under way has not closed the device: its caller may try again.
     *
     * @param device the id of the device
     * @return FAILED_PRECONDITION; ABORTED within a call of a program
     */
    public static IreeException closed(String device) {
        return closed(device, false);
    }

    private static IreeException closed(String device, boolean isUnderWay) {
        return isUnderWay || MemoryHolder.current() != null
                ? IreeException.of(StatusCode.ABORTED, "device '" + device + "' was closed, and a call uses it")
                : IreeException.of(StatusCode.FAILED_PRECONDITION, "device '" + device + "' is closed");
    }

    private void check(QueueOperation operation, @Nullable Fence wait, @Nullable Fence signal) {
        IreeException gone = lost;
        if (gone != null) {
            throw gone;
        }
        if (wait != null) {
            if (!wait.isLive()) {
                throw IreeException.of(
                        StatusCode.FAILED_PRECONDITION, "wait fence of " + operation.name() + " is closed");
            }
            for (int i = 0; i < wait.size(); i++) {
                wait.semaphore(i).checkUse(place);
            }
        }
        if (signal != null) {
            for (int i = 0; i < signal.size(); i++) {
                if (signal.value(i) > TimelineSemaphore.MAXIMUM_VALUE) {
                    throw IreeException.of(
                            StatusCode.INVALID_ARGUMENT,
                            "%s cannot signal semaphore value %d; the largest is %d"
                                    .formatted(operation.name(), signal.value(i), TimelineSemaphore.MAXIMUM_VALUE));
                }
                signal.semaphore(i).checkUse(place);
            }
        }
    }

    /**
     * Begins an operation executed in parts.
     *
     * @param signal the fence to be signalled by the last part or a continuation; null for none
     * @return the operation; the caller ends the operation
     * @throws IreeException FAILED_PRECONDITION when the scope of a timeline does not allow the signal; the failed
     *     operation is counted
     */
    public final OperationParts beginParts(@Nullable Fence signal) {
        return new OperationParts(this, signal);
    }

    /** Issues an operation, holds it back or fails it. */
    abstract void start(QueueOperation operation);

    /** Retires an operation that has run: all waits are resolved, or a wait has failed. */
    abstract void resolved(QueueOperation operation, @Nullable IreeException waitFailure);

    /**
     * Reports that the hardware has completed an operation. Called once for each issued operation.
     *
     * @param operation the operation
     * @param failure the failure; null on success
     */
    public abstract void completed(QueueOperation operation, @Nullable IreeException failure);

    /**
     * Reports that the hardware has completed everything issued up to an epoch. Operations not reported as failed have
     * succeeded. For streams, instead of {@link #completed} for each operation.
     *
     * @param epoch the epoch of an issued operation
     */
    public abstract void completedUpTo(long epoch);

    /**
     * Returns the epoch up to which the promised signals of all operations are made or have failed. For streams.
     *
     * @return an epoch; 0 before the first end, and where there is no stream. Takes no lock
     */
    public abstract long signalledUpTo();

    /** Reports that the backend accepts operations again after declining an operation. For streams. Called on a thread without locks. */
    public abstract void issueMore();

    /**
     * Returns counters of the work given to the hardware of a stream.
     *
     * @return the counters now; zeros where there is no stream
     */
    public abstract StreamCounters streamCounters();

    /**
     * Reports that the hardware begins an operation: called by backends with this knowledge. Also checks the
     * operation's premises, see {@link #assertPremises}.
     *
     * @param operation an issued operation
     */
    public final void began(QueueOperation operation) {
        assertPremises(operation);
        siblings.began(operation);
    }

    /**
     * Reports that the hardware begins an operation, for backends that have to poll. A backend need not poll while this
     * method returns false. May be called with locks of the backend held: checks no premises.
     *
     * @param operation an issued operation
     * @return whether anything observes the queue
     */
    public final boolean seenToBegin(QueueOperation operation) {
        return siblings.began(operation);
    }

    /**
     * Checks, with {@code -Diree4j.causal.assert=true}, whether all premises of an operation hold. Called by backends
     * able to observe the beginning of an operation, at the beginning and at the completion. An operation that began
     * too early fails, with the premise and its values.
     *
     * @param operation an issued operation
     */
    public final void assertPremises(QueueOperation operation) {
        if (PremiseCheck.ASSERTED) {
            check(operation);
        }
    }

    /** Fails an operation that runs too early, and then returns false. Called only where premises are asserted. */
    abstract boolean check(QueueOperation operation);

    /**
     * Cancels an incomplete operation. A waiting operation will not run; an issued operation may still run. The signals
     * fail.
     *
     * @param operation an operation submitted here
     * @param cause the failure of the signals
     */
    public final void cancel(QueueOperation operation, IreeException cause) {
        operation.fail(cause); // read when the operation retires
        operation.cancelled = true; // read when the operation is held back
        Deferral deferral = operation.deferral;
        if (deferral != null) {
            deferral.end(cause);
        }
        endDeferred(operation, cause);
    }

    /**
     * Reports the loss of the device. Pending operations, later submissions, and every wait for the axis of this queue
     * fail. The backend completes issued operations with the cause. Incomplete deferred host calls fail, even when
     * begun.
     *
     * @param cause the cause
     */
    public final void lost(IreeException cause) {
        if (lost != null) {
            return;
        }
        lost = cause;
        siblings.lost(this, cause);
        tracker.fail(axis, cause);
        abandonPending(operation -> cause);
        issuedOnes.deferredCalls().forEach(each -> endDeferred(each, cause)); // calls added later find the queue lost
    }

    /** Fails pending operations with ABORTED, and later operations that would have to wait. Idempotent. */
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
        siblings.closed(this);
    }

    /** Ends the axis of the closed queue: only operations in flight still happen on the axis. From now on no operation gets a place. */
    abstract void endAxis();

    /**
     * Runs an action once the backend has received all placed operations. The queue is closed.
     *
     * @param action to be run now, or on the thread giving the last operation to the backend; must not throw
     */
    public void whenGiven(Runnable action) {
        action.run();
    }

    final boolean isClosed() {
        return closed;
    }

    /** Returns the cause for not running an operation on a closed queue; an earlier loss of the device takes precedence. */
    final IreeException aborted(QueueOperation operation) {
        IreeException gone = lost;
        if (gone != null) {
            return gone;
        }
        return IreeException.of(
                StatusCode.ABORTED,
                "device '" + device.id() + "' was closed while " + operation.name() + " waited to run");
    }

    private void abandonPending(Function<QueueOperation, IreeException> cause) {
        for (Deferral each : pending.all()) {
            each.end(cause.apply(each.operation));
        }
    }

    /** Ends the pending operations of certain calls, including operations waiting for memory or for the host. */
    final void withdraw(Predicate<MemoryHolder> calls, IreeException cause) {
        for (Deferral each : pending.all()) {
            if (isOfOne(calls, each.operation)) {
                each.end(cause);
            }
        }
        for (QueueOperation each : issuedOnes.deferredCalls()) {
            if (isOfOne(calls, each)) {
                endDeferred(each, cause);
            }
        }
    }

    /** Adds the operations of a call held back before the issue. */
    final void addHeldBack(MemoryHolder call, List<QueueOperation> held) {
        for (Deferral each : pending.all()) {
            if (call.equals(each.operation.holder)) {
                held.add(each.operation);
            }
        }
    }

    private static boolean isOfOne(Predicate<MemoryHolder> calls, QueueOperation operation) {
        MemoryHolder holder = operation.holder;
        return holder != null && calls.test(holder);
    }

    private static void endDeferred(QueueOperation operation, IreeException cause) {
        CallCompletion completion = operation.completion;
        if (completion != null) {
            completion.end(cause);
        }
    }

    /**
     * Returns the work of the queue so far.
     *
     * @return the counters now
     */
    public final QueueCounters counters() {
        long whole = retired();
        long inFlight = inFlight();
        long retired = whole + counts.inParts.retired.sum();
        long pendingNow;
        long pendingParts;
        synchronized (pending) {
            pendingNow = pending.count();
            pendingParts = pending.parts();
        }
        return counts.snapshot(retired, inFlight, pendingNow, pendingParts);
    }

    /**
     * Returns the largest numbers of operations pending and in flight since the last call of this method.
     *
     * @return as {@link DeviceQueue#takePeaks}
     */
    public final QueuePeaks takePeaks() {
        return new QueuePeaks(
                pending.takeMost(), mostInFlight.take(() -> counters().inFlight()));
    }

    /**
     * Returns operations waiting to be issued, longest waiting first.
     *
     * @param limit the maximum number of operations
     * @return a snapshot
     */
    public final List<PendingOperation> pending(int limit) {
        return pending.describe(limit);
    }

    /**
     * Returns operations with unpromised signals that are not held back: on an unordered queue, the operations in
     * flight.
     *
     * @param limit the maximum number of operations
     * @return a snapshot, without waits. Take this snapshot after {@link #pending}: operations that left that list in
     *     between appear here unless they have completed
     */
    public final List<PendingOperation> inFlight(int limit) {
        return issuedOnes.describe(limit);
    }

    /** Returns the submitted operations that have not ended, in no order. */
    final Set<QueueOperation> open() {
        Set<QueueOperation> open = new LinkedHashSet<>(); // operations compare by identity
        pending.all().forEach(each -> open.add(each.operation)); // operations move from list to list, this way
        open.addAll(issuedOnes.all());
        open.addAll(placed());
        pending.all().forEach(each -> open.add(each.operation)); // and back, for want of memory
        open.removeIf(each -> each.ending); // this thread may be in a callback of the operation's signal
        return open;
    }

    /** Returns the operations with a place on a stream that have not ended; none on an unordered queue. */
    List<QueueOperation> placed() {
        return List.of();
    }

    /**
     * Returns the frontier preceding the next operation.
     *
     * @return as {@link DeviceQueue#frontier()}
     */
    public abstract Frontier frontier();

    /**
     * Returns counters of the cost of merging frontiers.
     *
     * @return as {@link DeviceQueue#frontierCounters()}
     */
    public abstract FrontierCounters frontierCounters();

    /**
     * Sets the listener for the idle state: called, with no lock held, when this queue becomes idle while operations
     * wait for memory.
     *
     * @param listener re-checks whether a memory waiter can proceed
     */
    public final void whenIdle(Runnable listener) {
        idleListener = listener;
    }

    /**
     * Returns whether the queue is idle: every issued operation is complete.
     *
     * @return false while an issued operation is due to end without any other event. Takes no lock
     */
    public abstract boolean isIdle();

    /** Records that the hardware has finished everything up to an epoch; the epoch is complete unless the device is lost. */
    final void completeUpTo(long epoch) {
        if (lost == null) {
            tracker.advance(axis, epoch);
        }
    }

    /** Records that the host has also finished everything up to an epoch: on a lost device, nothing up to the epoch remains in flight. */
    final void quiesceUpTo(long epoch) {
        if (lost != null) {
            tracker.quiesce(axis, epoch);
        }
    }

    /** Runs the listener for the idle state if the queue is idle while operations wait for memory. */
    final void lookForIdleness() {
        if (siblings.isShortOfMemory() && isIdle()) {
            idleListener.run();
        }
    }

    /** Returns the number of incomplete issued operations, excluding operations executed by the submitting thread and parts of others. */
    abstract long inFlight();

    /** Returns the number of completed operations that ran, excluding operations executed in parts. */
    abstract long retired();

    // ---- Holding back.

    /**
     * Puts an operation on the pending list and retains the operation's resources.
     *
     * @return the deferral, to which the caller adds the waits; null when the operation cannot be held, with the
     *     failure in the operation
     */
    final @Nullable Deferral hold(QueueOperation operation, int count) {
        Deferral deferral = new Deferral(this, operation, true, count);
        IreeException failure = OperationEnds.retain(operation);
        if (failure == null) {
            synchronized (pending) {
                failure = lost; // SCHED-3
                if (failure != null) {
                    // the list is not read again
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
        if (operation.listedAsIssued) { // held back again
            issuedOnes.remove(operation);
        }
        operation.deferral = deferral;
        if (operation.cancelled && deferral.abandon()) { // cancelled before the deferral was visible
            operation.deferral = null;
            pending.remove(deferral);
            return null;
        }
        return deferral;
    }

    /**
     * Reserves memory for an operation after the fast path found none, and continues the operation; or holds the
     * operation back until memory is available. May take long, so no lock is held.
     *
     * @param deferral the deferral holding the operation back meanwhile
     * @param tried whether an immediate reservation has already failed
     * @return the cause if memory can never be reserved; null when the operation proceeds or waits
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
            Fence wait = operation.wait;
            if (wait != null) { // a promised value may fail before memory is available
                deferral.watch(wait);
            }
            return null;
        } catch (RuntimeException | Error e) {
            if (!deferral.abandon()) {
                return null; // ended meanwhile, with another cause
            }
            operation.deferral = null;
            pending.remove(deferral);
            return OperationEnds.failure(operation, e);
        }
    }

    /** Returns the executor for resuming many operations at once; null for the calling thread. */
    @SuppressWarnings("ReferenceEquality") // a singleton
    final @Nullable Executor crowdExecutor() {
        Executor executor = backend.wakeExecutor();
        return executor == QueueBackend.SAME_THREAD ? null : executor;
    }

    /** Resumes an operation. Called once by each deferral. */
    final void resume(Deferral deferral, @Nullable IreeException waitFailure) {
        QueueOperation operation = deferral.operation;
        operation.deferral = null;
        if (!deferral.beforeIssue) {
            siblings.ending(operation);
            resolved(operation, waitFailure);
            return;
        }
        long now = System.nanoTime();
        issuedOnes.add(operation, now); // before leaving the other list
        pending.remove(deferral);
        counts.heldBackNanos.add(now - deferral.since);
        if (waitFailure != null) {
            refuse(operation, waitFailure);
        } else {
            start(operation);
        }
        if (isStream() && operation.completion == null) { // from here on, promises describe the signals
            issuedOnes.remove(operation);
        }
    }

    // ---- The end of an operation.

    /** Records that the queue has finished an operation. Returns whether the operation continues until the host completes it. */
    final boolean isLeftToHost(QueueOperation operation) {
        CallCompletion completion = operation.completion;
        if (completion == null) {
            return false;
        }
        IreeException gone = lost;
        if (gone != null) {
            operation.fail(gone);
        }
        leftToHost.incrementAndGet(); // before the host may end it
        if (completion.ran(operation)) {
            return true;
        }
        leftToHost.decrementAndGet();
        return false;
    }

    /** Completes an operation left to the host. */
    final void completedByHost(QueueOperation operation, @Nullable IreeException failure) {
        leftToHost.decrementAndGet();
        if (failure != null) {
            operation.fail(failure);
        }
        end(operation);
        lookForIdleness();
    }

    /** Ends an operation that the queue and the host have finished. */
    abstract void end(QueueOperation operation);

    /** Ends an operation that is not going to run. */
    final void refuse(QueueOperation operation, @Nullable IreeException cause) {
        if (operation.whole == null) {
            counts.refused.increment();
        }
        ends.finish(operation, cause);
    }

    /**
     * Checks whether all waits of an operation that has run are resolved. An elided wait may still be open, if this
     * host sees the completions of different queues in another order than the real order.
     *
     * @return true when all waits are resolved, with a failed wait recorded in the operation; false when the operation
     *     is held back until then
     */
    final boolean resolve(QueueOperation operation) {
        IreeException cause = operation.failedWait();
        int open = operation.openWait();
        if (cause != null) {
            operation.blame(cause);
            return true;
        }
        if (open < 0) {
            return true;
        }
        Fence wait = Objects.requireNonNull(operation.wait);
        // A single wait suffices for a re-check; the value may have been reached since.
        Deferral deferral = new Deferral(this, operation, false, 1);
        operation.deferral = deferral;
        deferral.add(wait.semaphore(open), wait.value(open), false, open);
        return false;
    }

    @Override
    public final String toString() {
        return "queue " + place + " of device '" + device.id() + "'";
    }
}
