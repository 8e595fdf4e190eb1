package io.github.iree4j.call;

import io.github.iree4j.async.Fence;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The terms of a call besides its arguments.
 *
 * @param after the fence it waits for; null when its inputs are ready
 * @param signal the fence it signals; null for none
 * @param priority among calls of its program
 * @param timeout after which its caller abandons it; null for never
 * @param limit after which its program does; null for never
 */
public record CallTerms(
        @Nullable Fence after,
        @Nullable Fence signal,
        int priority,
        @Nullable Duration timeout,
        @Nullable Duration limit) {

    /** How long it may take: the less of both; null for any time. */
    public @Nullable Duration duration() {
        return least(timeout, limit);
    }

    /** The less of two limits, of which null is none. */
    public static @Nullable Duration least(@Nullable Duration a, @Nullable Duration b) {
        return a == null || b != null && b.compareTo(a) < 0 ? b : a;
    }

    /** The timeout in nanoseconds, saturated. */
    public static long saturatedNanos(Duration timeout) {
        try {
            return timeout.toNanos();
        } catch (ArithmeticException e) {
            return timeout.isNegative() ? 0 : Long.MAX_VALUE;
        }
    }
}
