package io.github.iree4j.spring.problems;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;

/** Durations in sentences for people. */
final class Seconds {
    private Seconds() {}

    /** Returns the seconds with at most one decimal, for example {@code 8.5 s}. */
    static String of(Duration duration) {
        return BigDecimal.valueOf(duration.toMillis(), 3)
                        .setScale(1, RoundingMode.HALF_UP)
                        .stripTrailingZeros()
                        .toPlainString()
                + " s";
    }
}
