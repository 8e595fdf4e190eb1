package io.github.iree4j.async;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One registered wait on a frontier. It sits in the list of one axis whose epoch it misses; when that arrives it moves to the next
 * that it misses. Everything but the frontier is guarded by the tracker's lock until it is unlinked, then owned by the deliverer.
 */
final class FrontierWaiter extends Callbacks.Due implements Cancellation {
    final FrontierTracker tracker;
    final Frontier frontier;
    private final Consumer<@Nullable IreeException> callback;

    /** Whether it waits for what is on failed axes as well, until that is over. */
    final boolean throughFailure;

    /** Where it sits, or null: delivered, about to be, or cancelled. */
    @Nullable
    TrackedAxis watched;

    /** The epoch of that axis that it misses. */
    long missing;

    @Nullable
    FrontierWaiter previous;

    @Nullable
    FrontierWaiter next;

    @Nullable
    IreeException failure;

    FrontierWaiter(
            FrontierTracker tracker,
            Frontier frontier,
            boolean throughFailure,
            Consumer<@Nullable IreeException> callback) {
        this.tracker = tracker;
        this.throughFailure = throughFailure;
        this.frontier = Objects.requireNonNull(frontier, "frontier");
        this.callback = Objects.requireNonNull(callback, "callback");
    }

    @Override
    void deliver() {
        callback.accept(failure);
    }

    @Override
    public boolean cancel() {
        return tracker.cancel(this);
    }
}
