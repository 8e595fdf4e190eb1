package io.github.iree4j.async;

import io.github.iree4j.status.IreeException;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** A registered timepoint. Guarded by the semaphore's lock until unlinked, then owned by the delivering thread. */
class SemaphoreWaiter extends Callbacks.Due implements Cancellation {
    final long minimum;
    final TimelineSemaphore semaphore;
    private final Timepoint timepoint;

    @Nullable
    SemaphoreWaiter previous;

    @Nullable
    SemaphoreWaiter next;

    /** Whether the waiter waits for a promise. */
    final boolean forPromise;

    /** The executor calling the waiter when many are due; null for the signalling thread. */
    final @Nullable Executor crowd;

    /** The list containing the waiter, now or before. */
    @Nullable
    WaiterList list;

    boolean linked;
    long reachedValue;

    @Nullable
    IreeException failure;

    SemaphoreWaiter(TimelineSemaphore semaphore, long minimum, Timepoint timepoint, boolean forPromise) {
        this.forPromise = forPromise;
        this.semaphore = semaphore;
        this.minimum = minimum;
        this.timepoint = Objects.requireNonNull(timepoint, "timepoint");
        this.crowd = timepoint instanceof CrowdTimepoint many ? many.crowdExecutor() : null;
    }

    /**
     * The most crowd waiters resumed by the signalling thread itself, for the signalled values and for all values signalled
     * by these waiters: some microseconds. A guess, not measured.
     */
    static final int FEW = 16;

    /** Wakes and calls a chain of unlinked waiters; crowd waiters, callable elsewhere, come last. */
    static void deliver(@Nullable SemaphoreWaiter first, long at, @Nullable IreeException cause) {
        SemaphoreWaiter last = null;
        SemaphoreWaiter crowd = first;
        while (crowd != null && crowd.crowd == null) {
            last = crowd;
            crowd = crowd.next;
        }
        Executor elsewhere = crowd == null ? null : crowd.crowd;
        if (crowd == null || elsewhere == null || !Callbacks.isCrowded(count(crowd))) {
            deliverHere(first, at, cause);
            return;
        }
        SemaphoreWaiter away = crowd;
        elsewhere.execute(() -> deliverAway(away, at, cause));
        if (last != null) {
            last.next = null;
            deliverHere(first, at, cause);
        }
    }

    /** Returns the number of waiters, at most one more than a few. */
    private static int count(SemaphoreWaiter first) {
        int count = 0;
        for (SemaphoreWaiter waiter = first; waiter != null && count <= FEW; waiter = waiter.next) {
            count++;
        }
        return count;
    }

    /** Calls the waiters of the first waiter's executor, on this executor and in order, and passes the other waiters on to their executors. */
    private static void deliverAway(SemaphoreWaiter first, long at, @Nullable IreeException cause) {
        Executor here = first.crowd;
        SemaphoreWaiter head = null;
        SemaphoreWaiter tail = null;
        SemaphoreWaiter others = null;
        SemaphoreWaiter lastOther = null;
        for (SemaphoreWaiter waiter = first; waiter != null; ) {
            SemaphoreWaiter following = waiter.next;
            waiter.next = null;
            if (!Objects.equals(waiter.crowd, here)) {
                if (lastOther == null) {
                    others = waiter;
                } else {
                    lastOther.next = waiter;
                }
                lastOther = waiter;
            } else {
                if (tail == null) {
                    head = waiter;
                } else {
                    tail.next = waiter;
                }
                tail = waiter;
            }
            waiter = following;
        }
        SemaphoreWaiter elsewhere = others;
        if (elsewhere != null && elsewhere.crowd != null) {
            elsewhere.crowd.execute(() -> deliverAway(elsewhere, at, cause));
        }
        Callbacks.resumeAll(true);
        deliverHere(head, at, cause); // in one batch, so resulting ready work is batched too
        Callbacks.resumeAll(false);
    }

    private static void deliverHere(@Nullable SemaphoreWaiter first, long at, @Nullable IreeException cause) {
        SemaphoreWaiter head = null;
        SemaphoreWaiter tail = null;
        for (SemaphoreWaiter waiter = first; waiter != null; ) {
            SemaphoreWaiter following = waiter.next;
            waiter.next = null;
            waiter.previous = null;
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
