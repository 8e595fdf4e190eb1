package io.github.iree4j.call;

import io.github.iree4j.async.Fence;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What is asked of a call besides its arguments.
 *
 * @param after what it waits for; null when its inputs are ready
 * @param signal what it signals; null for nothing
 * @param priority among calls of its program
 * @param timeout after which it is given up; null for never
 */
public record CallTerms(
        @Nullable Fence after,
        @Nullable Fence signal,
        int priority,
        @Nullable Duration timeout) {

    /** As many nanoseconds, or as there can be. */
    public static long saturatedNanos(Duration timeout) {
        try {
            return timeout.toNanos();
        } catch (ArithmeticException e) {
            return timeout.isNegative() ? 0 : Long.MAX_VALUE;
        }
    }
}
