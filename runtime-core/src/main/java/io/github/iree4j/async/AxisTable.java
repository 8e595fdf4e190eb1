package io.github.iree4j.async;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A hash table of a tracker's axes: open addressing, read without locks, written under the tracker's lock. Axes are
 * never removed, so a concurrent reader finds either the added axis or the empty slot where the axis goes.
 */
final class AxisTable {
    /*
     * TRACK-4: a slot is written once, after its axis is complete, and `slots` after all slots of the larger table. A
     * lookup starting after addRelease() returned therefore finds the axis, and a concurrent lookup sees either table
     * whole.
     */
    private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(TrackedAxis[].class);
    private static final int INITIAL_SLOTS = 32;

    // replaced when the table grows
    private volatile @Nullable TrackedAxis[] slots = new @Nullable TrackedAxis[INITIAL_SLOTS];
    private int count; // guarded by the tracker's lock

    /** Returns the tracked axis, or null. Acquire: the caller sees the axis as it was when added. */
    @Nullable
    TrackedAxis findAcquire(long axis) {
        @Nullable TrackedAxis[] table = slots;
        int mask = table.length - 1;
        for (int i = slot(axis) & mask; ; i = i + 1 & mask) {
            TrackedAxis found = (TrackedAxis) SLOT.getAcquire(table, i);
            if (found == null || found.axis == axis) {
                return found;
            }
        }
    }

    /** Adds an axis not yet in the table; under the lock. Release: a reader finding the axis sees it complete. */
    void addRelease(TrackedAxis added) {
        if (2 * (count + 1) > slots.length) {
            @Nullable TrackedAxis[] larger = new @Nullable TrackedAxis[2 * slots.length];
            for (TrackedAxis axis : slots) {
                if (axis != null) {
                    insert(larger, axis);
                }
            }
            slots = larger;
        }
        insert(slots, added);
        count++;
    }

    private static void insert(@Nullable TrackedAxis[] table, TrackedAxis added) {
        int mask = table.length - 1;
        int i = slot(added.axis) & mask;
        while (table[i] != null) {
            i = i + 1 & mask;
        }
        SLOT.setRelease(table, i, added);
    }

    /** Folds the high bits, which distinguish machines and domains, into the ordinal, and spreads the result. */
    private static int slot(long axis) {
        return (int) ((axis ^ axis >>> 32) * 0x9E37_79B9_7F4A_7C15L >>> 40);
    }
}
