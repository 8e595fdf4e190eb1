package io.github.iree4j.status;

import io.github.iree4j.api.NotForApplications;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;

/** Durations in texts for people. */
@NotForApplications
public final class DurationText {
    private DurationText() {}

    /**
     * Returns the exact duration, in the largest unit of which the duration is a whole number: for limits.
     *
     * @param duration any duration
     * @return for example {@code 60 s}, {@code 1500 ms}, {@code 20 us} or {@code 1 ns}
     */
    public static String of(Duration duration) {
        int nano = duration.getNano();
        return nano == 0
                ? whole(duration, 0, "s")
                : nano % 1_000_000 == 0
                        ? whole(duration, 3, "ms")
                        : nano % 1_000 == 0 ? whole(duration, 6, "us") : whole(duration, 9, "ns");
    }

    private static String whole(Duration duration, int digits, String unit) {
        return "%s %s".formatted(seconds(duration).movePointRight(digits).toBigIntegerExact(), unit);
    }

    /**
     * Returns the duration in seconds with at most one decimal: for measured times.
     *
     * @param duration any duration
     * @return for example {@code 8.5 s}
     */
    public static String rounded(Duration duration) {
        return seconds(duration)
                        .setScale(1, RoundingMode.HALF_UP)
                        .stripTrailingZeros()
                        .toPlainString()
                + " s";
    }

    private static BigDecimal seconds(Duration duration) {
        return BigDecimal.valueOf(duration.getSeconds()).add(BigDecimal.valueOf(duration.getNano(), 9));
    }
}
