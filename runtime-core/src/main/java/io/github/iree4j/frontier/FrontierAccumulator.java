package io.github.iree4j.frontier;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;

/**
 * The ordered frontier of a FIFO queue: what happens before the operation that it issues next.
 *
 * <p>For each operation, in the order of issue: {@link #join} the frontier of each of its waits, then {@link #issue} with its epoch. Every
 * operation inherits everything joined before it, since it runs after all of it. Join only waits that the operation, and so every later
 * one, certainly runs after; a wait that is dropped because it is known already need not be joined.
 *
 * <p>Stays small and recovers from taint: completed entries are dropped before any is evicted; everything is dropped once all issued
 * operations have completed; and taint ends once what was lost has completed. Not thread-safe.
 */
public final class FrontierAccumulator {
    /*
     * Taint is a debt, paid when what was lost has completed. A lost entry (a, e) is paid by completed(a) >= e; a joined tainted frontier
     * by its producer's entry; one without producer, and what `owed` has no room for, by this queue: the next operation runs after
     * everything joined, so its completion implies theirs. That also pays debts whose own axes never get there: those of a lost device, or
     * of queues not tracked here.
     *
     * The entries of `owed` are kept only to check for completion; they are in no snapshot.
     */

    /** How many debts are tracked individually. A guess; beyond it taint lasts until this queue's own operation has completed. */
    private static final int DEBTS = 64;

    /** The value of {@link #ownDebt} and {@link #lastDebt} while the paying operation has no epoch yet. */
    private static final long NEXT_OPERATION = Long.MAX_VALUE;

    private final long axis;
    private final MutableFrontier entries;
    private final MutableFrontier owed = new MutableFrontier(DEBTS, (lost, epoch, completed) -> oweOwn());
    private long ownDebt; // own epoch that pays all debts not in `owed`, 0 when there are none
    private long lastDebt; // own epoch that pays all debts, whatever happens to other axes, 0 when there are none
    private long issued; // the last epoch issued
    private long merges;
    private long evictions;
    private boolean joined; // since the last issue: no issued operation runs after that join yet

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
     * @param capacity how many entries its operations' frontiers may have, 1 to {@link Frontier#MAXIMUM_CAPACITY}
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
     * Returns whether the next operation runs after a point anyway, so that a wait for it can be dropped: the point is known here or has
     * completed.
     *
     * @param pointAxis the axis of the operation that would be waited for
     * @param epoch its epoch
     * @param completed what has completed
     * @return false whenever it cannot be proved
     */
    public boolean covers(long pointAxis, long epoch, CompletedEpochs completed) {
        return entries.epochOf(pointAxis) >= epoch || completed.completed(pointAxis) >= epoch;
    }

    /**
     * Returns whether the next operation's frontier would be tainted.
     *
     * @return true if something was lost or external and is not known to have completed
     */
    public boolean isTainted() {
        return entries.isTainted();
    }

    /**
     * Returns how many frontiers were joined because they had not completed.
     *
     * @return the count
     */
    public long merges() {
        return merges;
    }

    /**
     * Returns how many entries were evicted for lack of room.
     *
     * @return the count
     */
    public long evictions() {
        return evictions;
    }

    /**
     * Joins the frontier of a wait of the next operation.
     *
     * @param wait the frontier that the waited-for point carries
     * @param completed what has completed
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
     * @param completed what has completed
     * @return the operation's frontier: everything joined so far and its own entry
     * @throws IreeException INVALID_ARGUMENT when the epoch is not above the last one
     */
    public Frontier issue(long epoch, CompletedEpochs completed) {
        if (epoch <= issued) {
            throw new IreeException(
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
     * Returns the frontier that the next operation runs after so far.
     *
     * @param completed what has completed
     * @return the frontier, without producer
     */
    public Frontier snapshot(CompletedEpochs completed) {
        settle(completed);
        return entries.snapshot();
    }

    /** Drops what has completed, as far as that is cheap to determine: everything when nothing is in flight, and paid debts. */
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
