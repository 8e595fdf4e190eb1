package io.github.iree4j.hal.pool;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warnings of one kind about requests without memory. Callers decide how often such requests come: at most one line
 * is logged in ten seconds, with the number of warnings left out. Guarded by the lock of the set.
 */
final class ShortageLog {
    static final long EVERY_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final Logger LOG = LoggerFactory.getLogger(ShortageLog.class);

    private final LongSupplier clock;
    private long last;
    private long leftOut;

    ShortageLog(LongSupplier clock) {
        this.clock = clock;
        this.last = clock.getAsLong() - EVERY_NANOS;
    }

    /** Logs or counts a warning; the text is made only for a line. */
    void warn(Supplier<String> text) {
        long now = clock.getAsLong();
        if (now - last < EVERY_NANOS) {
            leftOut++;
            return;
        }
        String others = leftOut == 0 ? "" : " (and %d such warnings since the last one)".formatted(leftOut);
        last = now;
        leftOut = 0;
        LOG.warn("{}{}", text.get(), others);
    }
}
