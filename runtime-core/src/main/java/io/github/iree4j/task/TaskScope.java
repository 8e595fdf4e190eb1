package io.github.iree4j.task;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A group of processes to wait for together: the number pending, and the first failure.
 *
 * <p>Safe from any thread.
 */
public final class TaskScope {
    /** The polling interval of waiters, in case a wake-up is missed. */
    private static final long LOOK_AGAIN_NANOS = 10_000_000;

    private final String name;
    private final AtomicLong pending = new AtomicLong();
    private final AtomicReference<@Nullable IreeException> failure = new AtomicReference<>();
    private final java.util.concurrent.ConcurrentLinkedQueue<Thread> waiters =
            new java.util.concurrent.ConcurrentLinkedQueue<>();

    /**
     * Creates an idle scope.
     *
     * @param name the name, for diagnostics
     */
    public TaskScope(String name) {
        this.name = name;
    }

    /** Counts one more pending process; pair with {@link #ended}. Called for each process of the scope when it is submitted. */
    public void begun() {
        pending.incrementAndGet();
    }

    /**
     * Counts one pending process less.
     *
     * @param ended its failure, or null
     */
    public void ended(@Nullable IreeException ended) {
        if (ended != null) {
            fail(ended);
        }
        long left = pending.decrementAndGet();
        if (left < 0) {
            pending.incrementAndGet();
            throw new IreeException(StatusCode.FAILED_PRECONDITION, this + " ended more often than begun");
        }
        if (left == 0) {
            for (Thread waiter : waiters) {
                LockSupport.unpark(waiter);
            }
        }
    }

    /**
     * Records a failure. The first one wins.
     *
     * @param first the failure
     */
    public void fail(IreeException first) {
        failure.compareAndSet(null, first);
    }

    /**
     * Returns the first failure.
     *
     * @return the failure, or null
     */
    public @Nullable IreeException failure() {
        return failure.get();
    }

    /**
     * Returns whether nothing is pending.
     *
     * @return true when idle
     */
    public boolean isIdle() {
        return pending.get() == 0;
    }

    /**
     * Waits until nothing is pending. Blocks; not for workers.
     *
     * @param limit the longest wait; zero only checks
     * @throws IreeException {@code DEADLINE_EXCEEDED} when processes are still pending then, {@code CANCELLED} when the thread is
     *     interrupted
     */
    public void awaitIdle(Duration limit) {
        long deadline = System.nanoTime() + limit.toNanos();
        Thread self = Thread.currentThread();
        waiters.add(self);
        try {
            while (!isIdle()) {
                long left = deadline - System.nanoTime();
                if (left <= 0) {
                    throw new IreeException(
                            StatusCode.DEADLINE_EXCEEDED,
                            "%s still has %d pending after %s".formatted(this, pending.get(), limit));
                }
                if (Thread.interrupted()) {
                    self.interrupt();
                    throw new IreeException(StatusCode.CANCELLED, "interrupted while waiting for " + this);
                }
                LockSupport.parkNanos(this, Math.min(left, LOOK_AGAIN_NANOS));
            }
        } finally {
            waiters.remove(self);
        }
    }

    @Override
    public String toString() {
        return "scope '" + name + "'";
    }
}
