package io.github.iree4j.status;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Looks at something that may hang, on a thread that may hang. One look answers everybody who asked before the look
 * began; whoever asks later gets a later look. A look that takes too long has no answer, and until the end of this look
 * everybody gets this result at once: so at most one look hangs, and one waits behind.
 *
 * @param <V> the answer
 */
final class Looks<V> {
    private final Supplier<V> look;
    private final Executor thread;
    private final Duration patience;
    private @Nullable CompletableFuture<@Nullable V> running; // guarded by this
    private @Nullable CompletableFuture<@Nullable V> next; // has not begun; guarded by this

    /**
     * Creates looks.
     *
     * @param patience the time after which a look has no answer, from the first question on
     */
    Looks(Supplier<V> look, Executor thread, Duration patience) {
        this.look = look;
        this.thread = thread;
        this.patience = patience;
    }

    /** Returns the answer of a look that begins after this call, within the patience; null for no answer. */
    CompletableFuture<@Nullable V> ask() {
        CompletableFuture<@Nullable V> asked;
        synchronized (this) {
            if (running != null && running.isDone()) { // only by the clock: the look has not ended
                return running;
            }
            if (next != null) {
                return next;
            }
            asked = new CompletableFuture<>();
            next = asked;
        }
        asked.completeOnTimeout(null, patience.toNanos(), TimeUnit.NANOSECONDS);
        thread.execute(() -> lookFor(asked));
        return asked;
    }

    private void lookFor(CompletableFuture<@Nullable V> asked) {
        synchronized (this) {
            running = asked;
            next = null; // PLACE-2: before the look
        }
        V answer = null;
        try {
            answer = look.get();
        } finally {
            synchronized (this) {
                running = null;
            }
            asked.complete(answer);
        }
    }
}
