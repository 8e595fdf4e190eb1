package io.github.iree4j.hal.schedule;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.NativeTimepoint;
import org.jspecify.annotations.Nullable;

/**
 * The last epochs of a stream that other queues may want to wait for; one becomes a point only once another queue does. An epoch
 * that is older than all of them is implied by the oldest: correct, though less tight. Safe from any thread; its lock is an
 * innermost one.
 */
final class TimepointRing {
    /** Number of recent marks from which another queue finds the exact one that it needs. A guess, not measured. */
    private static final int KEPT = 64;

    private final @Nullable NativeTimepoint[] ring = new @Nullable NativeTimepoint[KEPT]; // ascending, from oldest
    private int oldest;
    private int count;

    /** Adds a mark, if there is none at that epoch; nearly always at the end. */
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

    /** The earliest mark at or above an epoch; null when there is none. */
    synchronized @Nullable NativeTimepoint atOrAbove(long epoch) {
        int low = indexOf(epoch);
        return low == count ? null : ring[(oldest + low) % KEPT];
    }

    /** Index of that mark, or its insertion point. */
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
