package io.github.iree4j.async;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.Known;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The tables of a full {@link SignalHistory}: the records of the last signals, and all promises. Changes only under the
 * lock of the history, within a change. A read may race with a change: the result is then garbage, but the method
 * returns.
 */
final class SignalTables {
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
    private Table reached = Table.NONE; // a ring with a power of two as length
    private int reachedFirst;
    private int reachedCount;
    private Table promised = Table.NONE; // from promisedFirst on
    private int promisedFirst;
    private int promisedCount;

    SignalTables(long initialValue, int capacity) {
        this.initial = initialValue;
        this.capacity = capacity;
    }

    /** Returns the largest promised value; below the initial value without a promise. */
    long lastPromise() {
        return promisedCount > 0 ? promised.values[promisedFirst + promisedCount - 1] : Long.MIN_VALUE;
    }

    /** Returns whether exactly this value is promised. */
    boolean isPromised(long value) {
        for (int i = promisedFirst; i < promisedFirst + promisedCount; i++) {
            if (promised.values[i] == value) {
                return true;
            }
        }
        return false;
    }

    /** Fills in the first promise at or above a value; false without such a promise. */
    boolean readPromised(long value, SignalRecord out) {
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

    /** Fills in the first signal at or above a value that is not above the last signal. */
    void readReached(long value, SignalRecord out) {
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

    /** Drops the records of signals above a value; returns the value of the last remaining record. */
    long dropReachedAbove(long value) {
        int mask = reached.values.length - 1;
        while (reachedCount > 0 && reached.values[(reachedFirst + reachedCount - 1) & mask] > value) {
            reachedCount--;
            reached.entries[(reachedFirst + reachedCount) & mask] = null;
        }
        return reachedCount == 0 ? initial : reached.values[(reachedFirst + reachedCount - 1) & mask];
    }

    /** Returns the place of a new promise, from the first; negative when the value is promised already. */
    int placeOf(long value) {
        int at = promisedFirst + promisedCount; // nearly always the end
        while (at > promisedFirst && promised.values[at - 1] > value) {
            at--;
        }
        if (at > promisedFirst && promised.values[at - 1] == value) {
            return -1;
        }
        return at - promisedFirst;
    }

    /** Records a promise at its {@linkplain #placeOf place}. */
    void promise(int place, long value, Object entry) {
        if (promisedFirst + promisedCount == promised.values.length || promised == Table.NONE) {
            makeRoom();
        }
        int at = promisedFirst + place;
        promised.move(at, promised, at + 1, promisedCount - place);
        promised.set(at, value, entry);
        promisedCount++;
    }

    /** Returns the place of a promise with exactly this entry, from the first; negative for none. */
    @SuppressWarnings("ReferenceEquality") // not another promise of the same value
    int placeOf(long value, Object entry) {
        for (int i = promisedFirst; i < promisedFirst + promisedCount; i++) {
            if (promised.values[i] == value && promised.entries[i] == entry) {
                return i - promisedFirst;
            }
        }
        return -1;
    }

    /** Drops the promise at a place. */
    void withdraw(int place) {
        int at = promisedFirst + place;
        promised.move(at + 1, promised, at, promisedCount - place - 1);
        promised.entries[promisedFirst + --promisedCount] = null;
    }

    /** Returns the promises of a queue. */
    List<Frontier> promisesOf(long axis) {
        List<Frontier> all = new ArrayList<>(promisedCount);
        for (int i = promisedFirst; i < promisedFirst + promisedCount; i++) {
            if (promised.entries[i] instanceof Frontier frontier && frontier.producerAxis() == axis) {
                all.add(frontier);
            }
        }
        return all;
    }

    /** Returns the number of records. */
    int size() {
        return reachedCount + promisedCount;
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
    void keepPassed(long value, Frontier frontier) {
        while (promisedCount > 0 && promised.values[promisedFirst] <= value) {
            if (promised.values[promisedFirst] < value
                    && promised.entries[promisedFirst] instanceof Frontier passed
                    && frontier.reaches(passed.producerAxis(), passed.producerEpoch()) == Known.YES) {
                add(promised.values[promisedFirst], passed);
            }
            dropFirstPromise();
        }
    }

    /** Removes the promises up to a value reached from outside. */
    void dropPromisesUpTo(long value) {
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

    /** Records a signal above all recorded signals. */
    @SuppressWarnings("ReferenceEquality") // EMPTY is a single object
    void add(long value, Frontier frontier) {
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
