package io.github.iree4j.call;

import io.github.iree4j.async.CallThreads;
import io.github.iree4j.status.WaitTime;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The deadline of a call that does not run on the thread that made the call: made once, when the call is made, and
 * watched until the call has ended.
 */
public final class CallDeadline {
    private final @Nullable Duration timeout;
    private final @Nullable Duration limit;
    private final long begun = System.nanoTime();
    private volatile @Nullable CompletableFuture<Void> timer; // complete once the call has ended; null without a limit

    /**
     * Begins the time of a call.
     *
     * @param timeout the time after which the caller abandons the call; null for never
     * @param limit the time after which the program abandons the call; null for never
     */
    public CallDeadline(@Nullable Duration timeout, @Nullable Duration limit) {
        this.timeout = timeout;
        this.limit = least(timeout, limit);
    }

    /** The smaller of two limits, where null is no limit. */
    public static @Nullable Duration least(@Nullable Duration a, @Nullable Duration b) {
        return a == null || b != null && b.compareTo(a) < 0 ? b : a;
    }

    /** The maximum duration of the call; null for any. */
    public @Nullable Duration limit() {
        return limit;
    }

    /** Whether the caller has set a limit. */
    boolean isOfCaller() {
        return timeout != null;
    }

    /** Returns whether the call is late by the clock, whether or not the timer has noticed. */
    boolean hasPassed() {
        return left() <= 0;
    }

    private long left() {
        return limit == null ? Long.MAX_VALUE : WaitTime.nanos(limit) - (System.nanoTime() - begun);
    }

    /** Runs the action at the deadline unless the call has ended. The clock's thread only starts the thread that does so. */
    void watch(String function, Runnable late) {
        if (limit == null) {
            return;
        }
        CompletableFuture<Void> begins = new CompletableFuture<>();
        timer = begins;
        begins.whenComplete((_, failure) -> {
            if (failure instanceof TimeoutException) {
                CallThreads.start("iree4j-late " + function, late);
            }
        });
        begins.orTimeout(left(), TimeUnit.NANOSECONDS);
    }

    /** Ends the watch: the call has ended. */
    void end() {
        CompletableFuture<Void> watching = timer;
        if (watching != null) {
            watching.complete(null);
        }
    }
}
