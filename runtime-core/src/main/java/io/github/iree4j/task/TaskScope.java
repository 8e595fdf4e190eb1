package io.github.iree4j.task;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Processes that somebody waits for together: how many are pending, and the first that failed.
 *
 * <p>Safe from any thread.
 */
public final class TaskScope {
    /** Enough for anybody: waiters are few, and look again by themselves. */
    private static final long LOOK_AGAIN_NANOS = 10_000_000;

    private final String name;
    private final AtomicLong pending = new AtomicLong();
    private final AtomicReference<@Nullable IreeException> failure = new AtomicReference<>();
    private final java.util.concurrent.ConcurrentLinkedQueue<Thread> waiters =
            new java.util.concurrent.ConcurrentLinkedQueue<>();

    /**
     * Creates an idle scope.
     *
     * @param name for people
     */
    public TaskScope(String name) {
        this.name = name;
    }

    /** Counts one more as pending; to be paired with {@link #ended}. Processes of the scope do so when they are submitted. */
    public void begun() {
        pending.incrementAndGet();
    }

    /**
     * Counts one less as pending.
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
     * Notes a failure. The first stays.
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
     * @param limit how long to wait; zero only looks
     * @throws IreeException {@code DEADLINE_EXCEEDED} when something is still pending then, {@code CANCELLED} when the thread is interrupted
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
