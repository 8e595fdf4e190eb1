package io.github.iree4j.async;

import io.github.iree4j.status.IreeException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** One registered timepoint. Guarded by the semaphore's lock until it is taken off the list, then owned by the deliverer. */
class SemaphoreWaiter extends Callbacks.Due implements Cancellation {
    final long minimum;
    final TimelineSemaphore semaphore;
    private final Timepoint timepoint;

    @Nullable
    SemaphoreWaiter previous;

    @Nullable
    SemaphoreWaiter next;

    /** In the list of those who wait for a promise. */
    final boolean forPromise;

    boolean linked;
    long reachedValue;

    @Nullable
    IreeException failure;

    SemaphoreWaiter(TimelineSemaphore semaphore, long minimum, Timepoint timepoint, boolean forPromise) {
        this.forPromise = forPromise;
        this.semaphore = semaphore;
        this.minimum = minimum;
        this.timepoint = Objects.requireNonNull(timepoint, "timepoint");
    }

    /** Wakes and calls a chain of waiters that were taken off. */
    static void deliver(@Nullable SemaphoreWaiter first, long at, @Nullable IreeException cause) {
        SemaphoreWaiter head = null;
        SemaphoreWaiter tail = null;
        for (SemaphoreWaiter waiter = first; waiter != null; ) {
            SemaphoreWaiter following = waiter.next;
            waiter.next = null;
            waiter.reachedValue = at;
            waiter.failure = cause;
            if (waiter instanceof ParkedThread parked) {
                parked.wake();
            } else if (tail == null) {
                head = waiter;
                tail = waiter;
            } else {
                tail.due = waiter;
                tail = waiter;
            }
            waiter = following;
        }
        if (head != null) {
            Callbacks.run(head);
        }
    }

    @Override
    final void deliver() {
        timepoint.reached(reachedValue, failure);
    }

    @Override
    public final boolean cancel() {
        return semaphore.cancel(this);
    }
}
