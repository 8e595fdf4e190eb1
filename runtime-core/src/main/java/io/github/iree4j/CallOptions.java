package io.github.iree4j;

import io.github.iree4j.async.Deadline;
import io.github.iree4j.async.Fence;
import io.github.iree4j.status.DurationText;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Options of one call, see {@link ProgramFunction#call}. Immutable: each method with a parameter returns changed
 * options.
 *
 * <pre>{@code
 * CallOptions.DEFAULTS.after(pictured.fence()).timeout(Duration.ofSeconds(2))
 * }</pre>
 */
public final class CallOptions {

    /** Begins at once, without a timeout, at priority 0. */
    public static final CallOptions DEFAULTS = new CallOptions(null, null, null, null, 0);

    private final @Nullable Fence after;
    private final @Nullable Fence signal;
    private final @Nullable Duration timeout;
    private final @Nullable Deadline deadline; // with the timeout, once the time has begun
    private final int priority;

    private CallOptions(
            @Nullable Fence after,
            @Nullable Fence signal,
            @Nullable Duration timeout,
            @Nullable Deadline deadline,
            int priority) {
        this.after = after;
        this.signal = signal;
        this.timeout = timeout;
        this.deadline = deadline;
        this.priority = priority;
    }

    /**
     * Returns these options with a fence to wait for.
     *
     * @param ready the fence at which inputs are ready, such as {@link Submission#fence}; null when inputs are ready now
     * @return the options
     */
    public CallOptions after(@Nullable Fence ready) {
        return new CallOptions(ready, signal, timeout, deadline, priority);
    }

    /**
     * Returns these options with a fence to signal, for fences made elsewhere; {@link ProgramFunction#submit} makes a
     * fence for the call.
     *
     * @param done the fence to reach when the work is complete, a point neither reached nor promised; null when the
     *     future suffices
     * @return the options
     */
    public CallOptions signal(@Nullable Fence done) {
        return new CallOptions(after, done, timeout, deadline, priority);
    }

    /**
     * Returns these options with a timeout, in place of a deadline.
     *
     * @param limit maximum duration of the call from its submission, waiting included; null for no limit
     * @return the options
     * @throws IreeException INVALID_ARGUMENT when the limit is negative
     */
    public CallOptions timeout(@Nullable Duration limit) {
        if (limit != null && limit.isNegative()) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "timeout of %s must not be negative".formatted(DurationText.of(limit)));
        }
        return new CallOptions(after, signal, limit, null, priority);
    }

    /**
     * Returns these options with a deadline, in place of a timeout: time that has passed before the call counts.
     *
     * @param end the end of the call's time, from a call of {@link Deadline#after(Duration)}; null for none
     * @return the options
     */
    public CallOptions deadline(@Nullable Deadline end) {
        return new CallOptions(after, signal, end == null ? null : end.timeout(), end, priority);
    }

    /**
     * Begins the time of the call: returns these options with a deadline in place of the timeout.
     *
     * @param limit maximum duration of the call from now on, regardless of these options; null for none
     * @return options with the earliest deadline, or with neither deadline nor timeout
     */
    public CallOptions begin(@Nullable Duration limit) {
        Deadline own = deadline != null || timeout == null ? deadline : Deadline.after(timeout);
        Deadline end = Deadline.earliest(own, limit == null ? null : Deadline.after(limit));
        return end == deadline ? this : deadline(end);
    }

    /**
     * Returns these options with a priority.
     *
     * @param value calls of higher priority get the turn of their program before other waiting calls; 0 for most
     * @return the options
     */
    public CallOptions priority(int value) {
        return new CallOptions(after, signal, timeout, deadline, value);
    }

    /**
     * Returns the fence at which inputs are ready.
     *
     * @return empty when inputs are ready now
     */
    public Optional<Fence> after() {
        return Optional.ofNullable(after);
    }

    /**
     * Returns the fence to reach when the work is complete.
     *
     * @return empty when the future suffices
     */
    public Optional<Fence> signal() {
        return Optional.ofNullable(signal);
    }

    /**
     * Returns the deadline of the call.
     *
     * @return empty for no limit, and for a timeout whose time has not begun
     */
    public Optional<Deadline> deadline() {
        return Optional.ofNullable(deadline);
    }

    /**
     * Returns the maximum duration of the call, from the submission or from the beginning of the deadline.
     *
     * @return empty for no limit
     */
    public Optional<Duration> timeout() {
        return Optional.ofNullable(timeout);
    }

    /**
     * Returns the priority.
     *
     * @return higher first; 0 unless set
     */
    public int priority() {
        return priority;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof CallOptions that
                && Objects.equals(after, that.after)
                && Objects.equals(signal, that.signal)
                && Objects.equals(timeout, that.timeout)
                && Objects.equals(deadline, that.deadline)
                && priority == that.priority;
    }

    @Override
    public int hashCode() {
        return Objects.hash(after, signal, timeout, deadline, priority);
    }

    @Override
    public String toString() {
        return "CallOptions[after=%s, signal=%s, timeout=%s, priority=%d]".formatted(after, signal, timeout, priority);
    }
}
