package io.github.iree4j.async;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.Known;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A timeline's knowledge about its values: the frontiers of the last signals, and promises.
 *
 * <p>Changes only under the semaphore's lock. {@link #knownAcquire} takes no lock, {@link #lookup} only after repeated
 * conflicts.
 */
final class SignalHistory {
    /*
     *   initial ........... known .......... top ............
     *             reached records          outside      promises
     *
     * reached   the last `capacity` signals, ascending, all in (initial, known]. Consecutive signals with an empty
     *           frontier share a record, at the last of their values: the answer is the same for each.
     * known     the watermark: values above it up to top were signalled externally. An internal signal moves the
     *           watermark to top, past any external values; a wait for such a value gets the record of the internal
     *           signal, true but less tight.
     * top       the timeline's value
     * promised  ascending, all above top; an entry is the frontier of the operation due to signal, or an external
     *           primitive to wait for. Removed when the value is reached or passed, or the promise is withdrawn.
     *
     * A wait for v is answered by the first record at or above v. For v <= known this is a reached record, because the
     * newest record is at `known`.
     *
     * brief     while a single queue uses the timeline there are no tables, only `done`, the last reached record, and
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
     * reached: the semaphore's value is written during the change, so a lookup either ends before the write or waits
     * for the end of the change.
     */
    private static final int TRIES = 8;

