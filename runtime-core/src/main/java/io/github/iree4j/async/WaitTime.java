package io.github.iree4j.async;

import java.time.Duration;

/** Timeouts in nanoseconds. */
final class WaitTime {
    static final long FOREVER = Long.MAX_VALUE;

    private WaitTime() {}

    /** Returns the duration in nanoseconds, at least 0; {@link #FOREVER} on overflow. */
    static long nanos(Duration timeout) {
        if (timeout.isNegative()) {
            return 0;
        }
        return timeout.getSeconds() >= Long.MAX_VALUE / 1_000_000_000L ? FOREVER : timeout.toNanos();
    }
}
