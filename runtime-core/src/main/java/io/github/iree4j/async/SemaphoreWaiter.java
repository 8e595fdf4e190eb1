package io.github.iree4j.async;

import io.github.iree4j.status.IreeException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** One registered timepoint. Guarded by the semaphore's lock until it is taken off the list, then owned by the deliverer. */
final class SemaphoreWaiter extends Callbacks.Due implements Cancellation {
    final long minimum;
    private final TimelineSemaphore semaphore;
    private final Timepoint timepoint;

    @Nullable
    SemaphoreWaiter previous;

    @Nullable
    SemaphoreWaiter next;

    boolean linked;
    boolean forPromise; // in the list of those who wait for a promise
    long reachedValue;

    @Nullable
    IreeException failure;

    SemaphoreWaiter(TimelineSemaphore semaphore, long minimum, Timepoint timepoint) {
        this.semaphore = semaphore;
        this.minimum = minimum;
        this.timepoint = Objects.requireNonNull(timepoint, "timepoint");
    }

    /** Calls a chain of waiters that were taken off. */
    static void deliver(@Nullable SemaphoreWaiter first, long at, @Nullable IreeException cause) {
        if (first == null) {
            return;
        }
        for (SemaphoreWaiter waiter = first; waiter != null; ) {
            SemaphoreWaiter following = waiter.next;
            waiter.next = null;
            waiter.due = following;
            waiter.reachedValue = at;
            waiter.failure = cause;
            waiter = following;
        }
        Callbacks.run(first);
    }

    @Override
    void deliver() {
        timepoint.reached(reachedValue, failure);
    }

    @Override
    public boolean cancel() {
        return semaphore.cancel(this);
    }
}