    private static final VarHandle VERSION;
    private static final VarHandle KNOWN;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            VERSION = lookup.findVarHandle(SignalHistory.class, "version", long.class);
            KNOWN = lookup.findVarHandle(SignalHistory.class, "known", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Parallel arrays of values and their entries, behind a single field: a single read gets both. */
    private static final class Table {
        static final Table NONE = new Table(1);

        final long[] values;
        final @Nullable Object[] entries;

        Table(int length) {
            values = new long[length];
            entries = new @Nullable Object[length];
        }

        void move(int from, Table to, int at, int count) {
            System.arraycopy(values, from, to.values, at, count);
            System.arraycopy(entries, from, to.entries, at, count);
        }

        void set(int index, long value, @Nullable Object entry) {
            values[index] = value;
            entries[index] = entry;
        }
    }

    private final int capacity;
    private final long initial;
    private long version; // only through VERSION
    private long known; // written through KNOWN
    private long top;
    private Table reached = Table.NONE; // a ring with a power of two as length
    private int reachedFirst;
    private int reachedCount;
    private Table promised = Table.NONE; // from promisedFirst on
    private int promisedFirst;
    private int promisedCount;
    private boolean brief = true; // under the lock, like `incomplete`
    private boolean incomplete;
    private @Nullable Frontier done;
    private long doneValue;
    private @Nullable Frontier next;
    private long nextValue;

    SignalHistory(long initialValue, int capacity) {
        this.capacity = capacity;
        this.initial = initialValue;
        this.known = initialValue;
        this.top = initialValue;
    }

    /** Returns the watermark: higher reached values were signalled externally. */
    long knownAcquire() {
        return (long) KNOWN.getAcquire(this);
    }

    /** Fills in the knowledge about a value; false, and {@code out} is undefined, when the value is neither reached nor promised. */
    boolean lookup(long value, SignalRecord out, BriefLock lock) {
        for (int i = 0; i < TRIES; i++) {
            long before = (long) VERSION.getAcquire(this); // SEM-4
            if ((before & 1) == 0) {
                boolean found = read(value, out);
                VarHandle.loadLoadFence();
                if (before == (long) VERSION.getOpaque(this)) {
                    return found;
                }
            }
            Thread.onSpinWait();
        }
        lock.lock();
        try {
            return read(value, out);
        } finally {
            lock.unlock();
        }
    }

    /** Returns whether a value is reached or promised; under the lock. */
    boolean isKnown(long value) {
        return value <= top
                || next != null && nextValue >= value
                || promisedCount > 0 && promised.values[promisedFirst + promisedCount - 1] >= value;
    }

    /** Returns whether exactly this value is promised; under the lock. Call {@link #extend} first: a brief history does not know. */
    boolean isPromised(long value) {
        for (int i = promisedFirst; i < promisedFirst + promisedCount; i++) {
            if (promised.values[i] == value) {
                return true;
            }
        }
        return false;
    }

    /** Reads under the lock, or racing with a change: the result is then garbage, but the method returns. */
    private boolean read(long value, SignalRecord out) {
        if (value <= top) {
            if (value > known) {
                out.setReachedFromOutside(top);
            } else if (value <= initial) {
                out.setReached(initial, Frontier.EMPTY);
            } else {
                Frontier last = done;
                if (last == null) {
                    readReached(value, out);
                } else {
                    out.setReached(doneValue, last);
                }
            }
            return true;
        }
        Frontier coming = next;
        if (coming != null && value <= nextValue) {
            out.setPromised(nextValue, coming);
            return true;
        }
        Table table = promised;
        int first = promisedFirst;
        int low = first;
        int high = Math.min(first + promisedCount, table.values.length);
        int end = high;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (table.values[middle] < value) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if (low >= end) {
            return false;
        }
        Object entry = table.entries[low];
        if (entry != null) { // null only in a race
            out.setPromised(table.values[low], entry);
        }
        return true;
    }

    private void readReached(long value, SignalRecord out) {
        Table table = reached;
        int mask = table.values.length - 1;
        int first = reachedFirst;
        int high = reachedCount - 1; // invariant: at or above the value
        if (high > 0 && table.values[(first + high - 1) & mask] >= value) { // most waits are for the latest value
            int low = 0;
            high--;
            while (low < high) {
                int middle = (low + high) >>> 1;
                if (table.values[(first + middle) & mask] < value) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
        }
        int slot = (first + high) & mask;
        if (table.entries[slot] instanceof Frontier frontier) { // not only in a race
            out.setReached(table.values[slot], frontier);
        }
    }

    private void beginChange() {
        VERSION.setOpaque(this, version + 1 | 1); // odd even if an earlier change died of OutOfMemoryError
        VarHandle.storeStoreFence();
    }

    /** Ends a change; lookups proceed. */
    void endChange() {
        VERSION.setRelease(this, version + 1); // SEM-4
    }

    /**
     * Begins to record an internal signal; {@link #endChange} must follow. The value is above top.
     *
     * @param own whether the signal comes from the only queue using the timeline
     */
    void beginSignal(long value, Frontier frontier, boolean own) {
        if (brief && !isInBrief(frontier, own)) {
            extend();
        }
        beginChange();
        if (brief) {
            if (next != null && nextValue <= value) {
                next = null;
                incomplete = false;
            }
            done = frontier;
            doneValue = value;
        } else {
            if (promisedCount > 0) {
                keepPassed(value, frontier);
            }
            add(value, frontier);
        }
        KNOWN.setRelease(this, value);
        top = value;
    }

    /** Begins to record an external signal; {@link #endChange} must follow. The value is above top. */
    void beginSignalFromOutside(long value) {
        extend();
        beginChange();
        dropPromisesUpTo(value);
        top = value;
    }

    /** Drops the records above a value. */
    void taintAbove(long value) {
        extend();
        beginChange();
        int mask = reached.values.length - 1;
        while (reachedCount > 0 && reached.values[(reachedFirst + reachedCount - 1) & mask] > value) {
            reachedCount--;
            reached.entries[(reachedFirst + reachedCount) & mask] = null;
        }
        long remains = reachedCount == 0 ? initial : reached.values[(reachedFirst + reachedCount - 1) & mask];
        KNOWN.setRelease(this, Math.min(known, Math.min(value, remains)));
        endChange();
    }

    /**
     * Records a promise; false when the value is reached, or promised already.
     *
     * @param own whether the promise comes from the only queue using the timeline
     */
    boolean promised(long value, Object entry, boolean own) {
        if (value <= top) {
            return false;
        }
        if (brief) {
            if (own && entry instanceof Frontier frontier && (next == null || value > nextValue)) {
                beginChange();
                incomplete |= next != null;
                next = frontier;
                nextValue = value;
                endChange();
                return true;
            }
            extend();
        }
        int at = promisedFirst + promisedCount; // nearly always the end
        while (at > promisedFirst && promised.values[at - 1] > value) {
            at--;
        }
        if (at > promisedFirst && promised.values[at - 1] == value) {
            return false;
        }
        beginChange();
        int offset = at - promisedFirst;
        if (promisedFirst + promisedCount == promised.values.length || promised == Table.NONE) {
            makeRoom();
        }
        at = promisedFirst + offset;
        promised.move(at, promised, at + 1, promisedCount - offset);
        promised.set(at, value, entry);
        promisedCount++;
        endChange();
        return true;
    }

    /** Returns whether a promise follows a higher promise, which a brief history cannot represent; for the only queue using the timeline. */
    boolean isOutOfOrder(long value) {
        return next != null && value <= nextValue;
    }

    /** Switches from the brief to the full history; under the lock. */
    void extend() {
        if (!brief) {
            return;
        }
        brief = false;
        Frontier last = done;
        Frontier coming = next;
        if (last == null && coming == null) {
            return;
        }
        beginChange();
        done = null;
        next = null;
        if (last != null) {
            add(doneValue, last);
        }
        if (coming != null) {
            makeRoom();
            promised.set(0, nextValue, coming);
            promisedCount = 1;
        }
        endChange();
    }

    /** Returns whether promises were dropped and have to be recalled from their queue; under the lock. */
    boolean isIncomplete() {
        return incomplete;
    }

    /** Notes the repetition of all dropped promises; under the lock. */
    void complete() {
        incomplete = false;
    }

    /** Returns the promises of a queue; under the lock. */
    List<Frontier> promisesOf(long axis) {
        List<Frontier> all = new ArrayList<>(promisedCount);
        for (int i = promisedFirst; i < promisedFirst + promisedCount; i++) {
            if (promised.entries[i] instanceof Frontier frontier && frontier.producerAxis() == axis) {
                all.add(frontier);
            }
        }
        return all;
    }

    /** Returns the number of records in the tables; under the lock. */
    int size() {
        return reachedCount + promisedCount;
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
    @SuppressWarnings("ReferenceEquality") // not another promise of the same value
    void withdrawn(long value, Object entry) {
        for (int i = promisedFirst; i < promisedFirst + promisedCount; i++) {
            if (promised.values[i] == value && promised.entries[i] == entry) {
                beginChange();
                promised.move(i + 1, promised, i, promisedFirst + promisedCount - i - 1);
                promised.entries[promisedFirst + --promisedCount] = null;
                endChange();
                return;
            }
        }
    }

    private void makeRoom() {
        Table room = promisedCount * 2 <= promised.values.length && promised != Table.NONE
                ? promised
                : new Table(Math.max(4, promised.values.length * 2));
        promised.move(promisedFirst, room, 0, promisedCount);
        if (room == promised) {
            Arrays.fill(room.entries, promisedCount, room.entries.length, null);
        }
        promised = room;
        promisedFirst = 0;
    }

    /**
     * Removes the promises up to a value reached by a signal. A promise passed without its own signal becomes a reached
     * record if the signal's frontier proves the end of the promised operation: a queue retiring several operations may
     * signal only the last. Without this proof, or if the frontier has lost the entry, the next record above answers
     * for the value: true but less tight.
     */
    private void keepPassed(long value, Frontier frontier) {
        while (promisedCount > 0 && promised.values[promisedFirst] <= value) {
            if (promised.values[promisedFirst] < value
                    && promised.entries[promisedFirst] instanceof Frontier passed
                    && frontier.reaches(passed.producerAxis(), passed.producerEpoch()) == Known.YES) {
                add(promised.values[promisedFirst], passed);
            }
            dropFirstPromise();
        }
    }

    private void dropPromisesUpTo(long value) {
        while (promisedCount > 0 && promised.values[promisedFirst] <= value) {
            dropFirstPromise();
        }
    }

    private void dropFirstPromise() {
        promised.entries[promisedFirst++] = null;
        if (--promisedCount == 0) {
            promisedFirst = 0;
        }
    }

    @SuppressWarnings("ReferenceEquality") // EMPTY is a single object
    private void add(long value, Frontier frontier) {
        int mask = reached.values.length - 1;
        if (reachedCount > 0 && frontier == Frontier.EMPTY) {
            int last = (reachedFirst + reachedCount - 1) & mask;
            if (reached.entries[last] == Frontier.EMPTY) {
                reached.values[last] = value;
                return;
            }
        }
        if (reachedCount == capacity) {
            reached.entries[reachedFirst] = null;
            reachedFirst = (reachedFirst + 1) & mask;
            reachedCount--;
        } else if (reached == Table.NONE || reachedCount == reached.values.length) {
            grow();
            mask = reached.values.length - 1;
        }
        reached.set((reachedFirst + reachedCount) & mask, value, frontier);
        reachedCount++;
    }

    private void grow() {
        int length = reached.values.length;
        Table larger = new Table(reached == Table.NONE ? 2 : length * 2);
        int head = Math.min(reachedCount, length - reachedFirst);
        reached.move(reachedFirst, larger, 0, head);
        reached.move(0, larger, head, reachedCount - head);
        reached = larger;
        reachedFirst = 0;
    }
}
