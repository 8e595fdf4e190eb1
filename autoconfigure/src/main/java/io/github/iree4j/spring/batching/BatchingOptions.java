package io.github.iree4j.spring.batching;

import io.github.iree4j.status.DurationText;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;

/**
 * Options for batching the calls of a program. Immutable: each method with a parameter returns changed options.
 *
 * <pre>{@code
 * BatchingOptions.DEFAULTS.maxSize(64).buckets(List.of(16, 64)).maxDelay(Duration.ofMillis(5))
 * }</pre>
 */
public final class BatchingOptions {

    /** At most 32 rows, gathered for at most 2 ms without padding; 2048 rows may wait, and 2 batches be in flight. */
    public static final BatchingOptions DEFAULTS = new BatchingOptions(32, Duration.ofMillis(2), List.of(), 2048, 2);

    private final int maxSize;
    private final Duration maxDelay;
    private final List<Integer> buckets;
    private final int maxWaiting;
    private final int maxInFlight;

    private BatchingOptions(int maxSize, Duration maxDelay, List<Integer> buckets, int maxWaiting, int maxInFlight) {
        this.maxSize = maxSize;
        this.maxDelay = Objects.requireNonNull(maxDelay, "maxDelay");
        this.buckets = List.copyOf(new TreeSet<>(buckets));
        this.maxWaiting = maxWaiting;
        this.maxInFlight = maxInFlight;
        requirePositive("max-size", maxSize);
        requirePositive("max-waiting", maxWaiting);
        requirePositive("max-in-flight", maxInFlight);
        if (maxDelay.isNegative()) {
            throw new IllegalArgumentException(
                    "'max-delay' is %s and must not be negative".formatted(DurationText.of(maxDelay)));
        }
        if (!this.buckets.isEmpty() && (this.buckets.getFirst() < 1 || this.buckets.getLast() > maxSize)) {
            throw new IllegalArgumentException(
                    "'buckets' are %s and must be from 1 to the 'max-size' of %d".formatted(this.buckets, maxSize));
        }
    }

    private static void requirePositive(String name, int value) {
        if (value < 1) {
            throw new IllegalArgumentException("'%s' is %d and must be at least 1".formatted(name, value));
        }
    }

    /**
     * Returns these options with a maximum number of rows of a batch.
     *
     * @param rows at least 1, and at least the largest bucket: set the buckets afterwards
     * @return the options
     * @throws IllegalArgumentException when the number is not positive, or a bucket exceeds the number
     */
    public BatchingOptions maxSize(int rows) {
        return new BatchingOptions(rows, maxDelay, buckets, maxWaiting, maxInFlight);
    }

    /**
     * Returns these options with a maximum wait of a request for others.
     *
     * @param time from the request's arrival; zero or more
     * @return the options
     * @throws IllegalArgumentException when the time is negative
     */
    public BatchingOptions maxDelay(Duration time) {
        return new BatchingOptions(maxSize, time, buckets, maxWaiting, maxInFlight);
    }

    /**
     * Returns these options with batch sizes: a batch is padded with rows of zeros to the next size, so programs, pools
     * and devices see few shapes.
     *
     * @param sizes in rows, each from 1 to the maximum size of a batch, in any order; empty for no padding
     * @return the options
     * @throws IllegalArgumentException when a size is out of range
     */
    public BatchingOptions buckets(List<Integer> sizes) {
        return new BatchingOptions(maxSize, maxDelay, sizes, maxWaiting, maxInFlight);
    }

    /**
     * Returns these options with a maximum number of waiting rows of one function; further calls are rejected with
     * RESOURCE_EXHAUSTED.
     *
     * @param rows at least 1; room for some dozens of batches
     * @return the options
     * @throws IllegalArgumentException when the number is not positive
     */
    public BatchingOptions maxWaiting(int rows) {
        return new BatchingOptions(maxSize, maxDelay, buckets, rows, maxInFlight);
    }

    /**
     * Returns these options with a maximum number of batches of one function in flight; meanwhile the next batch keeps
     * gathering.
     *
     * @param batches at least 1
     * @return the options
     * @throws IllegalArgumentException when the number is not positive
     */
    public BatchingOptions maxInFlight(int batches) {
        return new BatchingOptions(maxSize, maxDelay, buckets, maxWaiting, batches);
    }

    /** Returns these options for batches of at most some rows, without buckets of more rows. */
    BatchingOptions atMost(int rows) {
        List<Integer> fitting =
                buckets.stream().filter(bucket -> bucket <= rows).toList();
        return new BatchingOptions(rows, maxDelay, fitting, maxWaiting, maxInFlight);
    }

    /** Returns these options for a function with a fixed number of rows, which has a single bucket. */
    BatchingOptions fixed(int rows) {
        return new BatchingOptions(rows, maxDelay, List.of(rows), maxWaiting, maxInFlight);
    }

    /** Returns the maximum number of rows of a batch. */
    public int maxSize() {
        return maxSize;
    }

    /** Returns the maximum wait of a request for others, from the request's arrival. */
    public Duration maxDelay() {
        return maxDelay;
    }

    /** Returns the batch sizes in rows, ascending; empty for no padding. */
    public List<Integer> buckets() {
        return buckets;
    }

    /** Returns the maximum number of waiting rows of one function. */
    public int maxWaiting() {
        return maxWaiting;
    }

    /** Returns the maximum number of batches of one function in flight. */
    public int maxInFlight() {
        return maxInFlight;
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
