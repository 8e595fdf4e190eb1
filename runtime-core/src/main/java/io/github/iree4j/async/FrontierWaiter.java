package io.github.iree4j.async;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One registered wait for a frontier. It is linked to one axis whose epoch it misses; when that epoch arrives it moves to the next axis
 * that it misses. All mutable state is guarded by the tracker's lock until the waiter is unlinked, then owned by the delivering thread.
 */
final class FrontierWaiter extends Callbacks.Due implements Cancellation {
    final FrontierTracker tracker;
    final Frontier frontier;
    private final Consumer<@Nullable IreeException> callback;

    /** Whether it also waits for the work on failed axes to be over. */
    final boolean throughFailure;

    /** The axis it is linked to, or null: delivered, about to be, or cancelled. */
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
