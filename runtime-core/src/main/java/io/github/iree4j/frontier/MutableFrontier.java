package io.github.iree4j.frontier;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Arrays;

/**
 * A builder of frontiers: joins the frontiers of an operation's waits, then makes a snapshot with the operation's own
 * entry.
 *
 * <p>Joins follow {@link Frontier#merge(Frontier, int)}, with one addition: when entries do not fit, completed entries
 * are dropped first, without taint. Frontiers whose producer has completed add nothing at all.
 *
 * <p>Not thread-safe. Joining the same axes again, as queues do, allocates nothing; a snapshot allocates its epochs and
 * shares its axes with the previous snapshot.
 */
public final class MutableFrontier {
    /*
     * `shape`, an immutable frontier with stale epochs, has the axes; `epochs` has the current epochs, at the same
     * index. A change of axes creates a new shape. Snapshots share the shape's array of axes, so equal axes are mostly
     * identical.
     */

    /** Receives the evicted entries. */
    @FunctionalInterface
    interface Eviction {
        /** Called for an entry that did not fit. */
        void evicted(long axis, long epoch, CompletedEpochs completed);
    }

    private static final Eviction UNOBSERVED = (axis, epoch, completed) -> {};

    private final int capacity;
    private final Eviction eviction;
    private Frontier shape = Frontier.EMPTY;
    private long[] epochs = new long[0];
    private boolean tainted;

    /** Creates an empty frontier of the default capacity. */
    public MutableFrontier() {
        this(Frontier.DEFAULT_CAPACITY);
    }

    /**
     * Creates an empty frontier.
     *
     * @param capacity maximum number of entries, 1 to {@link Frontier#MAXIMUM_CAPACITY}
     * @throws IreeException INVALID_ARGUMENT when the capacity is out of range
     */
    public MutableFrontier(int capacity) {
        this(capacity, UNOBSERVED);
    }

