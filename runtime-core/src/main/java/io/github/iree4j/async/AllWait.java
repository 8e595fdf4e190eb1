package io.github.iree4j.async;

import io.github.iree4j.status.IreeException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A wait for several points: calls back when the last point is reached or the first fails, and then cancels the other
 * waits.
 *
 * <p>FENCE-1: the thread taking {@code left} from above zero to zero or below calls back, or has cancelled;
 * {@code left} never rises above zero again.
 */
final class AllWait implements Timepoint, Cancellation {
    /** Far below zero: later decrements do not wrap around. */
    private static final int OVER = Integer.MIN_VALUE / 2;

    private final Consumer<? super @Nullable IreeException> callback;
    private final AtomicInteger left; // number of points not reached yet; OVER or below once called or cancelled
    private final RegisteredWaits waits;

    AllWait(Consumer<? super @Nullable IreeException> callback, int points) {
        this.callback = callback;
        this.left = new AtomicInteger(points);
        this.waits = new RegisteredWaits(points);
    }

    void add(int index, Cancellation wait) {
        waits.add(index, wait);
        if (left.get() < 0) { // the wait ended during this registration
            wait.cancel();
        }
    }

    @Override
    public void reached(long value, @Nullable IreeException failure) {
        if (failure == null) {
            if (left.decrementAndGet() == 0 && left.compareAndSet(0, OVER)) {
                callback.accept(null);
            }
        } else if (finish()) {
            waits.cancel();
            callback.accept(failure);
        }
    }

    @Override
    public boolean cancel() {
        if (finish()) {
            waits.cancel();
            return true;
        }
        return false;
    }

    /** Returns whether this call ends the wait. */
    private boolean finish() {
        for (int n = left.get(); n > 0; n = left.get()) {
            if (left.compareAndSet(n, OVER)) {
                return true;
            }
        }
        return false;
    }
}
