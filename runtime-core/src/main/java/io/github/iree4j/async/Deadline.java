package io.github.iree4j.async;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.DurationText;
import io.github.iree4j.status.WaitTime;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A moment by which work must be done. A request makes its deadline once, on arrival, and hands the deadline down to
 * every wait: loading, a line, retries and calls of one request share the time. Immutable and thread-safe.
 *
 * <p>Two deadlines are equal only if identical. Where a deadline is optional, null is no deadline.
 */
public final class Deadline {
    // Half of the range: differences of two ends do not overflow.
    private static final long LONGEST = Long.MAX_VALUE / 2;

    private final Duration timeout;
    private final LongSupplier clock;
    private final long end;

    private Deadline(Duration timeout, LongSupplier clock) {
        this.timeout = timeout;
        this.clock = clock;
        this.end = clock.getAsLong() + Math.min(WaitTime.nanos(timeout), LONGEST);
    }

    /**
     * Returns the deadline after a duration from now on.
     *
     * @param timeout any duration; a negative one is a deadline that has passed
     * @return the deadline
     */
    public static Deadline after(Duration timeout) {
        return after(timeout, System::nanoTime);
    }

    /**
     * Returns the deadline after a duration from now on, by a given clock.
     *
     * @param timeout any duration
     * @param clock nanoseconds, as {@link System#nanoTime}; read by all methods
     * @return the deadline
     */
    public static Deadline after(Duration timeout, LongSupplier clock) {
        return new Deadline(timeout, clock);
    }

    /**
     * Returns the earlier of two deadlines of the same clock.
     *
     * @param a a deadline; null for none
     * @param b a deadline; null for none
     * @return the first of two simultaneous deadlines; null for none
     */
    public static @Nullable Deadline earliest(@Nullable Deadline a, @Nullable Deadline b) {
        return a == null || b != null && b.end - a.end < 0 ? b : a;
    }

    /**
     * Returns the duration given at the start, for messages.
     *
     * @return from the start to the deadline
     */
    public Duration timeout() {
        return timeout;
    }

    /**
     * Returns the time left.
     *
     * @return zero once the deadline has passed
     */
    public Duration left() {
        return Duration.ofNanos(Math.max(0, end - clock.getAsLong()));
    }

    /**
     * Returns whether the deadline has passed.
     *
     * @return true from the moment on
     */
    public boolean hasPassed() {
        return end - clock.getAsLong() <= 0;
    }

    /**
     * Runs an action once, on a new thread, some time after this deadline has passed.
     *
     * @param grace time after the deadline, zero or more; the time from now on is of the system's clock
     * @param thread the name of the thread
     * @param late the action; may block
     * @return cancels the action
     */
    @NotForApplications
    public Cancellation whenPassed(Duration grace, String thread, Runnable late) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        end.whenComplete((_, failure) -> {
            if (failure instanceof TimeoutException) { // the thread of the clock only starts the thread of the action
                CallThreads.start(thread, late);
            }
        });
        end.orTimeout(left().plus(grace).toNanos(), TimeUnit.NANOSECONDS);
        return () -> end.complete(null);
    }

    @Override
    public String toString() {
        return "%s left of %s".formatted(DurationText.of(left()), DurationText.of(timeout));
    }
}
