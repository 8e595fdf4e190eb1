package io.github.iree4j.status;

import io.github.iree4j.api.NotForApplications;
import java.time.Duration;

/** Timeouts in nanoseconds. */
@NotForApplications
public final class WaitTime {
    /** No limit: 292 years. */
    public static final long FOREVER = Long.MAX_VALUE;

    private WaitTime() {}

    /**
     * Returns a duration in nanoseconds.
     *
     * @param timeout any duration
     * @return nanoseconds, at least 0; {@link #FOREVER} on overflow
     */
    public static long nanos(Duration timeout) {
        if (timeout.isNegative()) {
            return 0;
        }
        return timeout.getSeconds() >= Long.MAX_VALUE / 1_000_000_000L ? FOREVER : timeout.toNanos();
    }
}
