package io.github.iree4j.async;

import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A timeline: a value that only goes up, and that work waits on and signals.
 *
 * <p>Values are 0 to {@link #MAXIMUM_VALUE}; signalling one that is not above the current is INVALID_ARGUMENT. A timeline may fail:
 * the first failure stays, reaches all who wait and all who will, whatever value they wait for. When the last reference goes while
 * somebody still waits, nobody is left to signal, so the waiters get CANCELLED; a mere waiter therefore holds no reference.
 *
 * <p>Safe from any thread. Memory: everything done before {@code signal(v)} is visible to whoever sees {@code v} reached.
 */
public final class TimelineSemaphore extends Resource {
    /*
     * value and failure are written under `lock` and read without. Waiters form a list in ascending order of the value they wait
     * for, equal ones in order of registration; whoever unlinks a waiter under `lock` owns its delivery (or cancelled it).
     *
     * SEM-1: a thread that sees value v sees all writes before signal(v) (volatile write and read of `value`).
     * SEM-2: a waiter is delivered or cancelled exactly once (unlinked under `lock`, delivered outside it).
     * SEM-3: no waiter is lost: it is linked, and the value tested again, under the `lock` that signal() holds.
     */

    /** The largest value a timeline can reach. */
    public static final long MAXIMUM_VALUE = Long.MAX_VALUE - 1;

    private final Object lock = new Object();
    private volatile long value;
    private volatile @Nullable IreeException failure;
    private @Nullable Waiter head; // guarded by lock, like tail and parked
    private @Nullable Waiter tail;
    private int parked;

    private TimelineSemaphore(long initialValue) {
        if (initialValue < 0 || initialValue > MAXIMUM_VALUE) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "initial semaphore value " + initialValue + " is not within [0, " + MAXIMUM_VALUE + "]");
        }
        this.value = initialValue;
    }

    /**
     * Creates a timeline.
     *
     * @param initialValue where it starts; not negative
     * @return the timeline; the caller closes it
     */
    public static TimelineSemaphore create(long initialValue) {
        return new TimelineSemaphore(initialValue);
    }

    /**
     * Returns the current value, also after a failure.
     *
     * @return the largest value signalled so far
     */
    public long value() {
        return value;
    }

    /**
     * Returns the failure, if the timeline has failed.
     *
     * @return the first failure, or null
     */
    public @Nullable IreeException failure() {
        return failure;
    }

    /**
     * Returns whether the value is reached and the timeline has not failed.
     *
     * @param minimum the value asked for
     * @return true if a wait for it would succeed at once
     */
    public boolean isReached(long minimum) {
        return value >= minimum && failure == null;
    }

    /**
     * Moves the timeline up and runs the timepoints that this makes due.
     *
     * @param next the new value, above the current one
     * @throws IreeException INVALID_ARGUMENT when not above the current value; the timeline's own failure when it has failed
     */
    public void signal(long next) {
        Waiter due;
        synchronized (lock) {
            IreeException failed = failure;
            if (failed != null) {
                throw failed.during("signal of a failed semaphore to " + next);
            }
            if (next <= value || next > MAXIMUM_VALUE) {
                throw new IreeException(
                        StatusCode.INVALID_ARGUMENT,
                        "semaphore value must increase: " + value + " -> " + next + "; each value is signalled once");
            }
            value = next; // SEM-1
            due = unlinkUpTo(next);
            if (parked > 0) {
                lock.notifyAll();
            }
        }
        deliver(due, next, null);
    }

    /**
     * Fails the timeline for good; ignored if it has failed before.
     *
     * @param cause why; every waiter gets it
     */
    public void fail(IreeException cause) {
        Objects.requireNonNull(cause, "cause");
        Waiter due;
        long at;
        synchronized (lock) {
            if (failure != null) {
                return;
            }
            failure = cause;
            at = value;
            due = unlinkUpTo(Long.MAX_VALUE);
            if (parked > 0) {
                lock.notifyAll();
            }
        }
        deliver(due, at, cause);
    }

    /**
     * Calls back once the value is reached or the timeline fails: on this thread if either is so already, else on the thread that
     * brings it about.
     *
     * @param minimum the value waited for
     * @param timepoint what to call
     * @return takes the callback back
     */
    public Cancellation whenReached(long minimum, Timepoint timepoint) {
        Waiter waiter = new Waiter(this, minimum, timepoint);
        synchronized (lock) {
            IreeException failed = failure;
            if (failed == null && value < minimum) {
                if (!isLive()) {
                    waiter.failure = abandoned(minimum);
                } else {
                    link(waiter); // SEM-3
                    return waiter;
                }
            } else {
                waiter.failure = failed;
            }
            waiter.reachedValue = value;
        }
        Callbacks.run(waiter);
        return waiter;
    }

    /**
     * Blocks until the value is reached. A virtual thread that waits occupies no carrier.
     *
     * @param minimum the value waited for
     * @throws IreeException the timeline's failure; CANCELLED when interrupted (the thread stays interrupted)
     */
    public void await(long minimum) {
        await(minimum, Long.MAX_VALUE);
    }

    /**
     * Blocks until the value is reached or time runs out. A virtual thread that waits occupies no carrier.
     *
     * @param minimum the value waited for
     * @param timeout how long to wait at most; zero only looks
     * @throws IreeException DEADLINE_EXCEEDED; the timeline's failure; CANCELLED when interrupted (the thread stays interrupted)
     */
    public void await(long minimum, Duration timeout) {
        await(minimum, saturatedNanos(timeout));
    }

    /** Waits; {@code Long.MAX_VALUE} nanoseconds are forever. */
    void await(long minimum, long timeoutNanos) {
        if (isReached(minimum)) {
            return;
        }
        Callbacks.help();
        boolean forever = timeoutNanos == Long.MAX_VALUE;
        long deadline = forever ? 0 : System.nanoTime() + timeoutNanos;
        synchronized (lock) {
            parked++;
            try {
                while (failure == null && value < minimum) {
                    if (!isLive()) {
                        throw abandoned(minimum);
                    }
                    if (forever) {
                        lock.wait();
                        continue;
                    }
                    long left = deadline - System.nanoTime();
                    if (left <= 0) {
                        throw new IreeException(
                                StatusCode.DEADLINE_EXCEEDED,
                                "semaphore is at " + value + " and did not reach " + minimum + " within "
                                        + Duration.ofNanos(timeoutNanos));
                    }
                    lock.wait(left / 1_000_000, (int) (left % 1_000_000));
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IreeException(
                        StatusCode.CANCELLED, "interrupted while waiting for semaphore value " + minimum, e);
            } finally {
                parked--;
            }
        }
        IreeException failed = failure;
        if (failed != null) {
            throw rethrown(failed);
        }
    }

    /** The same failure for another thread to throw: its own stack trace, the original as the cause. */
    static IreeException rethrown(IreeException failure) {
        return new IreeException(failure.code(), failure.getMessage(), failure);
    }

    /** The duration in nanoseconds, at least 0; what a long cannot hold is forever. */
    static long saturatedNanos(Duration timeout) {
        if (timeout.isNegative()) {
            return 0;
        }
        return timeout.getSeconds() >= Long.MAX_VALUE / 1_000_000_000L ? Long.MAX_VALUE : timeout.toNanos();
    }

    private static IreeException abandoned(long minimum) {
        return new IreeException(
                StatusCode.CANCELLED,
                "semaphore was closed before it reached " + minimum + "; whoever signals it keeps it open");
    }

    @Override
    protected String describe() {
        return "semaphore at " + value;
    }

    @Override
    protected void destroy() {
        Waiter due;
        long at;
        synchronized (lock) {
            at = value;
            due = unlinkUpTo(Long.MAX_VALUE);
            if (parked > 0) {
                lock.notifyAll();
            }
        }
        if (due != null) {
            deliver(due, at, abandoned(due.minimum));
        }
    }

    /** Under the lock: inserts in ascending order, from the end, where new waits nearly always belong, or at the start. */
    private void link(Waiter waiter) {
        Waiter before = head != null && waiter.minimum < head.minimum ? null : tail;
        while (before != null && before.minimum > waiter.minimum) {
            before = before.previous;
        }
        Waiter after = before == null ? head : before.next;
        waiter.previous = before;
        waiter.next = after;
        if (before == null) {
            head = waiter;
        } else {
            before.next = waiter;
        }
        if (after == null) {
            tail = waiter;
        } else {
            after.previous = waiter;
        }
        waiter.linked = true;
    }

    /** Under the lock: takes off all that wait for at most {@code limit} and returns them as a chain. */
    private @Nullable Waiter unlinkUpTo(long limit) {
        Waiter first = head;
        Waiter last = null;
        Waiter next = first;
        while (next != null && next.minimum <= limit) {
            next.linked = false; // SEM-2
            next.previous = null;
            last = next;
            next = next.next;
        }
        if (last == null) {
            return null;
        }
        last.next = null;
        head = next;
        if (next == null) {
            tail = null;
        } else {
            next.previous = null;
        }
        return first;
    }

    private boolean unlink(Waiter waiter) {
        synchronized (lock) {
            if (!waiter.linked) {
                return false;
            }
            waiter.linked = false; // SEM-2
            if (waiter.previous == null) {
                head = waiter.next;
            } else {
                waiter.previous.next = waiter.next;
            }
            if (waiter.next == null) {
                tail = waiter.previous;
            } else {
                waiter.next.previous = waiter.previous;
            }
            waiter.previous = null;
            waiter.next = null;
            return true;
        }
    }

    private static void deliver(@Nullable Waiter due, long at, @Nullable IreeException cause) {
        if (due == null) {
            return;
        }
        for (Waiter waiter = due; waiter != null; ) {
            Waiter following = waiter.next;
            waiter.next = null;
            waiter.due = following;
            waiter.reachedValue = at;
            waiter.failure = cause;
            waiter = following;
        }
        Callbacks.run(due);
    }

    /** One registered timepoint. Links are guarded by the semaphore's lock until it is unlinked, then owned by the deliverer. */
    static final class Waiter extends Callbacks.Due implements Cancellation {
        private final TimelineSemaphore semaphore;
        private final long minimum;
        private final Timepoint timepoint;
        private @Nullable Waiter previous;
        private @Nullable Waiter next;
        private boolean linked;
        private long reachedValue;
        private @Nullable IreeException failure;

        private Waiter(TimelineSemaphore semaphore, long minimum, Timepoint timepoint) {
            this.semaphore = semaphore;
            this.minimum = minimum;
            this.timepoint = Objects.requireNonNull(timepoint, "timepoint");
        }

        @Override
        void deliver() {
            timepoint.reached(reachedValue, failure);
        }

        @Override
        public boolean cancel() {
            return semaphore.unlink(this);
        }
    }
}
