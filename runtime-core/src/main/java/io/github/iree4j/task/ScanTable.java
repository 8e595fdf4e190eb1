package io.github.iree4j.task;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The scan order of slots, as computed by a {@link ScanPolicy}.
 *
 * <p>Recomputed by the thread that changes a slot or a budget, into one of three arrays in turn, so that nothing is allocated. A worker
 * that reads an array while it is overwritten scans in an arbitrary order once; that is harmless, because slots missing from the table are
 * scanned afterwards.
 */
final class ScanTable {
    private static final int ARRAYS = 3;

    /** An order: slots, ended by −1 unless full. */
    static final class Order {
        final int[] slots = new int[ScanPolicy.MAX_ENTRIES];
        boolean beginsAtFirst;
    }

    private final ComputeSlots slots;
    private final Order[] orders = new Order[ARRAYS];
    private final PaddedLong changes = new PaddedLong(); // 0 idle, 1 a thread is computing, 3 and has to compute again
    private final List<TaskProcess> processes = new ArrayList<>();
    private final int[] slotOf = new int[ComputeSlots.MAX];
    private final int[] indices = new int[ScanPolicy.MAX_ENTRIES];
    private volatile @Nullable ScanPolicy policy; // null for round robin, which needs no table
    private volatile @Nullable Order current;
    private int next;

    ScanTable(ComputeSlots slots, ScanPolicy policy) {
        this.slots = slots;
        for (int i = 0; i < ARRAYS; i++) {
            orders[i] = new Order();
        }
        policy(policy);
    }

    void policy(ScanPolicy wanted) {
        policy = wanted.equals(ScanPolicies.ROUND_ROBIN) ? null : wanted;
        update();
    }

    /** Returns the order, or null to scan slots in turn. */
    @Nullable
    Order order() {
        return current;
    }

    /** Called when a process entered or left a slot or changed its budget. */
    void changed() {
        if (policy != null) {
            update();
        }
    }

    private void update() {
        for (; ; ) {
            long seen = changes.getVolatile();
            if (seen == 3) {
                return;
            }
            if (changes.compareAndSetVolatile(seen, seen == 0 ? 1 : 3)) {
                if (seen != 0) {
                    return; // the computing thread does it again
                }
                break;
            }
        }
        do {
            changes.setVolatile(1);
            workOut();
        } while (!changes.compareAndSetVolatile(1, 0));
    }

    private void workOut() {
        ScanPolicy wanted = policy;
        if (wanted == null) {
            current = null;
            return;
        }
        processes.clear();
        for (long left = slots.takenVolatile(); left != 0; left &= left - 1) {
            int slot = Long.numberOfTrailingZeros(left);
            TaskProcess process = slots.processAcquire(slot);
            if (process != null) {
                slotOf[processes.size()] = slot;
                processes.add(process);
            }
        }
        int count = wanted.order(processes, indices);
        Order order = orders[next];
        next = (next + 1) % ARRAYS;
        for (int i = 0; i < count; i++) {
            order.slots[i] = slotOf[indices[i]];
        }
        if (count < order.slots.length) {
            order.slots[count] = -1;
        }
        order.beginsAtFirst = wanted.beginsAtFirst();
        processes.clear();
        current = order;
    }
}
