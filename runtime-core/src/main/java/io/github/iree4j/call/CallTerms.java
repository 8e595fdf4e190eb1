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
 * @param timeout after which it is abandoned; null for never
 * @param limit the same for a call without timeout
 */
public record CallTerms(
        @Nullable Fence after,
        @Nullable Fence signal,
        int priority,
        @Nullable Duration timeout,
        @Nullable Duration limit) {

    /** The timeout in nanoseconds, saturated. */
    public static long saturatedNanos(Duration timeout) {
        try {
            return timeout.toNanos();
        } catch (ArithmeticException e) {
            return timeout.isNegative() ? 0 : Long.MAX_VALUE;
        }
    }
}
