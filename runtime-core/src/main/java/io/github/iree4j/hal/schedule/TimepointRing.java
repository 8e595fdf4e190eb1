package io.github.iree4j.hal.schedule;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.NativeTimepoint;
import org.jspecify.annotations.Nullable;

/**
 * Marks for the last epochs of a stream that other queues may want to wait for. A mark becomes a point only once
 * another queue waits for the mark. An epoch older than all marks is implied by the oldest mark: correct, though less
 * tight. Safe from any thread; the lock is an innermost lock.
 */
final class TimepointRing {
    /** Number of recent marks from which another queue can choose the exact mark. A guess, not measured. */
    private static final int KEPT = 64;

    private final @Nullable NativeTimepoint[] ring = new @Nullable NativeTimepoint[KEPT]; // ascending, from oldest
    private int oldest;
    private int count;

    /** Adds a mark, unless the epoch already has a mark; nearly always at the end. */
    synchronized void add(Object queue, long axis, long epoch, Frontier frontier) {
        int at = count == 0 || epochAt(count - 1) < epoch ? count : indexOf(epoch);
        if (at < count && epochAt(at) == epoch) {
            return;
        }
        if (count == KEPT) {
            if (at == 0) {
                return; // the oldest implies it
            }
            ring[oldest] = null;
            oldest = (oldest + 1) % KEPT;
            count--;
            at--;
        }
        for (int i = count++; i > at; i--) {
            ring[(oldest + i) % KEPT] = ring[(oldest + i - 1) % KEPT];
        }
        ring[(oldest + at) % KEPT] = new NativeTimepoint(queue, axis, epoch, frontier);
    }

    private long epochAt(int index) {
        NativeTimepoint mark = ring[(oldest + index) % KEPT];
        return mark == null ? 0 : mark.epoch();
    }

    /** Number of marks. */
    synchronized int size() {
        return count;
    }

    /** Returns the earliest mark at or above an epoch; null for none. */
    synchronized @Nullable NativeTimepoint atOrAbove(long epoch) {
        int low = indexOf(epoch);
        return low == count ? null : ring[(oldest + low) % KEPT];
    }

    /** Returns the index of the earliest mark at or above an epoch, or the insertion point. */
    private int indexOf(long epoch) {
        int low = 0;
        int high = count;
        while (low < high) {
            int middle = low + high >>> 1;
            if (epochAt(middle) < epoch) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
