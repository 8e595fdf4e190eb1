package io.github.iree4j.frontier;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;

/**
 * The ordered frontier of a FIFO queue: the history before the operation that the queue issues next.
 *
 * <p>For each operation, in the order of issue: {@link #join} the frontier of each of its waits, then {@link #issue}
 * the operation's epoch. Every operation inherits everything joined before, since the operation runs after all of it.
 * Join only waits that the operation, and so every later operation, certainly runs after; a wait dropped as already
 * known need not be joined.
 *
 * <p>Stays small and recovers from taint: completed entries are dropped before any is evicted; everything is dropped
 * once all issued operations have completed; and taint ends once everything lost has completed. Not thread-safe.
 */
public final class FrontierAccumulator {
    /*
     * Taint is a debt, paid when everything lost has completed. completed(a) >= e pays a lost entry (a, e). The
     * producer's entry pays a joined tainted frontier. This queue pays a tainted frontier without producer, and debts
     * without room in `owed`: the next operation runs after everything joined, so completion of the operation implies
     * completion of everything joined. This also pays debts whose own axes never complete: axes of a lost device, or of
     * queues not tracked here.
     *
     * The entries of `owed` are kept only to check for completion, and are in no snapshot.
     */

    /** Maximum number of debts tracked individually. A guess; beyond this number, taint lasts until this queue's own operation has completed. */
    private static final int DEBTS = 64;

    /** The value of {@link #ownDebt} and {@link #lastDebt} while the paying operation has no epoch yet. */
    private static final long NEXT_OPERATION = Long.MAX_VALUE;

    private final long axis;
    private final MutableFrontier entries;
    private final MutableFrontier owed = new MutableFrontier(DEBTS, (lost, epoch, completed) -> oweOwn());
    private long ownDebt; // own epoch that pays all debts not in `owed`, 0 without such debts
    private long lastDebt; // own epoch that pays all debts, regardless of other axes, 0 without debts
    private long issued; // the last epoch issued
    private long merges;
    private long evictions;
    private boolean joined; // joined since the last issue: no issued operation runs after the join yet

    /**
     * Creates the frontier of a queue that has issued nothing, with the default capacity.
     *
     * @param axis the queue's axis
     */
    public FrontierAccumulator(long axis) {
        this(axis, Frontier.DEFAULT_CAPACITY);
    }

    /**
     * Creates the frontier of a queue that has issued nothing.
     *
     * @param axis the queue's axis
     * @param capacity maximum number of entries in the frontiers of operations, 1 to {@link Frontier#MAXIMUM_CAPACITY}
     * @throws IreeException INVALID_ARGUMENT when there is no such axis, or the capacity is out of range
     */
    public FrontierAccumulator(long axis, int capacity) {
        Frontier.checkEntry(axis, 1);
        this.axis = axis;
        this.entries = new MutableFrontier(capacity, (lost, epoch, completed) -> {
            evictions++;
            owe(lost, epoch, completed);
        });
    }

    /**
     * Returns the axis of the queue.
     *
     * @return the axis
     */
    public long axis() {
        return axis;
    }

    /**
     * Returns the epoch of the last operation issued.
     *
     * @return the epoch, 0 when nothing was issued
     */
    public long issued() {
        return issued;
    }

    /**
     * Returns whether the next operation runs after a point anyway, so that a wait for the point can be dropped: the
     * point is known here or has completed.
     *
     * @param pointAxis the axis of the awaited operation
     * @param epoch the awaited operation's epoch
     * @param completed the completed epochs
     * @return false whenever this cannot be proved
     */
    public boolean covers(long pointAxis, long epoch, CompletedEpochs completed) {
        return entries.epochOf(pointAxis) >= epoch || completed.completed(pointAxis) >= epoch;
    }

    /**
     * Returns whether the next operation's frontier would be tainted.
     *
     * @return true if lost entries or external contributions are not known to have completed
     */
    public boolean isTainted() {
        return entries.isTainted();
    }

    /**
     * Returns the number of frontiers joined because they had not completed.
     *
     * @return the count
     */
    public long merges() {
        return merges;
    }

    /**
     * Returns the number of entries evicted for lack of room.
     *
     * @return the count
     */
    public long evictions() {
        return evictions;
    }

    /**
     * Joins the frontier of a wait of the next operation.
     *
     * @param wait the frontier carried by the awaited point
     * @param completed the completed epochs
     */
    public void join(Frontier wait, CompletedEpochs completed) {
        settle(completed);
        if (wait.isCompleted(completed)) {
            return;
        }
        joined = true;
        merges++;
        if (wait.isTainted()) {
            if (wait.hasProducer()) {
                owe(wait.producerAxis(), wait.producerEpoch(), completed);
            } else {
                oweOwn();
            }
        }
        entries.merge(wait, completed);
    }

    /**
     * Issues the next operation with its epoch.
     *
     * @param epoch the epoch, above all issued before
     * @param completed the completed epochs
     * @return the operation's frontier: everything joined so far and the own entry
     * @throws IreeException INVALID_ARGUMENT when the epoch is not above the last epoch
     */
    public Frontier issue(long epoch, CompletedEpochs completed) {
        if (epoch <= issued) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "epoch of '" + Axis.toString(axis) + "' must increase: " + issued + " -> " + epoch);
        }
        settle(completed);
        Frontier frontier = entries.produce(axis, epoch, completed);
        issued = epoch;
        joined = false;
        if (ownDebt == NEXT_OPERATION) {
            ownDebt = epoch;
        }
        if (lastDebt == NEXT_OPERATION) {
            lastDebt = epoch;
        }
        return frontier;
    }

    /**
     * Returns the current frontier of everything before the next operation.
     *
     * @param completed the completed epochs
     * @return the frontier, without producer
     */
    public Frontier snapshot(CompletedEpochs completed) {
        settle(completed);
        return entries.snapshot();
    }

    /** Drops completed entries and debts, as far as cheap to determine: everything when nothing is in flight, and paid debts. */
    private void settle(CompletedEpochs completed) {
        if (!joined && issued != 0 && completed.completed(axis) >= issued) {
            if (entries.size() != 0 || entries.isTainted()) {
                entries.clear();
                payAll();
            }
        } else if (entries.isTainted() && isPaid(completed)) {
            payAll();
        }
    }

    private boolean isPaid(CompletedEpochs completed) {
        long own = completed.completed(axis);
        return own >= lastDebt || (ownDebt == 0 || own >= ownDebt) && owed.hasCompleted(completed);
    }

    private void payAll() {
        entries.untaint();
        owed.clear();
        ownDebt = 0;
        lastDebt = 0;
    }

    private void owe(long lostAxis, long epoch, CompletedEpochs completed) {
        lastDebt = NEXT_OPERATION;
        owed.insertOrRaise(lostAxis, epoch, completed);
    }

    private void oweOwn() {
        lastDebt = NEXT_OPERATION;
        ownDebt = NEXT_OPERATION;
    }
}
