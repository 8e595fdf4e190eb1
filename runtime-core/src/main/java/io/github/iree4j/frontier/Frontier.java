package io.github.iree4j.frontier;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.util.Arrays;

/**
 * The history before a point: for each of a few axes, everything up to an epoch. A sparse vector clock; immutable.
 *
 * <p>Entries are sorted by axis ({@link Axis#compare}) and have epochs above 0; an axis without an entry is at 0. There
 * are at most {@value #DEFAULT_CAPACITY} entries unless a caller requests another capacity, up to
 * {@value #MAXIMUM_CAPACITY}. When not all entries fit, the entries with the smallest epochs are evicted and the
 * frontier is <em>tainted</em>: the frontier asserts more than its entries do. A frontier of external origin is tainted
 * too. The remaining entries never prove a tainted frontier.
 *
 * <p>A frontier produced by an operation marks the operation's own entry. Once this entry has completed, everything
 * asserted by the frontier has completed, tainted or not: completion of the own entry ends every taint.
 *
 * <p>A value type: frontiers are equal when entries, taint and producer are equal. Safe from any thread.
 */
public abstract sealed class Frontier permits SingleFrontier, NarrowFrontier, WideFrontier {
    /*
     * Subclasses hold the entries. A single entry is two fields. Several entries, or none, are an array of axes and an
     * array of epochs, sorted by axis, sized exactly and never written after construction. All frontiers with the same
     * axes from one MutableFrontier, nearly all frontiers produced by a queue, share the array of axes: comparing such
     * frontiers starts with a reference comparison.
     *
     * Size, with HotSpot's default flags (compressed references and class pointers, 8-byte alignment):
     *
     *   one entry       12 header + 4 marks + 8 axis + 8 epoch         32
     *
     *   n entries       12 header + 4 marks + 4 epochs + 4 axes        24
     *   epochs          16 header + 8 n                               112 at n = 12
     *   axes            16 header + 4 n when narrow (see there)        64          together 200
     *                   16 header + 8 n when wide                     112          together 248
     *
     * marks:   31..25   24..17              16        15..0
     *          (zero) | index of producer | TAINTED | node
     *
     * producer  1 + index of the producing operation's own entry; 0 without producer
     * node      narrow: session and machine of all axes; else 0
     */

    /** The default limit on the number of entries. */
    public static final int DEFAULT_CAPACITY = 12;

    /** The largest capacity. */
    public static final int MAXIMUM_CAPACITY = 255;

    /** No entries, no taint: depends on nothing. */
    public static final Frontier EMPTY = new NarrowFrontier(new int[0], new long[0], 0);

    /** Unknown and tainted: a point reached by external code. */
    public static final Frontier UNKNOWN = new NarrowFrontier(new int[0], new long[0], 1 << 16);

    static final int NODE_MASK = 0xFFFF;
    static final int TAINTED = 1 << 16;
    static final int PRODUCER_SHIFT = 17;

    /** Bits of {@link #differences}. */
    static final int BELOW = 1;

    static final int ABOVE = 2;

    /** Cursor of {@link #nextUndominated} before the first entry. */
    static final long START = 0;

    final int marks;

    Frontier(int marks) {
        this.marks = marks;
    }

    /**
     * Returns a frontier with a single entry.
     *
     * @param axis the axis
     * @param epoch the epoch, above 0
     * @return the frontier; untainted, without producer
     * @throws IreeException INVALID_ARGUMENT when there is no such axis or epoch
     */
    public static Frontier of(long axis, long epoch) {
        checkEntry(axis, epoch);
        return new SingleFrontier(axis, epoch, 0);
    }

    /**
     * Returns the frontier of an operation without dependencies: the operation's own entry.
     *
     * @param axis the axis of the queue that ran the operation
     * @param epoch the operation's epoch, above 0
     * @return the frontier; untainted, the entry is its producer's
     * @throws IreeException INVALID_ARGUMENT when there is no such axis or epoch
     */
    public static Frontier producedBy(long axis, long epoch) {
        checkEntry(axis, epoch);
        return new SingleFrontier(axis, epoch, 1 << PRODUCER_SHIFT);
    }

