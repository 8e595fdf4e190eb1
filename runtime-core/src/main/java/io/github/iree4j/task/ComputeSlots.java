package io.github.iree4j.task;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Where workers look for processes that several may drain at the same time.
 *
 * <p>A bitmap says which of at most 64 slots are taken, so looking at all of them costs one load when all are empty, and as many more as there are processes.
 * Scanners only read.
 */
final class ComputeSlots {
    /*
     * taken: bit i is set by compare-and-set by whoever then puts a process in slot i, and cleared by whoever emptied it. In between only that thread
     * writes the slot.                                                                                                        TASK-10
     */
    static final int MAX = 64;

    private final int capacity;
    private final long all;
    private final PaddedLong taken = new PaddedLong();
    private final AtomicReferenceArray<@Nullable TaskProcess> slots;

    ComputeSlots(int capacity) {
        this.capacity = capacity;
        this.all = capacity == MAX ? -1 : (1L << capacity) - 1;
        this.slots = new AtomicReferenceArray<>(capacity);
    }

    int capacity() {
        return capacity;
    }

    /** Returns a slot that is the caller's to fill, or −1 when all are taken. */
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

    /** Empties a slot and gives it back. */
    void empty(int slot) {
        slots.setRelease(slot, null);
        taken.getAndAndVolatile(~(1L << slot));
    }

    /** One bit for each slot that may hold a process. */
    long takenVolatile() {
        return taken.getVolatile();
    }

    @Nullable
    TaskProcess processAcquire(int slot) {
        return slots.getAcquire(slot);
    }

    /** The sum of the budgets of what is in slots, as far as it can be seen. */
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
