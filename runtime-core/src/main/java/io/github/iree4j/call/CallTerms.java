package io.github.iree4j.call;

import io.github.iree4j.async.Fence;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The terms of a call besides its arguments.
 *
 * @param after the fence that the call waits for; null when the inputs are ready
 * @param signal the fence signalled by the call; null for none
 * @param priority the priority among calls of the program
 * @param timeout the time after which the caller abandons the call; null for never
 * @param limit the time after which the program abandons the call; null for never
 */
public record CallTerms(
        @Nullable Fence after,
        @Nullable Fence signal,
        int priority,
        @Nullable Duration timeout,
        @Nullable Duration limit) {

    /** The maximum duration of the call: the smaller of timeout and limit; null for any duration. */
    public @Nullable Duration duration() {
        return least(timeout, limit);
    }

    /** The smaller of two limits, where null is no limit. */
    public static @Nullable Duration least(@Nullable Duration a, @Nullable Duration b) {
        return a == null || b != null && b.compareTo(a) < 0 ? b : a;
    }
}
