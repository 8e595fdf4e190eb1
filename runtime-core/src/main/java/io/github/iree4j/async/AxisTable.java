package io.github.iree4j.async;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The axes of a tracker by their name: open addressing, read without locks, written under the tracker's lock. Axes are not removed,
 * so a reader that probes while one is added either finds it or finds the empty slot that it went to.
 */
final class AxisTable {
    /*
     * TRACK-4: a slot is written once, after the axis in it is complete, and `slots` after all slots of the larger table are; so a
     * lookup that starts after add() returned finds the axis, and one that runs meanwhile sees either table whole.
     */
    private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(TrackedAxis[].class);
    private static final int INITIAL_SLOTS = 32;

    private volatile @Nullable TrackedAxis[] slots = new @Nullable TrackedAxis[INITIAL_SLOTS]; // replaced when it grows
    private int count; // under the lock

    /** The axis of that name, or null. Acquire: sees it as it was when it was added. */
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

    /** Under the lock: adds one that is not there yet. Release: whoever finds it sees it complete. */
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

    /** Folds the high bits, which tell machines and domains apart, into the ordinal, and spreads what comes of it. */
    private static int slot(long axis) {
        return (int) ((axis ^ axis >>> 32) * 0x9E37_79B9_7F4A_7C15L >>> 40);
    }
}
