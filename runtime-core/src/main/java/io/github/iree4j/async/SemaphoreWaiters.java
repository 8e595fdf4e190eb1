package io.github.iree4j.async;

import org.jspecify.annotations.Nullable;

/** The waiters of a timeline: for a value, or for a promise of a value. Guarded by the semaphore's lock. */
final class SemaphoreWaiters {
    private final WaiterList forValue = new WaiterList();
    private final WaiterList forPromise = new WaiterList();
    private @Nullable WaiterList crowdForValue; // waiters callable elsewhere; created on demand
    private @Nullable WaiterList crowdForPromise;

    private WaiterList listOf(SemaphoreWaiter waiter) {
        if (waiter.crowd == null) {
            return waiter.forPromise ? forPromise : forValue;
        }
        WaiterList list = waiter.forPromise ? crowdForPromise : crowdForValue;
        if (list == null) {
            list = new WaiterList();
            if (waiter.forPromise) {
                crowdForPromise = list;
            } else {
                crowdForValue = list;
            }
        }
        return list;
    }

    boolean isEmpty() {
        return forValue.isEmpty() && forPromise.isEmpty();
    }

    void add(SemaphoreWaiter waiter) {
        listOf(waiter).add(waiter);
    }

    /** Returns whether something waits for the value, or a lower value, to be reached. */
    boolean isAwaited(long value) {
        WaiterList crowd = crowdForValue;
        return forValue.isAwaited(value) || crowd != null && crowd.isAwaited(value);
    }

    /** Unlinks a waiter; false when unlinked already. */
    static boolean remove(SemaphoreWaiter waiter) {
        WaiterList list = waiter.list;
        return list != null && list.remove(waiter);
    }

    /** Unlinks the waiters for a promise of at most {@code limit}, as a chain through {@code next}. */
    @Nullable
    SemaphoreWaiter takePromised(long limit) {
        return forPromise.takeUpTo(limit, take(crowdForPromise, limit, null));
    }

    /**
     * Unlinks all waiters for at most {@code limit}, as a chain through {@code next}: waiters for the value first,
     * crowd waiters last.
     */
    @Nullable
    SemaphoreWaiter takeReached(long limit) {
        SemaphoreWaiter promised = take(crowdForPromise, limit, null);
        SemaphoreWaiter crowd;
        if (crowdForValue != null && crowdForValue.isCrowd(limit, SemaphoreWaiter.FEW)) {
            crowd = crowdForValue.takeAll(
                    promised); // in constant time: a thousand waiters must not delay the signaller
            crowdForValue = null;
        } else {
            crowd = take(crowdForValue, limit, promised);
        }
        return forValue.takeUpTo(limit, forPromise.takeUpTo(limit, crowd));
    }

    private static @Nullable SemaphoreWaiter take(
            @Nullable WaiterList list, long limit, @Nullable SemaphoreWaiter rest) {
        return list == null ? rest : list.takeUpTo(limit, rest);
    }
}
