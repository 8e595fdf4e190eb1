package io.github.iree4j.flight;

import java.util.stream.LongStream;

/** Nearest ranks of durations, in words: the median and, of a hundred durations or more, the 99th percentile. */
final class Percentiles {
    private static final int FEW = 100; // of fewer the 99th percentile is the longest

    private Percentiles() {}

    /** Describes durations in nanoseconds, at least one. */
    static String of(LongStream durations) {
        long[] sorted = durations.sorted().toArray();
        String median = "p50 " + Explanation.duration(rank(sorted, 50));
        return sorted.length < FEW ? median : median + ", p99 " + Explanation.duration(rank(sorted, 99));
    }

    private static long rank(long[] sorted, int percent) {
        return sorted[(int) (((long) sorted.length * percent + 99) / 100) - 1];
    }
}
