package io.github.iree4j.spring.batching;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;

/**
 * How calls of a program are made together.
 *
 * @param maxSize the most rows of one call
 * @param maxDelay how long a request waits for others, from when it came
 * @param buckets numbers of rows that calls are made with, ascending: a batch gets rows of zeros up to the next, so that programs, pools
 *     and devices see few shapes. None for calls of as many rows as there are
 * @param maxWaiting the most rows of one function that may wait; more are refused with RESOURCE_EXHAUSTED
 * @param maxInFlight how many batches of one function may be in work; while they are, the next one goes on gathering
 */
public record BatchingOptions(int maxSize, Duration maxDelay, List<Integer> buckets, int maxWaiting, int maxInFlight) {

    /**
     * Checks and sorts.
     *
     * @throws IllegalArgumentException when a number is not positive, or a bucket is larger than a call may be
     */
    public BatchingOptions {
        Objects.requireNonNull(maxDelay, "maxDelay");
        requirePositive("max-size", maxSize);
        requirePositive("max-waiting", maxWaiting);
        requirePositive("max-in-flight", maxInFlight);
        if (maxDelay.isNegative()) {
            throw new IllegalArgumentException("'max-delay' is %s and must not be negative".formatted(maxDelay));
        }
        buckets = sorted(buckets);
        if (!buckets.isEmpty() && (buckets.getFirst() < 1 || buckets.getLast() > maxSize)) {
            throw new IllegalArgumentException(
                    "'shape-buckets' are %s and must be from 1 to the 'max-size' of %d".formatted(buckets, maxSize));
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

    /** With how many rows a batch is called that has some. */
    int padded(int rows) {
        for (int bucket : buckets) {
            if (bucket >= rows) {
                return bucket;
            }
        }
        return rows;
    }
}
