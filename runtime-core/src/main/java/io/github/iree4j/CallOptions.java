package io.github.iree4j;

import io.github.iree4j.async.Fence;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How one call is made, see {@link ProgramFunction#call}.
 *
 * @param after when inputs are ready; null for now
 * @param signal what to reach when the work is done, a point neither reached nor promised; null when the future is enough
 * @param timeout how long the call may take from its submission, waiting included; null for as long as it takes
 * @param priority calls of higher priority get the turn of their program before others that wait for it, and workers first where {@code
 *     ScanPolicy.byPriority()} asks them to; 0 for most
 */
public record CallOptions(
        @Nullable Fence after,
        @Nullable Fence signal,
        @Nullable Duration timeout,
        int priority) {

    /** A call that begins at once and takes as long as it takes. */
    public static final CallOptions DEFAULTS = new CallOptions(null, null, null, 0);

    /**
     * Checks the timeout.
     *
     * @throws IreeException INVALID_ARGUMENT when it is negative
     */
    public CallOptions {
        if (timeout != null && timeout.isNegative()) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "timeout of %s is negative; at least 0 is possible".formatted(timeout));
        }
    }

    /**
     * Returns these options with fences.
     *
     * @param ready when inputs are ready, or null
     * @param done what to reach when the work is done, or null
     * @return the options
     */
    public CallOptions between(@Nullable Fence ready, @Nullable Fence done) {
        return new CallOptions(ready, done, timeout, priority);
    }

    /**
     * Returns these options with a timeout.
     *
     * @param limit how long the call may take, or null
     * @return the options
     * @throws IreeException INVALID_ARGUMENT when it is negative
     */
    public CallOptions within(@Nullable Duration limit) {
        return new CallOptions(after, signal, limit, priority);
    }

    /**
     * Returns these options with a priority.
     *
     * @param value higher comes first
     * @return the options
     */
    public CallOptions prioritized(int value) {
        return new CallOptions(after, signal, timeout, value);
    }
}
