package io.github.iree4j.async;

import io.github.iree4j.frontier.Frontier;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A timeline's value, and the knowledge about its values: the frontiers of the last signals, and promises. A part of the
 * {@link TimelineSemaphore}, to save a compiled program the objects: each call makes several timelines.
 *
 * <p>Changes only under the lock. {@link #knownAcquire} takes no lock, {@link #find} only after repeated conflicts.
 */
abstract class SignalHistory extends BriefLock {
    /*
     *   initial ........... known .......... top ............
     *             reached records          outside      promises
     *
     * reached   the last `capacity` signals, ascending, all in (initial, known]. Consecutive signals with an empty
     *           frontier share a record, at the last of their values: the answer is the same for each.
     * known     the watermark: values above it up to top were signalled externally. An internal signal moves the
     *           watermark to top, past any external values; a wait for such a value gets the record of the internal
     *           signal, true but less tight.
     * top       the timeline's value; hidden while the semaphore changes together with others, see TimelineSemaphore
     * promised  ascending, all above top; an entry is the frontier of the operation due to signal, or an external
     *           primitive to wait for. Removed when the value is reached or passed, or the promise is withdrawn.
     *
     * A wait for v is answered by the first record at or above v. For v <= known this is a reached record, because the
     * newest record is at `known`.
     *
     * brief     while a single queue uses the timeline there are no tables, only `done`, the record of the last signal, and
     *           `next`, the last promise; earlier records are dropped. Dropped signals cost nothing, since their
     *           operations have ended: the queue reports an operation as completed before signalling. Dropped promises
     *           set `incomplete`, and the queue repeats them. Ends for good when another party uses the timeline, or in
     *           case of an order that two records cannot represent.
     *
     * SCOPE-1: a brief history answers with the record of a signal, or promise, at or above the requested value: true
     * but less tight.
     * SEM-4: a lookup is atomic. `version` is odd during a change; readers accept a read only if `version` was even and
     * the same before and after. Frontiers are immutable with final fields, so a racy read of a reference is harmless.
     * SEM-5: a thread that has seen the value finds its record, and a thread that has found a record finds the value
     * reached: the value is written during the change, so a lookup either ends before the write or waits
     * for the end of the change.
     */
    private static final int TRIES = 8;

    private static final VarHandle VERSION;
    private static final VarHandle KNOWN;
    private static final VarHandle TABLES;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            VERSION = lookup.findVarHandle(SignalHistory.class, "version", int.class);
            KNOWN = lookup.findVarHandle(SignalHistory.class, "known", long.class);
            TABLES = lookup.findVarHandle(SignalHistory.class, "tables", SignalTables.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** The timeline's value, see {@link TimelineSemaphore}; its complement while hidden. */
    volatile long value;

    /** The first value, the scope and the size of the history; often shared by all timelines of a device. */
    final SemaphoreOptions options;

    private int version; // only through VERSION
    private long known; // written through KNOWN
    private @Nullable SignalTables tables; // null while brief; written through TABLES
    private boolean incomplete; // under the lock
    private @Nullable Frontier done; // while brief, like the next two
    private @Nullable Frontier next;
    private long nextValue;

    SignalHistory(SemaphoreOptions options) {
        long initial = options.initialValue();
        this.options = options;
        this.known = initial;
        if (initial != 0) { // a volatile write costs a fence
            this.value = initial;
        }
    }

    private long top() {
        long now = value;
        return now < 0 ? ~now : now;
    }

    private @Nullable SignalTables tablesAcquire() {
        return (SignalTables) TABLES.getAcquire(this);
    }

    /** Returns the watermark: higher reached values were signalled externally. */
    final long knownAcquire() {
        return (long) KNOWN.getAcquire(this);
    }

    /** Fills in the knowledge about a value; false, and {@code out} is undefined, when the value is neither reached nor promised. */
    final boolean find(long minimum, SignalRecord out) {
        for (int i = 0; i < TRIES; i++) {
            int before = (int) VERSION.getAcquire(this); // SEM-4
            if ((before & 1) == 0) {
                boolean found = read(minimum, out);
                VarHandle.loadLoadFence();
                if (before == (int) VERSION.getOpaque(this)) {
                    return found;
                }
            }
            Thread.onSpinWait();
        }
        lock();
        try {
            return read(minimum, out);
        } finally {
            unlock();
        }
    }

    /** Returns whether a value is reached or promised; under the lock. */
    final boolean isKnown(long minimum) {
        SignalTables full = tables;
        return minimum <= top()
                || next != null && nextValue >= minimum
                || full != null && full.lastPromise() >= minimum;
    }

    /** Returns whether exactly this value is promised; under the lock. Call {@link #extend} first: a brief history does not know. */
    final boolean isPromised(long exactly) {
        SignalTables full = tables;
        return full != null && full.isPromised(exactly);
    }

    /** Reads under the lock, or racing with a change: the result is then garbage, but the method returns. */
    private boolean read(long minimum, SignalRecord out) {
        SignalTables full = tablesAcquire();
        long top = top();
        if (minimum <= top) {
            if (minimum > known) {
                out.setReachedFromOutside(top);
            } else if (minimum <= options.initialValue()) {
                out.setReached(options.initialValue(), Frontier.EMPTY);
            } else if (full != null) {
                full.readReached(minimum, out);
            } else {
                Frontier last = done;
                if (last != null) { // null only in a race
                    out.setReached(top, last);
                }
            }
            return true;
        }
        if (full != null) {
            return full.readPromised(minimum, out);
        }
        Frontier coming = next;
        if (coming == null || minimum > nextValue) {
            return false;
        }
        out.setPromised(nextValue, coming);
        return true;
    }

    private void beginChange() {
        VERSION.setOpaque(this, version + 1 | 1); // odd even if an earlier change died of OutOfMemoryError
        VarHandle.storeStoreFence();
    }

    /** Ends a change; lookups proceed. */
    final void endChange() {
        VERSION.setRelease(this, version + 1); // SEM-4
    }

    /**
     * Begins to record an internal signal; the value and {@link #endChange} must follow. The value is above top.
     *
     * @param own whether the signal comes from the only queue using the timeline
     */
    final void beginSignal(long reached, Frontier frontier, boolean own) {
        SignalTables full = tables;
        if (full == null && !isInBrief(frontier, own)) {
            full = extend();
        }
        beginChange();
        if (full == null) {
            if (next != null && nextValue <= reached) {
                next = null;
                incomplete = false;
            }
            done = frontier;
        } else {
            full.keepPassed(reached, frontier);
            full.add(reached, frontier);
        }
        KNOWN.setRelease(this, reached);
    }

    /** Begins to record an external signal; the value and {@link #endChange} must follow. The value is above top. */
    final void beginSignalFromOutside(long reached) {
        SignalTables full = extend();
        beginChange();
        full.dropPromisesUpTo(reached);
    }

    /** Drops the records above a value. */
    final void dropKnowledgeAbove(long last) {
        SignalTables full = extend();
        beginChange();
        long remains = full.dropReachedAbove(last);
        KNOWN.setRelease(this, Math.min(known, Math.min(last, remains)));
        endChange();
    }

    /**
     * Records a promise; false when the value is reached, or promised already.
     *
     * @param own whether the promise comes from the only queue using the timeline
     */
    final boolean promised(long coming, Object entry, boolean own) {
        if (coming <= top()) {
            return false;
        }
        if (tables == null && own && entry instanceof Frontier frontier && (next == null || coming > nextValue)) {
            beginChange();
            incomplete |= next != null;
            next = frontier;
            nextValue = coming;
            endChange();
            return true;
        }
        SignalTables full = extend();
        int place = full.placeOf(coming);
        if (place < 0) {
            return false;
        }
        beginChange();
        full.promise(place, coming, entry);
        endChange();
        return true;
    }

    /** Returns whether a promise follows a higher promise, which a brief history cannot represent; for the only queue using the timeline. */
    final boolean isOutOfOrder(long coming) {
        return next != null && coming <= nextValue;
    }

    /** Switches from the brief to the full history, and returns the tables; under the lock. */
    final SignalTables extend() {
        SignalTables full = tables;
        if (full != null) {
            return full;
        }
        full = new SignalTables(options.initialValue(), options.historyCapacity());
        Frontier last = done;
        Frontier coming = next;
        if (last != null) {
            full.add(known, last);
        }
        if (coming != null) {
            full.promise(0, nextValue, coming);
        }
        beginChange();
        done = null;
        next = null;
        TABLES.setRelease(this, full);
        endChange();
        return full;
    }

    /** Returns whether promises were dropped and have to be recalled from their queue; under the lock. */
    final boolean isIncomplete() {
        return incomplete;
    }

    /** Notes the repetition of all dropped promises; under the lock. */
    final void complete() {
        incomplete = false;
    }

    /** Returns the promises of a queue; under the lock. */
    final List<Frontier> promisesOf(long axis) {
        SignalTables full = tables;
        return full == null ? List.of() : full.promisesOf(axis);
    }

    /** Returns the number of records in the tables; under the lock. */
    final int size() {
        SignalTables full = tables;
        return full == null ? 0 : full.size();
    }

    /** Returns whether a single record can represent a signal: the only queue's next signal, or an empty frontier after only empty frontiers. */
    @SuppressWarnings("ReferenceEquality") // EMPTY is a single object
    private boolean isInBrief(Frontier frontier, boolean own) {
        if (own) {
            return done != Frontier.EMPTY;
        }
        return frontier == Frontier.EMPTY && next == null && (done == null || done == frontier);
    }

    /** Drops a promise if its entry is the given entry. */
    final void withdrawn(long coming, Object entry) {
        SignalTables full = tables;
        int place = full == null ? -1 : full.placeOf(coming, entry);
        if (full != null && place >= 0) {
            beginChange();
            full.withdraw(place);
            endChange();
        }
    }
}
