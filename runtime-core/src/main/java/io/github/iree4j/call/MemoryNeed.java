package io.github.iree4j.call;

import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/** What calls of one function held at most, by the bytes of their inputs. Safe from any thread. */
final class MemoryNeed {
    /** So many sizes are known apart, about: threads that learn at once may add one each. A guess, not measured. */
    private static final int SIZES = 64;

    /** Of a function that was never called: so many times its inputs. A guess, not measured. */
    private static final long UNKNOWN = 8;

    private record Known(long inputs, long peak) {}

    private final ConcurrentSkipListMap<Long, Long> peaks = new ConcurrentSkipListMap<>();
    private volatile @Nullable Known last;

    /**
     * What a call with inputs of so many bytes will hold. Of a size that was never seen, what the next larger one did; of one beyond all, in
     * proportion to the largest: what calls with tiny inputs hold is mostly the same for all, and would be multiplied.
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
        return smaller == null || smaller.getKey() == 0
                ? UNKNOWN * inputs
                : (long) Math.ceil((double) smaller.getValue() / smaller.getKey() * inputs);
    }

    /** A call with inputs of so many bytes held at most so many. */
    void learn(long inputs, long peak) {
        Known known = last;
        if (known != null && known.inputs == inputs && known.peak >= peak) {
            return;
        }
        long size = inputs;
        if (!peaks.containsKey(inputs) && peaks.size() >= SIZES) {
            Long larger = peaks.ceilingKey(inputs);
            if (larger != null) {
                size = larger; // stands for those below it
            } else {
                peaks.pollLastEntry(); // those that it stood for are this one's
            }
        }
        long most = peaks.merge(size, peak, Math::max);
        last = new Known(size, most);
    }
}
