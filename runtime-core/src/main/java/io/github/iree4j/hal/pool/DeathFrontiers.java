package io.github.iree4j.hal.pool;

import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.frontier.CompletedEpochs;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.frontier.MutableFrontier;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Joins the death frontiers of merged blocks. One thread at a time.
 *
 * <p>A join with more entries than a block keeps loses some entries and is tainted. The lost entries are recorded here,
 * for all blocks together: once all lost entries have ended, no block's taint has a meaning any more. So a block that
 * stays tainted because it never meets another free block is not lost for reuse, and the record is bounded by the
 * number of axes.
 *
 * <p>An entry on a failed axis has ended once nothing up to the entry's epoch is in flight on the axis. An entry lost
 * by an operation is known to have ended only if the operation has completed. Where the operation fails, the blocks
 * waiting for the operation are not used again.
 */
final class DeathFrontiers {
    private final CompletedEpochs completed;
    private final Predicate<Frontier> over;
    private final int capacity;
    private final Map<Long, Long> lost = new HashMap<>(); // by axis, the highest epoch lost by a tainted block
    private final Map<Long, Long> owed = new HashMap<>(); // likewise, of operations with lost entries

    /** Creates death frontiers for work that never fails. */
    DeathFrontiers(CompletedEpochs completed, int capacity) {
        this(completed, death -> death.isCompleted(completed), capacity);
    }

    /**
     * Creates death frontiers for work on axes of a tracker. An axis unknown to the tracker belongs to another domain,
     * and an operation of this domain has waited for the work of the other domain. The waiting operation is in the
     * frontier too, so the foreign entry adds nothing, and nobody would learn of its end.
     */
    DeathFrontiers(FrontierTracker tracker, int capacity) {
        this(
                axis -> tracker.isRegistered(axis) ? tracker.completed(axis) : Long.MAX_VALUE,
                tracker::isComplete,
                capacity);
    }

    private DeathFrontiers(CompletedEpochs completed, Predicate<Frontier> over, int capacity) {
        this.completed = completed;
        this.over = over;
        this.capacity = capacity;
    }

    CompletedEpochs completed() {
        return completed;
    }

    /** Returns the work that must have finished before the bytes of both blocks may be used. Null stands for unused bytes. */
    @Nullable
    Frontier join(@Nullable Frontier left, @Nullable Frontier right) {
        if (right == null) {
            return left;
        }
        if (left == null || isComplete(left)) {
            return right;
        }
        if (isComplete(right) || left.dominates(right)) {
            return left;
        }
        if (right.dominates(left)) {
            return right;
        }
        owe(left);
        owe(right);
        MutableFrontier all = new MutableFrontier(Frontier.MAXIMUM_CAPACITY);
        all.merge(left, completed);
        all.merge(right, completed);
        boolean whole =
                // otherwise this very join may have lost entries
                !all.isTainted() || all.size() < Frontier.MAXIMUM_CAPACITY;
        all.prune(completed);
        if (whole && all.size() <= capacity) {
            return all.snapshot();
        }
        noteLost(left);
        noteLost(right);
        MutableFrontier kept = new MutableFrontier(capacity);
        kept.merge(all.snapshot(), completed);
        return kept.snapshot();
    }

    private void noteLost(Frontier input) {
        for (int i = 0; i < input.size(); i++) {
            if (completed.completed(input.axis(i)) < input.epoch(i)) {
                lost.merge(input.axis(i), input.epoch(i), Math::max);
            }
        }
    }

    private boolean isComplete(Frontier death) {
        return death.size() == 0 ? !death.isTainted() : over.test(death);
    }

    /** Records the producer of a tainted input, since a join has no producer. */
    private void owe(Frontier input) {
        if (input.isTainted() && input.hasProducer()) {
            owed.merge(input.producerAxis(), input.producerEpoch(), Math::max);
        }
    }

    /** Whether the frontier is tainted by entries lost in a join, and some of the entries have not ended. */
    boolean isTainted(Frontier death) {
        return death.isTainted() && !death.hasProducer() && !isSettled();
    }

    private boolean isSettled() {
        lost.entrySet().removeIf(each -> over.test(Frontier.of(each.getKey(), each.getValue())));
        owed.entrySet().removeIf(each -> completed.completed(each.getKey()) >= each.getValue());
        return lost.isEmpty() && owed.isEmpty();
    }

    /** Whether all users of bytes with this death frontier have finished. */
    boolean isCompleted(@Nullable Frontier death) {
        if (death == null || isComplete(death)) {
            return true;
        }
        return death.isTainted() && !death.hasProducer() && isSettled() && areEntriesOver(death);
    }

    /**
     * Whether the end of the users of bytes with this death frontier will never be known: the named entries have ended,
     * but an operation with lost entries has failed. False for finished work, and for work whose end may still become
     * known.
     */
    boolean isNeverKnown(@Nullable Frontier death) {
        if (death == null || isCompleted(death) || !areEntriesOver(death)) {
            return false;
        }
        return death.hasProducer()
                || lost.isEmpty()
                        && owed.entrySet().stream()
                                .allMatch(each -> over.test(Frontier.of(each.getKey(), each.getValue())));
    }

    private boolean areEntriesOver(Frontier death) {
        for (int i = 0; i < death.size(); i++) {
            if (!over.test(Frontier.of(death.axis(i), death.epoch(i)))) {
                return false;
            }
        }
        return true;
    }

    /** Returns the frontier to wait for until {@link #isCompleted}: never a tainted frontier without a producer. */
    Frontier toWaitFor(Frontier death) {
        if (!death.isTainted() || death.hasProducer()) {
            return death;
        }
        MutableFrontier all = new MutableFrontier(Frontier.MAXIMUM_CAPACITY);
        Frontier entries = Frontier.EMPTY.uncovered(death, completed);
        for (int i = 0; i < entries.size(); i++) {
            all.insertOrRaise(entries.axis(i), entries.epoch(i), completed);
        }
        isSettled();
        for (Map<Long, Long> each : List.of(lost, owed)) {
            each.forEach((axis, epoch) -> {
                if (all.size() < Frontier.MAXIMUM_CAPACITY || all.epochOf(axis) > 0) { // the rest next time
                    all.insertOrRaise(axis, epoch, completed);
                }
            });
        }
        return all.snapshot();
    }
}
