package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.storage.StorageRequest;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds calls that cannot continue before their own requests for memory are granted, regardless of other work. All
 * unfinished operations of such a call are held back, for memory or for points signalled only by these operations, and
 * the call's code waits for such points too, or has returned.
 *
 * <p>DEADLOCK-2: this is a proof, although the call is examined piece by piece. Operations held back in this way stay held
 * back until memory is granted, and an operation missed by the search is counted as unfinished afterwards. An operation
 * that was missed, or that waits for somebody else, makes the answer unknown.
 */
final class MemoryWaits {
    private final Set<Point> closed = new HashSet<>(); // signalled only by operations known to be held back

    private record Point(TimelineSemaphore timeline, long value) {} // timelines compare by identity

    private MemoryWaits() {}

    /** As {@link io.github.iree4j.hal.SchedulingDomain#heldByMemory}. */
    static int holding(MemoryHolder call, Collection<QueueScheduler> queues) {
        List<QueueOperation> held = new ArrayList<>();
        queues.forEach(queue -> queue.addHeldBack(call, held));
        if (held.size() != call.unfinished()) { // DEADLOCK-2
            return 0;
        }
        MemoryWaits waits = new MemoryWaits();
        int requests = 0;
        int left;
        do {
            left = held.size();
            for (Iterator<QueueOperation> each = held.iterator(); each.hasNext(); ) {
                QueueOperation operation = each.next();
                Fence wait = operation.wait;
                boolean isForMemory = operation instanceof StorageRequest && (wait == null || wait.isReached());
                if (isForMemory || wait != null && waits.keepClosed(List.of(wait))) {
                    requests += isForMemory ? 1 : 0;
                    waits.close(operation.signal);
                    each.remove();
                }
            }
        } while (held.size() < left);
        List<Fence> code = call.suspendedUntil();
        boolean isAll = held.isEmpty() && code != null && (code.isEmpty() || waits.keepClosed(code));
        return isAll ? requests : 0;
    }

    /** Returns whether some points of fences are not reached, and none of these can be while the operations are held back. */
    private boolean keepClosed(List<Fence> fences) {
        boolean some = false;
        for (Fence fence : fences) {
            for (int i = 0; i < fence.size(); i++) {
                if (!fence.semaphore(i).isReached(fence.value(i))) {
                    if (!closed.contains(new Point(fence.semaphore(i), fence.value(i)))) {
                        return false;
                    }
                    some = true;
                }
            }
        }
        return some;
    }

    private void close(@Nullable Fence signal) {
        for (int i = 0; signal != null && i < signal.size(); i++) {
            closed.add(new Point(signal.semaphore(i), signal.value(i)));
        }
    }
}