    /**
     * Returns the frontier of another operation of the same queue, also without dependencies.
     *
     * @param epoch the operation's epoch, above 0
     * @return the frontier; untainted, with only the producer's entry
     * @throws IreeException INVALID_ARGUMENT when this is not a frontier of an operation without dependencies, or the
     *     epoch is not above 0
     */
    public final Frontier producedAt(long epoch) {
        if (epoch <= 0 || size() != 1 || !hasProducer()) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "no operation that depends on nothing has epoch " + epoch + " and is on the queue of " + this);
        }
        return new SingleFrontier(axis(0), epoch, 1 << PRODUCER_SHIFT);
    }

    /**
     * Creates a frontier from valid entries in ascending order of axis. Takes ownership of the epochs, copies the axes.
     *
     * @param marks taint and producer; the node is filled in
     */
    static Frontier ofSorted(long[] axes, long[] epochs, int marks) {
        if (axes.length == 0) {
            return (marks & TAINTED) == 0 ? EMPTY : UNKNOWN;
        }
        if (axes.length == 1) {
            return new SingleFrontier(axes[0], epochs[0], marks);
        }
        return NarrowFrontier.fits(axes)
                ? NarrowFrontier.of(axes, epochs, marks)
                : new WideFrontier(axes.clone(), epochs, marks);
    }

    static void checkEntry(long axis, long epoch) {
        if (!Axis.isValid(axis)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "0x" + Long.toHexString(axis) + " is not an axis: no such session or domain");
        }
        if (epoch <= 0) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "epoch " + epoch + " of axis '" + Axis.toString(axis) + "' is not above 0");
        }
    }

    /**
     * Returns the number of entries.
     *
     * @return 0 to {@link #MAXIMUM_CAPACITY}
     */
    public abstract int size();

    /**
     * Returns the axis of an entry.
     *
     * @param index the entry, in ascending order of axis
     * @return the axis
     */
    public abstract long axis(int index);

    /**
     * Returns the epoch of an entry.
     *
     * @param index the entry, in ascending order of axis
     * @return the epoch, above 0
     */
    public abstract long epoch(int index);

    /**
     * Returns the known epoch of an axis.
     *
     * @param axis the axis
     * @return the epoch; 0 for an axis without an entry, which proves nothing: see {@link #reaches}
     */
    public final long epochOf(long axis) {
        int index = indexOf(axis);
        return index < 0 ? 0 : epoch(index);
    }

    /**
     * Returns whether everything on an axis up to an epoch happens before this point. Completed entries are dropped
     * without a trace: after NO, check whether the epoch has completed.
     *
     * @param axis the axis
     * @param epoch the epoch, above 0
     * @return YES if an entry of the axis is at or beyond the epoch; else UNKNOWN when this frontier is tainted, since
     *     the entry may be lost
     */
    public final Known reaches(long axis, long epoch) {
        if (epochOf(axis) >= epoch) {
            return Known.YES;
        }
        return isTainted() ? Known.UNKNOWN : Known.NO;
    }

    /**
     * Returns whether this frontier asserts more than the entries do.
     *
     * @return true if entries were lost or external code contributed
     */
    public final boolean isTainted() {
        return (marks & TAINTED) != 0;
    }

    /**
     * Returns whether an operation produced this frontier, so that the operation's own entry is included.
     *
     * @return false for joins of several frontiers
     */
    public final boolean hasProducer() {
        return marks >>> PRODUCER_SHIFT != 0;
    }

    /**
     * Returns the axis of the producing operation.
     *
     * @return the axis, {@link Axis#NONE} without producer
     */
    public final long producerAxis() {
        int producer = marks >>> PRODUCER_SHIFT;
        return producer == 0 ? Axis.NONE : axis(producer - 1);
    }

    /**
     * Returns the epoch of the producing operation.
     *
     * @return the epoch, 0 without producer
     */
    public final long producerEpoch() {
        int producer = marks >>> PRODUCER_SHIFT;
        return producer == 0 ? 0 : epoch(producer - 1);
    }

    /**
     * Returns the same frontier with taint, for an external contribution.
     *
     * @return this frontier if tainted already
     */
    public final Frontier tainted() {
        if (isTainted()) {
            return this;
        }
        return size() == 0 ? UNKNOWN : withMarks(marks | TAINTED);
    }

    /**
     * Returns whether this frontier knows everything that another asserts: the other is not tainted, and each of its
     * entries is at or below the entry of the same axis here. Allocates nothing.
     *
     * @param right the other frontier
     * @return false whenever dominance cannot be proved from the entries, so always when {@code right} is tainted
     */
    public final boolean dominates(Frontier right) {
        return !right.isTainted() && dominatesEntries(right);
    }

    /** Returns the part of dominance that compares entries. Not full dominance: entries lost by {@code right} are ignored. */
    boolean dominatesEntries(Frontier right) {
        if (right.size() == 1) { // the most common query of a wait
            return epochOf(right.axis(0)) >= right.epoch(0);
        }
        return nextUndominated(right, START) == end(right);
    }

    /**
     * Returns whether everything that another frontier asserts is known here or has completed: the predicate for reuse
     * of memory, with the requester on the left and the death frontier on the right. Like {@link #dominates}, but a
     * completed entry also counts, and all of {@code right}, taint included, counts once the entry of its producer has
     * completed. Allocates nothing.
     *
     * <p>An axis of {@code right} that is absent here proves nothing: two programs with disjoint axes share memory
     * without waiting exactly when the freed work has completed.
     *
     * @param right the other frontier
     * @param completed the completed epochs
     * @return false whenever coverage cannot be proved
     */
    public final boolean covers(Frontier right, CompletedEpochs completed) {
        if (right.isTainted()) {
            return right.isProducerCompleted(completed);
        }
        long end = end(right);
        long cursor = nextUndominated(right, START);
        if (cursor == end || right.isProducerCompleted(completed)) {
            return true;
        }
        while (cursor != end) {
            int index = (int) cursor;
            if (completed.completed(right.axis(index)) < right.epoch(index)) {
                return false;
            }
            cursor = nextUndominated(right, cursor + 1);
        }
        return true;
    }

    /**
     * Returns whether everything asserted by this frontier has completed: the producer's entry, or, without taint,
     * every entry. Allocates nothing.
     *
     * @param completed the completed epochs
     * @return false whenever completion cannot be proved
     */
    public final boolean isCompleted(CompletedEpochs completed) {
        if (hasProducer()) {
            // The own entry is one of the entries: until the own entry has completed, not all entries have.
            return isProducerCompleted(completed);
        }
        if (isTainted()) {
            return false;
        }
        for (int i = 0; i < size(); i++) {
            if (completed.completed(axis(i)) < epoch(i)) {
                return false;
            }
        }
        return true;
    }

    /** Returns whether the producing operation has completed, and hence everything asserted by this frontier. */
    final boolean isProducerCompleted(CompletedEpochs completed) {
        int producer = marks >>> PRODUCER_SHIFT;
        return producer != 0 && completed.completed(axis(producer - 1)) >= epoch(producer - 1);
    }

    /**
     * Compares this frontier with another by {@link #dominates}, in one pass. Allocates nothing.
     *
     * @param right the other frontier
     * @return BEFORE when only {@code right} dominates, AFTER when only this frontier dominates
     */
    public final FrontierOrder compare(Frontier right) {
        int differences = differences(right);
        boolean after = (differences & BELOW) == 0 && !right.isTainted();
        boolean before = (differences & ABOVE) == 0 && !isTainted();
        if (after) {
            return before ? FrontierOrder.EQUAL : FrontierOrder.AFTER;
        }
        return before ? FrontierOrder.BEFORE : FrontierOrder.CONCURRENT;
    }

    /**
     * Returns {@link #BELOW} if an entry of {@code right} is not reached here, and {@link #ABOVE} if an entry here is
     * not reached by {@code right}.
     */
    int differences(Frontier right) {
        return (dominatesEntries(right) ? 0 : BELOW) | (right.dominatesEntries(this) ? 0 : ABOVE);
    }

    /**
     * Returns the entries missing for {@link #covers}: the other's entries that are neither known here nor completed.
     * Waiting for the missing entries makes this frontier cover an untainted {@code right}. Entries lost by a tainted
     * frontier are not included; the entry of its producer is.
     *
     * @param right the other frontier
     * @param completed the completed epochs
     * @return the missing entries; tainted if {@code right} is tainted and its producer has not completed; without
     *     producer
     */
    public final Frontier uncovered(Frontier right, CompletedEpochs completed) {
        if (right.isProducerCompleted(completed)) {
            return EMPTY;
        }
        long[] missingAxes = new long[right.size()];
        long[] missingEpochs = new long[right.size()];
        int count = 0;
        long end = end(right);
        for (long cursor = START; (cursor = nextUndominated(right, cursor)) != end; cursor++) {
            int index = (int) cursor;
            long axis = right.axis(index);
            if (completed.completed(axis) < right.epoch(index)) {
                missingAxes[count] = axis;
                missingEpochs[count++] = right.epoch(index);
            }
        }
        return ofSorted(Arrays.copyOf(missingAxes, count), Arrays.copyOf(missingEpochs, count), right.marks & TAINTED);
    }

    /**
     * Joins two histories with the default capacity, see {@link #merge(Frontier, int)}.
     *
     * @param other the other frontier
     * @return the join
     */
    public final Frontier merge(Frontier other) {
        return merge(other, DEFAULT_CAPACITY);
    }

    /**
     * Joins two histories: for each axis the greater epoch. When not all entries fit, the entries with the greatest
     * epochs stay (among equal epochs, the greater axis) and the join is tainted. The join is also tainted when an
     * input is. The choice depends only on the entries, so joining is associative, commutative and idempotent even when
     * entries are lost.
     *
     * @param other the other frontier
     * @param capacity maximum number of entries of the join, 1 to {@link #MAXIMUM_CAPACITY}
     * @return the join; without producer
     * @throws IreeException INVALID_ARGUMENT when the capacity is out of range
     */
    public final Frontier merge(Frontier other, int capacity) {
        MutableFrontier join = new MutableFrontier(capacity);
        join.merge(this);
        join.merge(other);
        return join.snapshot();
    }

    /**
     * Returns this frontier with an entry at least as high as given: a join with the frontier of the given entry, with
     * the default capacity.
     *
     * @param axis the axis
     * @param epoch the epoch, above 0
     * @return the join; without producer
     * @throws IreeException INVALID_ARGUMENT when there is no such axis or epoch
     */
    public final Frontier insertOrRaise(long axis, long epoch) {
        return merge(of(axis, epoch));
    }

    /**
     * Returns the first entry of {@code right}, from the cursor on, without an entry here at or above.
     *
     * @param cursor {@link #START}, or the last result plus one
     * @return the index of the entry in the low half, the position in this frontier in the high half; {@link #end} when
     *     there is none
     */
    abstract long nextUndominated(Frontier right, long cursor);

    /** Scans any two frontiers. Narrow frontiers of one node have a faster scan, on 32-bit keys. */
    final long nextUndominatedByAxis(Frontier right, long cursor) {
        int left = (int) (cursor >>> 32);
        int index = (int) cursor;
        for (int n = right.size(); index < n; index++) {
            long axis = right.axis(index);
            while (left < size() && Axis.compare(axis(left), axis) < 0) {
                left++;
            }
            if (left == size() || axis(left) != axis || epoch(left) < right.epoch(index)) {
                return (long) left << 32 | index;
            }
        }
        return end(right);
    }

    /** Returns the result of {@link #nextUndominated} when there is no such entry. */
    static long end(Frontier right) {
        return END | right.size();
    }

    /** High half of the cursor at the end, whatever the position. */
    private static final long END = 0x7FFF_FFFFL << 32;

    /** Returns the index of the axis, or {@code -1 - index} of its insertion point. */
    abstract int indexOf(long axis);

    /** Returns whether both frontiers mention the same axes. */
    abstract boolean sharesAxes(Frontier other);

    /**
     * Raises the epochs of a frontier with the same axes to at least the epochs here.
     *
     * @return false for a frontier with other axes; epochs of leading common axes may have been raised in this case
     */
    abstract boolean raise(Frontier shape, long[] epochs);

    /** Returns the same axes with copies of other epochs, and other marks; the node is kept. */
    abstract Frontier withEpochs(long[] newEpochs, int newMarks);

    /** Returns the same entries with other marks; the node is kept. */
    abstract Frontier withMarks(int newMarks);

    @Override
    public final boolean equals(Object object) {
        return object instanceof Frontier other && marks == other.marks && sharesAxes(other) && differences(other) == 0;
    }

    @Override
    public final int hashCode() {
        int hash = marks;
        for (int i = 0; i < size(); i++) {
            hash = 31 * (31 * hash + Long.hashCode(axis(i))) + Long.hashCode(epoch(i));
        }
        return hash;
    }

    /**
     * Formats the entries in order, the producer's with an asterisk, for example {@code {queue:0@m0.s7=12*, host:3@m0.s7=4} tainted}.
     *
     * @return the text
     */
    @Override
    public final String toString() {
        StringBuilder text = new StringBuilder("{");
        for (int i = 0; i < size(); i++) {
            text.append(i == 0 ? "" : ", ")
                    .append(Axis.toString(axis(i)))
                    .append('=')
                    .append(epoch(i));
            if (marks >>> PRODUCER_SHIFT == i + 1) {
                text.append('*');
            }
        }
        return text.append(isTainted() ? "} tainted" : "}").toString();
    }
}
