package io.github.iree4j.async;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CompletedEpochs;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Tracks the completed epoch of every axis, and waits for frontiers.
 *
 * <p>The owner of an axis registers the axis, advances it as work retires, and retires or fails it at the end. Through
 * {@link #completed} others find out whether memory may be reused and which entries of a frontier are obsolete.
 *
 * <p>Axes are never removed, at about a hundred bytes each: a frontier mentioning an axis may appear at any time. Safe
 * from any thread. Memory: everything done before {@code advance(a, e)} is visible to a thread that sees {@code e}
 * completed, and to callbacks for {@code e}.
 */
@NotForApplications
public final class FrontierTracker implements CompletedEpochs, AutoCloseable {
    /*
     * Epochs advance without the lock; `lock` guards the lists of waiters, the ends of axes and closing. A waiter
     * watches a single axis at a time (see FrontierWaiter), so advancing an axis touches only the waiters for the
     * epochs reached, and takes the lock only when there are any. Callbacks run after the lock is released, through
     * Callbacks, which flattens recursion.
     *
     * TRACK-1: a thread that sees an epoch completed sees all writes before advance() (compare-and-set and acquiring
     * read of the epoch).
     * TRACK-2: a waiter that registers while its last missing epoch arrives is called (see TrackedAxis).
     * TRACK-3: a waiter is called or cancelled, exactly once (unlinked under `lock`, called outside it).
     */
    private final Object lock = new Object();
    private final AxisTable axes = new AxisTable();
    private final WatchedAxes watched = new WatchedAxes(); // guarded by lock
    private volatile boolean closed; // written under the lock

    private FrontierTracker() {}

    /**
     * Creates a tracker without axes.
     *
     * @return the tracker; the caller closes it
     */
    public static FrontierTracker create() {
        return new FrontierTracker();
    }

    /**
     * Registers an axis, at epoch 0.
     *
     * @param axis the axis
     * @throws IreeException ALREADY_EXISTS when the axis is registered; INVALID_ARGUMENT for an invalid axis;
     *     FAILED_PRECONDITION after closing
     */
    public void register(long axis) {
        if (!Axis.isValid(axis)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "0x" + Long.toHexString(axis) + " is not an axis: no such session or domain");
        }
        synchronized (lock) {
            checkOpen("register axis '" + Axis.toString(axis) + "'");
            if (axes.findAcquire(axis) != null) {
                throw IreeException.of(
                        StatusCode.ALREADY_EXISTS,
                        "axis '" + Axis.toString(axis) + "' is registered already; an axis has one owner");
            }
            axes.addRelease(new TrackedAxis(axis, watched));
        }
    }

    /**
     * Returns whether an axis is registered. Does not lock.
     *
     * @param axis the axis
     * @return true for ever once it was registered
     */
    public boolean isRegistered(long axis) {
        return axes.findAcquire(axis) != null;
    }

    /**
     * Returns the completed epoch of an axis; a failed or retired axis keeps its epoch. Does not lock.
     *
     * @param axis the axis, registered or not
     * @return the greatest epoch that the axis was advanced to, 0 for an unknown axis
     */
    @Override
    public long completed(long axis) {
        TrackedAxis tracked = axes.findAcquire(axis);
        return tracked == null ? 0 : tracked.epochAcquire(); // TRACK-1
    }

    /**
     * Advances an axis: everything on the axis up to the epoch has retired. Epochs not above the current epoch are
     * ignored, so completions may report in any order. Does not lock unless the epoch makes a waiter due. Allowed after
     * closing and after the axis ended, because completions may be late.
     *
     * @param axis the axis
     * @param epoch its epoch
     * @throws IreeException NOT_FOUND when the axis is unknown
     */
    public void advance(long axis, long epoch) {
        TrackedAxis tracked = find(axis);
        long current;
        do {
            current = tracked.epochVolatile();
            if (epoch <= current) {
                return;
            }
        } while (!tracked.casEpoch(current, epoch)); // TRACK-1
        if (tracked.wantedVolatile() <= epoch) { // TRACK-2
            deliverReached(tracked);
        }
    }

    /**
     * Calls back once everything asserted by a frontier has completed, or a mentioned axis has failed: on this thread
     * if either has happened already, else on the causing thread. The contract of {@link Timepoint} holds for the
     * callback, which receives the failure or null.
     *
     * <p>Failure takes precedence: a frontier mentioning a failed axis has failed, even if the epoch was reached
     * before. An entry lost by the frontier fails nothing: then the later producer ends the wait. A tainted frontier
     * without a producer asserts more than its entries, so its completion cannot be determined.
     *
     * @param frontier the frontier waited for
     * @param callback the callback
     * @return cancels the callback
     * @throws IreeException NOT_FOUND when the frontier mentions an unknown axis; FAILED_PRECONDITION when the frontier
     *     is tainted and has no producer, or after closing
     */
    public Cancellation whenCompleted(Frontier frontier, Consumer<@Nullable IreeException> callback) {
        return register(new FrontierWaiter(this, frontier, false, callback));
    }

    /**
     * Reports that on a failing or failed axis nothing up to an epoch is in flight any more. The work has not
     * completed, and its dependencies may still be in flight; only {@link #isComplete} and {@link #whenOver} use this
     * report. Epochs not above the current quiet epoch are ignored.
     *
     * @param axis the axis
     * @param epoch its epoch
     * @throws IreeException NOT_FOUND when the axis is unknown
     */
    public void quiesce(long axis, long epoch) {
        TrackedAxis tracked = find(axis);
        DueWaiters due = new DueWaiters();
        synchronized (lock) {
            if (epoch <= tracked.quiesced) {
                return;
            }
            tracked.quiesced = epoch; // TRACK-5
            for (FrontierWaiter waiter = tracked.head; waiter != null && waiter.missing <= epoch; ) {
                FrontierWaiter following = waiter.next;
                if (waiter.throughFailure) {
                    tracked.unlink(waiter);
                    if (settle(waiter)) {
                        due.add(waiter, waiter.failure);
                    }
                }
                waiter = following;
            }
        }
        due.deliver();
    }

    /**
     * Returns whether nothing asserted by a frontier is in flight any more: everything has completed or is on a failed
     * and quiet axis.
     *
     * @param frontier the frontier
     * @return true if so; false when unknown, for example when the frontier is tainted and its producer's axis has
     *     failed
     */
    public boolean isComplete(Frontier frontier) {
        if (frontier.isCompleted(this)) {
            return true;
        }
        if (frontier.isTainted()) {
            return false;
        }
        for (int i = 0; i < frontier.size(); i++) {
            TrackedAxis tracked = axes.findAcquire(frontier.axis(i));
            if (tracked == null || !isComplete(tracked, frontier.epoch(i))) {
                return false;
            }
        }
        return true;
    }

    private static boolean isComplete(TrackedAxis tracked, long epoch) {
        return tracked.epochVolatile() >= epoch || tracked.quiesced >= epoch; // TRACK-5
    }

    /**
     * Calls back once {@link #isComplete} is true of a frontier: like {@link #whenCompleted}, but a failed axis does
     * not end the wait, because its work may still be running. For callers that need to know when memory is no longer
     * accessed. An axis retired before reaching the awaited epoch does end the wait.
     *
     * @param frontier the frontier waited for
     * @param callback receives null, or CANCELLED when the end can never be known
     * @return cancels the callback
     * @throws IreeException as {@link #whenCompleted}
     */
    public Cancellation whenOver(Frontier frontier, Consumer<@Nullable IreeException> callback) {
        return register(new FrontierWaiter(this, frontier, true, callback));
    }

    private Cancellation register(FrontierWaiter waiter) {
        Frontier frontier = waiter.frontier;
        if (!closed && hasCompleted(frontier)) {
            Callbacks.run(waiter);
            return waiter;
        }
        synchronized (lock) {
            checkOpen("wait for " + frontier);
            if (frontier.isTainted() && !frontier.hasProducer()) {
                throw IreeException.of(
                        StatusCode.FAILED_PRECONDITION,
                        "frontier " + frontier
                                + " cannot be waited for: what it lost is unknown and it has no producer;"
                                + " wait for the semaphore that carries it");
            }
            for (int i = 0; i < frontier.size(); i++) {
                find(frontier.axis(i));
            }
            if (!settle(waiter)) {
                return waiter;
            }
        }
        Callbacks.run(waiter);
        return waiter;
    }

    /**
     * Ends an axis because its work is lost: all current waiters for a frontier mentioning the axis receive the cause
     * at once, and so do all future waiters. Ignored if the axis has ended before.
     *
     * @param axis the axis
     * @param cause the cause of the loss
     * @throws IreeException NOT_FOUND when the axis is unknown
     */
    public void fail(long axis, IreeException cause) {
        end(axis, Objects.requireNonNull(cause, "cause"), true);
    }

    /**
     * Ends an axis in an orderly way, because its owner is gone: reached epochs stay reached, and current and future
     * waiters for later epochs get CANCELLED. Ignored if the axis has ended before.
     *
     * @param axis the axis
     * @throws IreeException NOT_FOUND when the axis is unknown
     */
    public void retire(long axis) {
        end(axis, TrackedAxis.RETIRED, false);
    }

    /**
     * Returns the failure of an axis.
     *
     * @param axis the axis
     * @return the cause; null when the axis has not failed, was retired, or is unknown
     */
    public @Nullable IreeException failure(long axis) {
        TrackedAxis tracked = axes.findAcquire(axis);
        if (tracked == null) {
            return null;
        }
        IreeException ended = tracked.ended;
        return ended != null && tracked.lost ? ended : null;
    }

    /** Closes the tracker: all remaining waiters get CANCELLED. {@link #completed} still works. */
    @Override
    public void close() {
        DueWaiters due = new DueWaiters();
        synchronized (lock) {
            if (closed) {
                return;
            }
            closed = true;
            IreeException cause =
                    IreeException.of(StatusCode.CANCELLED, "frontier tracker was closed before the frontier completed");
            watched.forEach(axis -> {
                for (FrontierWaiter waiter; (waiter = axis.head) != null; ) {
                    axis.unlink(waiter);
                    due.add(waiter, cause);
                }
            });
        }
        due.deliver();
    }

    boolean cancel(FrontierWaiter waiter) {
        synchronized (lock) {
            TrackedAxis watched = waiter.watched;
            if (watched == null || waiter.frontier.isCompleted(this)) {
                return false; // called, or due: the completing thread is about to call it
            }
            watched.unlink(waiter); // TRACK-3
            return true;
        }
    }

    private void deliverReached(TrackedAxis tracked) {
        DueWaiters due = new DueWaiters();
        synchronized (lock) {
            for (FrontierWaiter waiter;
                    (waiter = tracked.head) != null && waiter.missing <= tracked.epochVolatile(); ) {
                tracked.unlink(waiter);
                if (settle(waiter)) {
                    due.add(waiter, waiter.failure);
                }
            }
        }
        due.deliver();
    }

    private void end(long axis, IreeException cause, boolean lost) {
        TrackedAxis tracked = find(axis);
        DueWaiters due = new DueWaiters();
        synchronized (lock) {
            if (tracked.ended != null) {
                return;
            }
            tracked.end(cause, lost);
            watched.forEach(other -> {
                for (FrontierWaiter waiter = other.head; waiter != null; ) {
                    FrontierWaiter following = waiter.next;
                    long needed = waiter.frontier.epochOf(axis);
                    if (needed > (lost ? 0 : tracked.epochVolatile()) && !(lost && waiter.throughFailure)) {
                        other.unlink(waiter);
                        due.add(waiter, tracked.failure(cause));
                    }
                    waiter = following;
                }
            });
        }
        due.deliver();
    }

    /** Returns whether a wait for the frontier would succeed at once, without the lock. Conservative: false when in doubt. */
    private boolean hasCompleted(Frontier frontier) {
        for (int i = 0; i < frontier.size(); i++) {
            TrackedAxis tracked = axes.findAcquire(frontier.axis(i));
            if (tracked == null || tracked.ended != null || tracked.epochAcquire() < frontier.epoch(i)) {
                return false;
            }
        }
        return !frontier.isTainted();
    }

    /**
     * Under the lock: determines whether an unlinked waiter is due, and with which failure; links a waiter that is not
     * due to a missing axis.
     *
     * @return whether the waiter is due
     */
    private boolean settle(FrontierWaiter waiter) {
        Frontier frontier = waiter.frontier;
        for (int i = 0; i < frontier.size(); i++) {
            TrackedAxis tracked = find(frontier.axis(i));
            IreeException ended = tracked.ended;
            if (ended != null
                    && (tracked.lost ? !waiter.throughFailure : tracked.epochVolatile() < frontier.epoch(i))) {
                waiter.failure = tracked.failure(ended);
                return true;
            }
        }
        if (frontier.hasProducer()) {
            long epoch = frontier.producerEpoch();
            if (!waiter.throughFailure
                    || !isLost(find(frontier.producerAxis()), epoch)) { // the producer completes after all others
                return reached(waiter, frontier.producerAxis(), epoch);
            }
            if (frontier.isTainted()) { // the dependencies are incomplete
                waiter.failure = IreeException.of(
                        StatusCode.CANCELLED, "frontier " + frontier + " was lost with the axis that produced it");
                return true;
            }
        }
        for (int i = 0; i < frontier.size(); i++) {
            if (!reached(waiter, frontier.axis(i), frontier.epoch(i))) {
                return false;
            }
        }
        return true;
    }

    private boolean reached(FrontierWaiter waiter, long axis, long epoch) {
        TrackedAxis tracked = find(axis);
        if (tracked.epochVolatile() >= epoch || waiter.throughFailure && isComplete(tracked, epoch)) {
            return true;
        }
        tracked.link(waiter, epoch);
        if (tracked.epochVolatile() < epoch) { // TRACK-2: check again once linked
            return false;
        }
        tracked.unlink(waiter);
        return true;
    }

    /** Returns whether an operation will not complete; under the lock. The operation's queue may report quiet before the axis fails. TRACK-5. */
    private static boolean isLost(TrackedAxis tracked, long epoch) {
        return tracked.lost || tracked.quiesced >= epoch && tracked.epochVolatile() < epoch;
    }

    private TrackedAxis find(long axis) {
        TrackedAxis tracked = axes.findAcquire(axis);
        if (tracked == null) {
            throw IreeException.of(
                    StatusCode.NOT_FOUND,
                    "axis '" + Axis.toString(axis)
                            + "' is not known here; register it before it is advanced or waited for");
        }
        return tracked;
    }

    private void checkOpen(String doing) {
        if (closed) {
            throw IreeException.of(StatusCode.FAILED_PRECONDITION, "cannot " + doing + ": frontier tracker is closed");
        }
    }

    /** A chain of waiters to call, in order, once the lock is released. */
    private static final class DueWaiters {
        private @Nullable FrontierWaiter first;
        private @Nullable FrontierWaiter last;

        void add(FrontierWaiter waiter, @Nullable IreeException failure) {
            waiter.failure = failure;
            if (last == null) {
                first = waiter;
            } else {
                last.due = waiter;
            }
            last = waiter;
        }

        void deliver() {
            if (first != null) {
                Callbacks.run(first);
            }
        }
    }
}
