package io.github.iree4j;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** What calls of one function held at most, by the bytes of their inputs. Safe from any thread. */
final class MemoryNeed {
    /** So many sizes are known apart. A guess, not measured. */
    private static final int SIZES = 64;

    /** Of a function that was never called: so many times its inputs. A guess, not measured. */
    private static final long UNKNOWN = 8;

    private record Known(long inputs, long peak) {}

    private final Map<Long, Long> peaks = new ConcurrentHashMap<>();
    private volatile @Nullable Known last;
    private volatile double ratio;

    /** What a call with inputs of so many bytes will hold; of sizes that were never seen in proportion to those that were. */
    long of(long inputs) {
        Known known = last;
        if (known != null && known.inputs == inputs) {
            return known.peak;
        }
        Long peak = peaks.get(inputs);
        if (peak != null) {
            return peak;
        }
        return known == null ? UNKNOWN * inputs : (long) Math.ceil(ratio * Math.max(1, inputs));
    }

    /** A call with inputs of so many bytes held at most so many. */
    void learn(long inputs, long peak) {
        Known known = last;
        if (known != null && known.inputs == inputs && known.peak >= peak) {
            return;
        }
        if (peaks.size() < SIZES || peaks.containsKey(inputs)) {
            peak = peaks.merge(inputs, peak, Math::max);
        }
        ratio = Math.max(ratio, (double) peak / Math.max(1, inputs));
        last = new Known(inputs, peak);
    }
}
