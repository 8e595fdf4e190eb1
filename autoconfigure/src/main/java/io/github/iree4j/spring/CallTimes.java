package io.github.iree4j.spring;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/**
 * The times of a function's calls, from the caller's call to the result: with the waits for a turn, for memory and for a
 * batch, and with retries. Keeps the latest calls that ended well, so that the figures are of calls and not of buckets.
 * Failures are counted only: a call refused within a microsecond says nothing about the time of an answer. Thread-safe.
 */
final class CallTimes {
    private static final int LATEST = 1024;
    private static final long LATELY = Duration.ofMinutes(1).toNanos();

    /** A call ended well, at a time in nanoseconds. */
    private record Ended(long at, long nanos) {}

    private final LongSupplier clock;
    private final AtomicReferenceArray<Ended> latest = new AtomicReferenceArray<>(LATEST); // a ring
    private final AtomicLong succeeded = new AtomicLong();
    private final LongAdder failed = new LongAdder();

    /**
     * Creates times of no calls.
     *
     * @param clock nanoseconds
     */
    CallTimes(LongSupplier clock) {
        this.clock = clock;
    }

    /** Records the end of a call. */
    void ended(long begun, boolean hasFailed) {
        if (hasFailed) {
            failed.increment();
            return;
        }
        long now = clock.getAsLong();
        latest.setRelease((int) (succeeded.getAndIncrement() % LATEST), new Ended(now, now - begun));
    }

    /** Returns the figures of the last minute, of the latest {@value #LATEST} calls ended well at most. */
    CallDurations durations() {
        long now = clock.getAsLong();
        long[] times = new long[LATEST];
        int count = 0;
        for (int i = 0; i < LATEST; i++) {
            Ended each = latest.getAcquire(i);
            if (each != null && now - each.at <= LATELY) {
                times[count++] = each.nanos;
            }
        }
        Arrays.sort(times, 0, count);
        long failures = failed.sum();
        return CallDurations.of(succeeded.get() + failures, failures, Arrays.copyOf(times, count));
    }
}
