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
 * Joins the death frontiers of blocks that are merged. One thread at a time.
 *
 * <p>A join with more entries than a block keeps loses some and is tainted. The lost entries are recorded here, for all blocks together:
 * once all of them are over, no block's taint means anything any more. So a block that stays tainted because it never meets another
 * free block is not lost for reuse, and the record is bounded by the number of axes.
 *
 * <p>An entry on an axis that failed is over once nothing up to it is in flight there. Not so what an operation had lost: that is known to be
 * over only if the operation has completed. Where it fails, the blocks that wait for it are not used again.
 */
final class DeathFrontiers {
    private final CompletedEpochs completed;
    private final Predicate<Frontier> over;
    private final int capacity;
    private final Map<Long, Long> lost = new HashMap<>(); // by axis, the highest epoch that a tainted block has lost
    private final Map<Long, Long> owed = new HashMap<>(); // likewise, of operations that had lost entries themselves

    /** For work that never fails. */
    DeathFrontiers(CompletedEpochs completed, int capacity) {
        this(completed, death -> death.isCompleted(completed), capacity);
    }

    /**
     * For work on axes of a tracker. An axis that the tracker does not know is one of another domain, whose work an operation of this one has
     * waited for: that operation is in the frontier too, so the other's entry says nothing, and nobody would learn when it is over.
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

    /** Returns what must have finished before the bytes of both may be used. Null stands for unused bytes. */
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
                !all.isTainted() || all.size() < Frontier.MAXIMUM_CAPACITY; // else this very join may have lost some
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

    /** A join has no producer, so the producer of a tainted input is recorded. */
    private void owe(Frontier input) {
        if (input.isTainted() && input.hasProducer()) {
            owed.merge(input.producerAxis(), input.producerEpoch(), Math::max);
        }
    }

    /** Whether the frontier is tainted by entries lost in a join that are not all over. */
    boolean isTainted(Frontier death) {
        return death.isTainted() && !death.hasProducer() && !isSettled();
    }

    private boolean isSettled() {
        lost.entrySet().removeIf(each -> over.test(Frontier.of(each.getKey(), each.getValue())));
        owed.entrySet().removeIf(each -> completed.completed(each.getKey()) >= each.getValue());
        return lost.isEmpty() && owed.isEmpty();
    }

    /** Whether all work that used bytes with this death frontier has finished. */
    boolean isCompleted(@Nullable Frontier death) {
        if (death == null || isComplete(death)) {
            return true;
        }
        return death.isTainted() && !death.hasProducer() && isSettled() && areEntriesOver(death);
    }

    /**
     * Whether it will never be known that the work has finished that used bytes with this death frontier: what is named is over, and what an
     * operation had lost that failed is not. False of work that has finished, and of work that may be found to have.
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

    /** Returns what to wait for until {@link #isCompleted}: never a tainted frontier without a producer. */
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
