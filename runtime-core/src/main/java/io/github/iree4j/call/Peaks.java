package io.github.iree4j.call;

import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/** The most memory that calls have held, by the bytes of their inputs. Safe from any thread. */
final class Peaks {
    /** Approximate number of sizes tracked: threads that learn concurrently may add one each. A guess, not measured. */
    private static final int SIZES = 64;

    private record Known(long inputs, long peak) {}

    private final ConcurrentSkipListMap<Long, Long> bySize = new ConcurrentSkipListMap<>();
    private volatile @Nullable Known last;

    boolean isEmpty() {
        return bySize.isEmpty();
    }

    /** The most that calls with inputs of that size, or of the next larger one, have held; -1 if there was none. */
    long ofAtLeast(long inputs) {
        Known known = last;
        if (known != null && known.inputs == inputs) {
            return known.peak;
        }
        Map.Entry<Long, Long> larger = bySize.ceilingEntry(inputs);
        return larger == null ? -1 : larger.getValue();
    }

    /**
     * Guesses what a call needs with larger inputs than all so far: in proportion to the largest, since the peak of calls with tiny inputs is
     * mostly constant, and would be multiplied.
     *
     * @param otherwise the guess where no size is known, or only 0, and that peak is not more
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
                bySize.pollLastEntry(); // the sizes it covered are now covered by this one
            }
        }
        long most = bySize.merge(size, peak, Math::max);
        last = new Known(size, most);
    }
}
