package io.github.iree4j.call;

import io.github.iree4j.async.CallThreads;
import io.github.iree4j.async.Deadline;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Watches the deadline of a call that does not run on the thread of its caller, until the call has ended. */
final class CallTimer {
    private final @Nullable Deadline deadline;
    private volatile @Nullable CompletableFuture<Void>
            timer; // complete once the call has ended; null without a deadline

    CallTimer(@Nullable Deadline deadline) {
        this.deadline = deadline;
    }

    /** Returns whether the call is late by the clock, whether or not the timer has noticed. */
    boolean hasPassed() {
        return deadline != null && deadline.hasPassed();
    }

    /** Runs the action at the deadline unless the call has ended. The clock's thread only starts the thread that does so. */
    void watch(String function, Runnable late) {
        if (deadline == null) {
            return;
        }
        CompletableFuture<Void> begins = new CompletableFuture<>();
        timer = begins;
        begins.whenComplete((_, failure) -> {
            if (failure instanceof TimeoutException) {
                CallThreads.start("iree4j-late " + function, late);
            }
        });
        begins.orTimeout(deadline.left().toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Ends the watch: the call has ended. */
    void end() {
        CompletableFuture<Void> watching = timer;
        if (watching != null) {
            watching.complete(null);
        }
    }
}
