package io.github.iree4j;

import io.github.iree4j.async.Fence;
import io.github.iree4j.call.CallTerms;
import io.github.iree4j.status.DurationText;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Options of one call, see {@link ProgramFunction#call}.
 *
 * @param after the fence at which inputs are ready; null when inputs are ready now
 * @param signal the fence to reach when the work is complete, a point neither reached nor promised; null when the future suffices
 * @param timeout how long the call may take from its submission, waiting included; null for no limit
 * @param priority calls of higher priority get the turn of their program before other waiting calls; 0 for most
 */
public record CallOptions(
        @Nullable Fence after,
        @Nullable Fence signal,
        @Nullable Duration timeout,
        int priority) {

    /** Begins at once, without a limit. */
    public static final CallOptions DEFAULTS = new CallOptions(null, null, null, 0);

    /**
     * Checks the timeout.
     *
     * @throws IreeException INVALID_ARGUMENT when the timeout is negative
     */
    public CallOptions {
        if (timeout != null && timeout.isNegative()) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "timeout of %s must not be negative".formatted(DurationText.of(timeout)));
        }
    }

    /**
     * Returns these options with fences.
     *
     * @param ready the fence at which inputs are ready, or null
     * @param done the fence to reach when the work is complete, or null
     * @return the options
     */
    public CallOptions between(@Nullable Fence ready, @Nullable Fence done) {
        return new CallOptions(ready, done, timeout, priority);
    }

    /**
     * Returns these options with a timeout.
     *
     * @param limit maximum duration of the call, or null
     * @return the options
     * @throws IreeException INVALID_ARGUMENT when the limit is negative
     */
    public CallOptions within(@Nullable Duration limit) {
        return new CallOptions(after, signal, limit, priority);
    }

    /**
     * Returns these options with a timeout that is no longer than a limit.
     *
     * @param limit maximum duration of the call, regardless of these options; null for none
     * @return the options
     * @throws IreeException INVALID_ARGUMENT when the limit is negative
     */
    public CallOptions limited(@Nullable Duration limit) {
        return within(CallTerms.least(timeout, limit));
    }

    /**
     * Returns these options with a priority.
     *
     * @param value higher values come first
     * @return the options
     */
    public CallOptions prioritized(int value) {
        return new CallOptions(after, signal, timeout, value);
    }
}
