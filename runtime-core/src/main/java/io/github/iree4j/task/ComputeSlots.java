package io.github.iree4j.task;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The slots for processes that several workers may drain concurrently.
 *
 * <p>A bitmap records the taken slots, at most 64. A scan costs one load when all slots are empty, and one more per
 * process. Scanners only read.
 */
final class ComputeSlots {
    /*
     * taken: bit i is set, by compare-and-set, by the thread that then fills slot i, and cleared by the thread that
     * emptied the slot. In between only this thread writes the slot. TASK-10
     */
    static final int MAX = 64;

    private final long all;
    private final PaddedLong taken = new PaddedLong();
    private final AtomicReferenceArray<@Nullable TaskProcess> slots;

    ComputeSlots(int capacity) {
        this.all = capacity == MAX ? -1 : (1L << capacity) - 1;
        this.slots = new AtomicReferenceArray<>(capacity);
    }

    /** Reserves a slot for the caller to fill; -1 when all are taken. */
    int reserve() { // TASK-10
        for (; ; ) {
            long seen = taken.getVolatile();
            long free = all & ~seen;
            if (free == 0) {
                return -1;
            }
            long bit = Long.lowestOneBit(free);
            if (taken.compareAndSetVolatile(seen, seen | bit)) {
                return Long.numberOfTrailingZeros(bit);
            }
        }
    }

    void fillRelease(int slot, TaskProcess process) {
        slots.setRelease(slot, process);
    }

    /** Empties and frees a slot. */
    void empty(int slot) {
        slots.setRelease(slot, null);
        taken.getAndAndVolatile(~(1L << slot));
    }

    /** Returns a bit for each slot that may hold a process. */
    long takenVolatile() {
        return taken.getVolatile();
    }

    @Nullable
    TaskProcess processAcquire(int slot) {
        return slots.getAcquire(slot);
    }

    /** Returns the sum of the budgets of the processes in slots; approximate. */
    int aggregateBudget() {
        long sum = 0;
        for (long left = taken.getOpaque(); left != 0; left &= left - 1) {
            TaskProcess process = slots.getAcquire(Long.numberOfTrailingZeros(left));
            if (process != null) {
                sum += process.budgetOpaque();
            }
        }
        return (int) Math.min(sum, Integer.MAX_VALUE);
    }
}
