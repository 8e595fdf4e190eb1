package io.github.iree4j.async;

import io.github.iree4j.status.IreeException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A wait for the first of several fences: calls back when a fence is reached or fails, and then cancels the other
 * waits.
 *
 * <p>FENCE-2: the thread setting {@code over} calls back, or has cancelled.
 */
final class AnyWait implements Cancellation {
    private final MultiWait.First callback;
    private final AtomicBoolean over = new AtomicBoolean();
    private final RegisteredWaits waits;

    AnyWait(MultiWait.First callback, int fences) {
        this.callback = callback;
        this.waits = new RegisteredWaits(fences);
    }

    void add(int index, Cancellation wait) {
        waits.add(index, wait);
        if (over.get()) { // the wait ended during this registration
            wait.cancel();
        }
    }

    boolean isComplete() {
        return over.get();
    }

    void ended(int index, @Nullable IreeException failure) {
        if (over.compareAndSet(false, true)) {
            waits.cancel();
            callback.ended(index, failure);
        }
    }

    @Override
    public boolean cancel() {
        if (over.compareAndSet(false, true)) {
            waits.cancel();
            return true;
        }
        return false;
    }
}
