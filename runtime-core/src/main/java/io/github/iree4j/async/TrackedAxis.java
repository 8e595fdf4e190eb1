package io.github.iree4j.async;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/** The epoch of an axis, and the waiters for later epochs. */
final class TrackedAxis {
    /*
     * epoch   advances by compare-and-set, from any thread, without the lock
     * wanted  the smallest epoch missed by a waiter in the list, NO_WAITER when there is none; written under the
     *         tracker's lock
     * list    waiters in ascending order of the missed epoch; guarded by the tracker's lock
     * ended   written once, under the tracker's lock, after lost; read anywhere
     *
     * TRACK-2: advance() writes epoch and then reads wanted; a wait writes wanted and then reads epoch. At least one of
     * the two sees the other's write, so no wakeup is lost. Acquire and release do not provide the store-load ordering
     * needed here: all four accesses are volatile.
     * TRACK-6: a thread seeing the end of an axis sees whether the axis was lost: `lost` is written before `ended`.
     */
    static final long NO_WAITER = Long.MAX_VALUE;

    /** Marks an axis as retired. Each waiter gets a new exception: axes stay forever, so they share this small mark. */
    static final IreeException RETIRED = IreeException.of(StatusCode.CANCELLED, "axis was retired");

    private static final VarHandle EPOCH;

    static {
        try {
            EPOCH = MethodHandles.lookup().findVarHandle(TrackedAxis.class, "epoch", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final long axis;

    private volatile long epoch;
    private volatile long wanted = NO_WAITER;

    private final WatchedAxes watched; // contains this axis while there are waiters

    @Nullable
    TrackedAxis precedingWatched;

    @Nullable
    TrackedAxis followingWatched;

    @Nullable
    FrontierWaiter head;

    @Nullable
    FrontierWaiter tail;

    /** The reason why no more epochs will follow, or null. */
    volatile @Nullable IreeException ended;

    /** On a failed axis, the epoch up to which nothing is in flight any more. Written under the tracker's lock, read anywhere. */
    volatile long quiesced;

    /** Whether the end fails waits for reached epochs too. Read after ended. */
    boolean lost;

    TrackedAxis(long axis, WatchedAxes watched) {
        this.axis = axis;
        this.watched = watched;
    }

    /** Returns the failure for a waiter when the axis has ended for the given reason. */
    @SuppressWarnings("ReferenceEquality") // compared with a mark
    IreeException failure(IreeException how) {
        return how != RETIRED
                ? how
                : IreeException.of(
                        StatusCode.CANCELLED,
                        "axis '" + Axis.toString(axis) + "' was retired at epoch " + epoch
                                + "; nothing more happens on it");
    }

    long epochVolatile() {
        return epoch;
    }

    /** Acquire: everything written before the epoch was reached is visible after this read. */
    long epochAcquire() {
        return (long) EPOCH.getAcquire(this);
    }

    /** Ends the axis, once; under the lock. */
    void end(IreeException how, boolean isLost) {
        lost = isLost;
        ended = how; // TRACK-6
    }

    boolean casEpoch(long expected, long next) {
        return EPOCH.compareAndSet(this, expected, next);
    }

    long wantedVolatile() {
        return wanted;
    }

    private void wantedVolatile(long next) {
        wanted = next;
    }

    /** Inserts in ascending order, searching from the end, where new waits nearly always belong; under the lock. */
    void link(FrontierWaiter waiter, long missing) {
        waiter.watched = this;
        waiter.missing = missing;
        FrontierWaiter before = tail;
        while (before != null && before.missing > missing) {
            before = before.previous;
        }
        FrontierWaiter after = before == null ? head : before.next;
        waiter.previous = before;
        waiter.next = after;
        if (before == null) {
            head = waiter;
            wantedVolatile(missing); // TRACK-2
        } else {
            before.next = waiter;
        }
        if (after == null) {
            tail = waiter;
        } else {
            after.previous = waiter;
        }
        if (before == null && after == null) {
            watched.add(this);
        }
    }

    /** Unlinks a waiter of this axis; the caller then owns the waiter. Under the lock. */
    void unlink(FrontierWaiter waiter) {
        waiter.watched = null; // TRACK-3
        if (waiter.previous == null) {
            head = waiter.next;
            wantedVolatile(head == null ? NO_WAITER : head.missing);
        } else {
            waiter.previous.next = waiter.next;
        }
        if (waiter.next == null) {
            tail = waiter.previous;
        } else {
            waiter.next.previous = waiter.previous;
        }
        waiter.previous = null;
        waiter.next = null;
        if (head == null) {
            watched.remove(this);
        }
    }
}