    MutableFrontier(int capacity, Eviction eviction) {
        if (capacity < 1 || capacity > Frontier.MAXIMUM_CAPACITY) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "frontier capacity " + capacity + " is not within [1, " + Frontier.MAXIMUM_CAPACITY + "]");
        }
        this.capacity = capacity;
        this.eviction = eviction;
    }

    /**
     * Returns the number of entries.
     *
     * @return 0 to the capacity
     */
    public int size() {
        return epochs.length;
    }

    /**
     * Returns the known epoch of an axis.
     *
     * @param axis the axis
     * @return the epoch; 0 for an axis without an entry, which proves nothing
     */
    public long epochOf(long axis) {
        int index = shape.indexOf(axis);
        return index < 0 ? 0 : epochs[index];
    }

    /**
     * Returns whether a snapshot would be tainted.
     *
     * @return true if an entry was lost or a contribution was external
     */
    public boolean isTainted() {
        return tainted;
    }

    /** Taints this frontier by an external contribution. */
    public void taint() {
        tainted = true;
    }

    /** Removes the taint: all lost entries have completed. */
    void untaint() {
        tainted = false;
    }

    /** Removes everything, taint included. */
    public void clear() {
        shape = Frontier.EMPTY;
        epochs = new long[0];
        tainted = false;
    }

    /**
     * Joins a history.
     *
     * @param source the history; a tainted history taints this frontier
     */
    public void merge(Frontier source) {
        merge(source, CompletedEpochs.NONE);
    }

    /**
     * Joins a history unless completed.
     *
     * @param source the history; ignored when its producer has completed; a tainted history taints this frontier
     * @param completed the completed epochs
     */
    public void merge(Frontier source, CompletedEpochs completed) {
        if (source.isProducerCompleted(completed)) {
            return;
        }
        tainted |= source.isTainted();
        if (!source.raise(shape, epochs) && source.size() > 0) {
            union(source, completed, Axis.NONE);
        }
    }

    /**
     * Inserts or raises an entry.
     *
     * @param axis the axis
     * @param epoch the epoch, above 0
     * @param completed the completed epochs
     * @throws IreeException INVALID_ARGUMENT when there is no such axis or epoch
     */
    public void insertOrRaise(long axis, long epoch, CompletedEpochs completed) {
        raise(axis, epoch, completed, Axis.NONE);
    }

    /**
     * Inserts an operation's own entry and returns the operation's frontier. The own entry is not evicted, however
     * small.
     *
     * @param axis the axis of the queue that runs the operation
     * @param epoch the operation's epoch, above 0 and not below the axis's epoch here
     * @param completed the completed epochs
     * @return the operation's frontier, with the own entry as the producer's
     * @throws IreeException INVALID_ARGUMENT when there is no such axis or epoch, or the epoch is below a known epoch
     */
    public Frontier produce(long axis, long epoch, CompletedEpochs completed) {
        int index = raise(axis, epoch, completed, axis);
        if (epochs[index] != epoch) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "epoch " + epoch + " of axis '" + Axis.toString(axis) + "' is below " + epochs[index]
                            + ", which the operation depends on");
        }
        return snapshot(1 + index << Frontier.PRODUCER_SHIFT);
    }

    /** Returns whether every entry has completed, regardless of lost entries. */
    boolean hasCompleted(CompletedEpochs completed) {
        for (int i = 0; i < epochs.length; i++) {
            if (completed.completed(shape.axis(i)) < epochs[i]) {
                return false;
            }
        }
        return true;
    }

    /** Drops the completed entries, which do not affect {@link Frontier#covers}. */
    public void prune(CompletedEpochs completed) {
        Entries kept = new Entries(epochs.length);
        for (int i = 0; i < epochs.length; i++) {
            kept.add(shape.axis(i), epochs[i]);
        }
        if (kept.prune(completed, Axis.NONE)) {
            replace(kept);
        }
    }

    /**
     * Returns a snapshot of the entries so far.
     *
     * @return the frontier, without producer
     */
    public Frontier snapshot() {
        return snapshot(0);
    }

    private Frontier snapshot(int producer) {
        int marks = producer | (tainted ? Frontier.TAINTED : 0);
        if (epochs.length == 0) {
            return tainted ? Frontier.UNKNOWN : Frontier.EMPTY;
        }
        return shape.withEpochs(epochs, marks);
    }

    private int raise(long axis, long epoch, CompletedEpochs completed, long pinned) {
        int index = shape.indexOf(axis);
        if (index < 0 || epoch <= 0) {
            union(Frontier.of(axis, epoch), completed, pinned); // checks the entry
            return shape.indexOf(axis);
        }
        epochs[index] = Math.max(epochs[index], epoch);
        return index;
    }

    /** Joins entries of other axes: merges both in order, then evicts entries that do not fit. */
    private void union(Frontier source, CompletedEpochs completed, long pinned) {
        Entries all = new Entries(epochs.length + source.size());
        int ours = 0;
        int theirs = 0;
        while (ours < epochs.length && theirs < source.size()) {
            long our = shape.axis(ours);
            long their = source.axis(theirs);
            int order = Axis.compare(our, their);
            if (order < 0) {
                all.add(our, epochs[ours++]);
            } else if (order > 0) {
                all.add(their, source.epoch(theirs++));
            } else {
                all.add(our, Math.max(epochs[ours++], source.epoch(theirs++)));
            }
        }
        for (; ours < epochs.length; ours++) {
            all.add(shape.axis(ours), epochs[ours]);
        }
        for (; theirs < source.size(); theirs++) {
            all.add(source.axis(theirs), source.epoch(theirs));
        }
        if (all.count > capacity) {
            all.prune(completed, pinned);
            while (all.count > capacity) {
                int smallest = all.smallest(pinned);
                eviction.evicted(all.axes[smallest], all.epochs[smallest], completed);
                all.remove(smallest);
                tainted = true;
            }
        }
        replace(all);
    }

    private void replace(Entries entries) {
        if (entries.count == epochs.length && entries.hasAxesOf(shape)) {
            System.arraycopy(entries.epochs, 0, epochs, 0, entries.count);
            return;
        }
        epochs = Arrays.copyOf(entries.epochs, entries.count);
        shape = Frontier.ofSorted(Arrays.copyOf(entries.axes, entries.count), epochs.clone(), 0);
    }

    /** Entries in ascending order of axis during a join, possibly exceeding the capacity. */
    private static final class Entries {
        final long[] axes;
        final long[] epochs;
        int count;

        Entries(int room) {
            axes = new long[room];
            epochs = new long[room];
        }

        void add(long axis, long epoch) {
            axes[count] = axis;
            epochs[count++] = epoch;
        }

        /** Drops completed entries except the pinned axis; returns whether any was dropped. */
        boolean prune(CompletedEpochs completed, long pinned) {
            int kept = 0;
            for (int i = 0; i < count; i++) {
                if (axes[i] == pinned || completed.completed(axes[i]) < epochs[i]) {
                    axes[kept] = axes[i];
                    epochs[kept++] = epochs[i];
                }
            }
            boolean any = kept < count;
            count = kept;
            return any;
        }

        /** Returns the index of the smallest epoch (among equal epochs, the smallest axis), ignoring the pinned axis. */
        int smallest(long pinned) {
            int smallest = -1;
            for (int i = 0; i < count; i++) {
                if (axes[i] != pinned && (smallest < 0 || epochs[i] < epochs[smallest])) {
                    smallest = i;
                }
            }
            return smallest;
        }

        void remove(int index) {
            System.arraycopy(axes, index + 1, axes, index, count - index - 1);
            System.arraycopy(epochs, index + 1, epochs, index, count - index - 1);
            count--;
        }

        boolean hasAxesOf(Frontier shape) {
            for (int i = 0; i < count; i++) {
                if (axes[i] != shape.axis(i)) {
                    return false;
                }
            }
            return true;
        }
    }
}
