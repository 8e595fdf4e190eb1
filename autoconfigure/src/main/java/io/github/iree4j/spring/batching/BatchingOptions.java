package io.github.iree4j.spring.batching;

import io.github.iree4j.status.DurationText;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;

/**
 * Options for batching the calls of a program.
 *
 * @param maxSize maximum number of rows of a batch
 * @param maxDelay maximum wait of a request for others, from the request's arrival
 * @param buckets batch sizes in rows, ascending: a batch is padded with rows of zeros to the next size, so programs,
 *     pools and devices see few shapes. Empty for no padding
 * @param maxWaiting maximum number of waiting rows of one function; further calls are rejected with RESOURCE_EXHAUSTED
 * @param maxInFlight maximum number of batches of one function in flight; meanwhile the next batch keeps gathering
 */
public record BatchingOptions(int maxSize, Duration maxDelay, List<Integer> buckets, int maxWaiting, int maxInFlight) {

    /**
     * Checks and sorts.
     *
     * @throws IllegalArgumentException when a number is not positive, or a bucket exceeds the maximum size of a call
     */
    public BatchingOptions {
        Objects.requireNonNull(maxDelay, "maxDelay");
        requirePositive("max-size", maxSize);
        requirePositive("max-waiting", maxWaiting);
        requirePositive("max-in-flight", maxInFlight);
        if (maxDelay.isNegative()) {
            throw new IllegalArgumentException(
                    "'max-delay' is %s and must not be negative".formatted(DurationText.of(maxDelay)));
        }
        buckets = sorted(buckets);
        if (!buckets.isEmpty() && (buckets.getFirst() < 1 || buckets.getLast() > maxSize)) {
            throw new IllegalArgumentException(
                    "'buckets' are %s and must be from 1 to the 'max-size' of %d".formatted(buckets, maxSize));
        }
    }

    private static List<Integer> sorted(Collection<Integer> buckets) {
        return List.copyOf(new TreeSet<>(buckets));
    }

    private static void requirePositive(String name, int value) {
        if (value < 1) {
            throw new IllegalArgumentException("'%s' is %d and must be at least 1".formatted(name, value));
        }
    }

    /** Returns the number of rows of a batch after padding. */
    int padded(int rows) {
        for (int bucket : buckets) {
            if (bucket >= rows) {
                return bucket;
            }
        }
        return rows;
    }
}
