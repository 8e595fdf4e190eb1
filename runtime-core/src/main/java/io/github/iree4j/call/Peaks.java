package io.github.iree4j.call;

import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/** The highest memory peaks of calls, by the bytes of their inputs. Safe from any thread. */
final class Peaks {
    /** Approximate number of sizes tracked: threads recording concurrently may each add a size. A guess, not measured. */
    private static final int SIZES = 64;

    private record Known(long inputs, long peak) {}

    private final ConcurrentSkipListMap<Long, Long> bySize = new ConcurrentSkipListMap<>();
    private volatile @Nullable Known last;

    boolean isEmpty() {
        return bySize.isEmpty();
    }

    /** The highest peak of calls with inputs of the given size, or else of the next larger size; -1 if there was no such call. */
    long ofAtLeast(long inputs) {
        Known known = last;
        if (known != null && known.inputs == inputs) {
            return known.peak;
        }
        Map.Entry<Long, Long> larger = bySize.ceilingEntry(inputs);
        return larger == null ? -1 : larger.getValue();
    }

    /**
     * Guesses the need of a call with larger inputs than all so far: in proportion to the largest inputs, since the
     * peak of calls with tiny inputs is mostly constant, and would be multiplied.
     *
     * @param otherwise the guess where no size is known, or only size 0 with a peak that is not higher
     */
    long inProportion(long inputs, long otherwise) {
        Map.Entry<Long, Long> smaller = bySize.floorEntry(inputs);
        if (smaller == null) {
            return otherwise;
        }
        return smaller.getKey() == 0
                ? Math.max(smaller.getValue(), otherwise)
                : (long) Math.ceil((double) smaller.getValue() / smaller.getKey() * inputs);
    }

    void learn(long inputs, long peak) {
        Known known = last;
        if (known != null && known.inputs == inputs && known.peak >= peak) {
            return;
        }
        long size = inputs;
        if (!bySize.containsKey(inputs) && bySize.size() >= SIZES) {
            Long larger = bySize.ceilingKey(inputs);
            if (larger != null) {
                size = larger; // covers smaller sizes
            } else {
                bySize.pollLastEntry(); // the new size now covers the sizes covered by the removed entry
            }
        }
        long most = bySize.merge(size, peak, Math::max);
        last = new Known(size, most);
    }
}
