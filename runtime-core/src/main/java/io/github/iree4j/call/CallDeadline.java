package io.github.iree4j.call;

import io.github.iree4j.async.CallThreads;
import io.github.iree4j.status.WaitTime;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** The deadline of a call that does not run on the thread that made the call. */
final class CallDeadline {
    private final @Nullable Duration limit;
    private final long begun;
    private volatile @Nullable CompletableFuture<Void> timer; // complete once the call has ended; null without a limit

    /**
     * Creates a deadline without a timer.
     *
     * @param limit the maximum duration of the call; null for any
     * @param begun the start of the call's time, by {@link System#nanoTime}
     */
    CallDeadline(@Nullable Duration limit, long begun) {
        this.limit = limit;
        this.begun = begun;
    }

    @Nullable
    Duration limit() {
        return limit;
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
