package io.github.iree4j.hal;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.NativeTimepoint;
import org.jspecify.annotations.Nullable;

/**
 * The last epochs of a stream that other queues may want to wait for; a point is made of one once another does. An epoch that is older than all of them is implied by the oldest: true, though
 * less tight. Safe from any thread; its lock is an innermost one.
 */
final class TimepointRing {
    /** How far back another queue finds the very mark that it needs. A guess, not measured. */
    private static final int KEPT = 64;

    private final @Nullable NativeTimepoint[] ring = new @Nullable NativeTimepoint[KEPT]; // ascending, from oldest
    private int oldest;
    private int count;

    /** Adds a mark behind all others. */
    synchronized void add(Object queue, long axis, long epoch, Frontier frontier) {
        NativeTimepoint mark = new NativeTimepoint(queue, axis, epoch, frontier);
        if (count < KEPT) {
            ring[(oldest + count++) % KEPT] = mark;
        } else {
            ring[oldest] = mark;
            oldest = (oldest + 1) % KEPT;
        }
    }

    /** The earliest mark at or above an epoch; null when there is none. */
    synchronized @Nullable NativeTimepoint atOrAbove(long epoch) {
        int low = 0;
        int high = count;
        while (low < high) {
            int middle = low + high >>> 1;
            NativeTimepoint mark = ring[(oldest + middle) % KEPT];
            if (mark != null && mark.epoch() < epoch) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low == count ? null : ring[(oldest + low) % KEPT];
    }
}
