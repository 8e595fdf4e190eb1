package io.github.iree4j.async;

import io.github.iree4j.status.IreeException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A wait for the first of several fences: calls back when one is reached or fails, and then drops the other waits.
 *
 * <p>FENCE-2: whoever sets {@code over} calls back, or has cancelled.
 */
final class AnyWait implements Cancellation {
    private final MultiWait.First callback;
    private final AtomicBoolean over = new AtomicBoolean();
    private final @Nullable Cancellation[] waits; // guarded by itself

    AnyWait(MultiWait.First callback, int fences) {
        this.callback = callback;
        this.waits = new @Nullable Cancellation[fences];
    }

    void add(int index, Cancellation wait) {
        synchronized (waits) {
            waits[index] = wait;
        }
        if (over.get()) { // over while this one was being registered
            wait.cancel();
        }
    }

    boolean isOver() {
        return over.get();
    }

    void ended(int index, @Nullable IreeException failure) {
        if (over.compareAndSet(false, true)) {
            dropWaits();
            callback.ended(index, failure);
        }
    }

    @Override
    public boolean cancel() {
        if (over.compareAndSet(false, true)) {
            dropWaits();
            return true;
        }
        return false;
    }

    private void dropWaits() {
        @Nullable Cancellation[] registered;
        synchronized (waits) {
            registered = waits.clone();
        }
        for (Cancellation wait : registered) {
            if (wait != null) {
                wait.cancel();
            }
        }
    }
}
