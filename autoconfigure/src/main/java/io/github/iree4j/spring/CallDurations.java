package io.github.iree4j.spring;

import io.github.iree4j.api.NotForApplications;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The durations of a function's calls through {@link InvocationOperations}, from the caller's call to the result.
 *
 * @param ended calls ended since the program was loaded
 * @param failed calls of these that failed or were cancelled
 * @param measured calls that the durations are of: the calls ended well in the last minute, the latest 1,024 at most
 * @param median the nearest rank of the measured calls; null without any
 * @param p99 the nearest rank of the measured calls; null for fewer than {@value #FEW}, of which it is the slowest
 * @param slowest of the measured calls; null without any
 */
@NotForApplications
public record CallDurations(
        long ended,
        long failed,
        int measured,
        @Nullable Duration median,
        @Nullable Duration p99,
        @Nullable Duration slowest) {

    private static final int FEW = 100;

    /** Makes the durations of sorted times in nanoseconds. */
    static CallDurations of(long ended, long failed, long[] sorted) {
        int count = sorted.length;
        return new CallDurations(
                ended,
                failed,
                count,
                count == 0 ? null : rank(sorted, 50),
                count < FEW ? null : rank(sorted, 99),
                count == 0 ? null : rank(sorted, 100));
    }

    private static Duration rank(long[] sorted, int percent) {
        return Duration.ofNanos(sorted[(sorted.length * percent + 99) / 100 - 1]);
    }
}
