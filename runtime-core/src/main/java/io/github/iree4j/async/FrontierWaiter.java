package io.github.iree4j.async;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A registered wait for a frontier. The waiter is linked to one axis with a missing epoch; when this epoch arrives the
 * waiter moves to the next axis with a missing epoch. All mutable state is guarded by the tracker's lock until the
 * waiter is unlinked, then owned by the delivering thread.
 */
final class FrontierWaiter extends Callbacks.Due implements Cancellation {
    final FrontierTracker tracker;
    final Frontier frontier;
    private final Consumer<@Nullable IreeException> callback;

    /** Whether the waiter also waits for the end of the work on failed axes. */
    final boolean throughFailure;

    /** The linked axis, or null: the waiter was delivered, is about to be, or was cancelled. */
    @Nullable
    TrackedAxis watched;

    /** The missing epoch of the linked axis. */
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
