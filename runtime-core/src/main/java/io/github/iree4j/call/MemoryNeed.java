package io.github.iree4j.call;

import io.github.iree4j.hal.pool.MemoryEstimate;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/** The peak memory of calls of one function, by the bytes of their inputs. Safe from any thread. */
final class MemoryNeed {
    /** Approximate number of sizes tracked: threads that learn concurrently may add one each. A guess, not measured. */
    private static final int SIZES = 64;

    /** Without evidence that grows with the inputs: this multiple of them. A guess, not measured. */
    private static final long UNKNOWN = 8;

    /** What smaller inputs needed may mislead by this factor. A guess, not measured. */
    private static final long DOUBT = 128;

    /**
     * What a call of a function may need that was never called, at least. A guess, not measured: where it exceeds the limit first calls run
     * alone, and others wait for them however long they run, see decision 25.
     */
    private static final long UNSEEN = 512L << 10;

    private record Known(long inputs, long peak) {}

    private final ConcurrentSkipListMap<Long, Long> peaks = new ConcurrentSkipListMap<>();
    private volatile @Nullable Known last;

    /** The need of a call with inputs of the given size, as the line for admission asks for it. */
    private record Estimate(MemoryNeed need, long inputs) implements MemoryEstimate {
        @Override
        public long bytes() {
            return need.of(inputs);
        }

        @Override
        public long most() {
            return need.isMeasured(inputs) ? bytes() : need.doubtful(inputs);
        }
    }

    /** The need of a call with inputs of the given size. */
    MemoryEstimate estimate(long inputs) {
        return new Estimate(this, inputs);
    }

    /** Whether a call with inputs of that size, or larger ones, has shown what it needs. */
    boolean isMeasured(long inputs) {
        Known known = last;
        return known != null && known.inputs == inputs || peaks.ceilingEntry(inputs) != null;
    }

    /** What a call may need whose inputs are larger than all that have shown what they need. */
    private long doubtful(long inputs) {
        long most = DOUBT * of(inputs);
        return peaks.isEmpty() ? Math.max(most, UNSEEN) : most;
    }

    /**
     * Predicts the peak of a call with inputs of the given size. For an unseen size, the peak of the next larger one; beyond all,
     * in proportion to the largest: the peak of calls with tiny inputs is mostly constant, and would be multiplied.
     */
    long of(long inputs) {
        Known known = last;
        if (known != null && known.inputs == inputs) {
            return known.peak;
        }
        Map.Entry<Long, Long> larger = peaks.ceilingEntry(inputs);
        if (larger != null) {
            return larger.getValue();
        }
        Map.Entry<Long, Long> smaller = peaks.floorEntry(inputs);
        if (smaller == null) {
            return UNKNOWN * inputs;
        }
        return smaller.getKey() == 0
                ? Math.max(smaller.getValue(), UNKNOWN * inputs)
                : (long) Math.ceil((double) smaller.getValue() / smaller.getKey() * inputs);
    }

    /** Records the peak of a call with inputs of the given size. */
    void learn(long inputs, long peak) {
        Known known = last;
        if (known != null && known.inputs == inputs && known.peak >= peak) {
            return;
        }
        long size = inputs;
        if (!peaks.containsKey(inputs) && peaks.size() >= SIZES) {
            Long larger = peaks.ceilingKey(inputs);
            if (larger != null) {
                size = larger; // covers smaller sizes
            } else {
                peaks.pollLastEntry(); // the sizes it covered are now covered by this one
            }
        }
        long most = peaks.merge(size, peak, Math::max);
        last = new Known(size, most);
    }
}
