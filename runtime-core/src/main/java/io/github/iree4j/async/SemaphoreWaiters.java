package io.github.iree4j.async;

import org.jspecify.annotations.Nullable;

/** Who waits on one timeline: for a value, or for a promise of it. Guarded by the semaphore's lock. */
final class SemaphoreWaiters {
    private final WaiterList forValue = new WaiterList();
    private final WaiterList forPromise = new WaiterList();

    private WaiterList listOf(SemaphoreWaiter waiter) {
        return waiter.forPromise ? forPromise : forValue;
    }

    void add(SemaphoreWaiter waiter) {
        listOf(waiter).add(waiter);
    }

    /** Takes one off; false when it is off already. */
    boolean remove(SemaphoreWaiter waiter) {
        return listOf(waiter).remove(waiter);
    }

    /** Takes off those who wait for a promise of at most {@code limit}, as a chain through {@code next}. */
    @Nullable
    SemaphoreWaiter takePromised(long limit) {
        return forPromise.takeUpTo(limit, null);
    }

    /** Takes off all who wait for at most {@code limit}, those for the value first, as a chain through {@code next}. */
    @Nullable
    SemaphoreWaiter takeReached(long limit) {
        return forValue.takeUpTo(limit, forPromise.takeUpTo(limit, null));
    }
}
