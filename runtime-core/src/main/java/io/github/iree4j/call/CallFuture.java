package io.github.iree4j.call;

import io.github.iree4j.async.CallThreads;
import io.github.iree4j.async.IreeFuture;
import io.github.iree4j.hal.pool.MemoryHolder;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The future returned to a caller. The caller may complete the future to abandon the call. Either this completion or
 * the call's own outcome counts, as decided before the future completes: so results without a receiver are freed before
 * the program may be freed, and the call's fence fails with the failure of the future.
 *
 * <p>The end of a call may run arbitrary code, so no worker runs the end. A thread waiting here runs the end, since the
 * thread is idle and must be woken anyway. Without a waiting thread, a virtual thread runs the end.
 */
final class CallFuture<R> extends IreeFuture<R> {
    /*
     * HANDOFF
     *   null       no thread waits, and the call has not ended
     *   a thread   a thread waiting for the future
     *   a Runnable the end of the call, for that thread
     *   TAKEN      a thread runs the end, or has run it
     *
     * FUTURE-1: an end is run once: by the thread that takes the word to TAKEN.
     */
    private static final Object TAKEN = new Object();

    private static final Object RESULTS = new Object();

    /** Time for which a waiting thread spins before sleeping: the end of a short call comes sooner than a wake-up. */
    private static final long SPIN_NANOS = 10_000;

    private static final int SPINS_PER_LOOK = 16;
    private static final int MOST_SPINNERS = Runtime.getRuntime().availableProcessors() / 2;
    private static final AtomicInteger SPINNERS = new AtomicInteger();

    private final Runnable beforeWaiting;
    private final MemoryHolder holder;
    /** The decision: a failure, or {@link #RESULTS}; null before. */
    private final AtomicReference<@Nullable Object> outcome = new AtomicReference<>();

    private final AtomicReference<@Nullable Object> handoff = new AtomicReference<>();
    private Runnable onFailure = () -> {}; // set before the future is passed on

    /**
     * Creates the future of a call holding memory as the given holder.
     *
     * @param function the full name of the function
     * @param beforeWaiting throws if the calling thread must not wait for the call without a limit
     */
    CallFuture(String function, MemoryHolder holder, Runnable beforeWaiting) {
        super(function);
        this.beforeWaiting = beforeWaiting;
        this.holder = holder;
    }

    /** Sets what runs once a failure is decided, before the future completes and code of the caller runs. Called before a claim. */
    void onFailure(Runnable listener) {
        onFailure = listener;
    }

    /**
     * Decides for the call's results; the caller soon completes the future with the results.
     *
     * @return false when the call has failed, or has been abandoned
     */
    boolean claim() {
        return outcome.compareAndSet(null, RESULTS);
    }

    /**
     * Decides for a failure; the caller soon completes the future with the failure.
     *
     * @return false when the outcome was decided before
     */
    boolean claim(Throwable cause) {
        return outcome.compareAndSet(null, cause);
    }

    /** The failure for which the outcome was decided; null when there is no such failure. */
    @Nullable
    Throwable failure() {
        return outcome.get() instanceof Throwable decided ? decided : null;
    }

    /** Completes with results. Called after a claim; true when the receiver now owns the results. */
    boolean deliver(R results) {
        return woken(super.complete(results));
    }

    /** Completes with a failure after all. Called after a claim. */
    void deliver(Throwable cause) {
        try {
            onFailure.run();
        } finally {
            woken(super.completeExceptionally(cause));
        }
    }

    /**
     * Runs the end of the call, thereby completing the future, on a thread where arbitrary code may run. Does not
     * block. Called once.
     *
     * @param name the name of the thread, if a thread must be created
     * @param end the end of the call
     */
    void conclude(String name, Runnable end) {
        while (true) {
            Object waiting = handoff.get();
            if (waiting instanceof Thread thread) {
                if (handoff.compareAndSet(waiting, end)) {
                    LockSupport.unpark(thread);
                    return;
                }
            } else if (handoff.compareAndSet(null, TAKEN)) {
                CallThreads.start(name, end);
                return;
            }
        }
    }

    // Waiting.

    /** A wait of the current code, which may be the code of a call. */
    private final class Wait implements AutoCloseable {
        private final @Nullable MemoryHolder outer;
        private final @Nullable MemoryHolder before;

        Wait(boolean isLimited) {
            boolean isOver = isDone();
            if (!isOver && !isLimited) {
                beforeWaiting.run();
            }
            outer = isOver ? null : MemoryHolder.current();
            before = outer == null ? null : outer.awaits(holder);
        }

        @Override
        public void close() {
            if (outer != null) {
                outer.goesOn(before);
            }
        }
    }

    @Override
    public R get() throws InterruptedException, ExecutionException {
        try (Wait _ = new Wait(false)) {
            waitForEnd(true, Long.MAX_VALUE);
            return super.get();
        }
    }

    @Override
    public R get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        long start = System.nanoTime();
        long nanos = Math.max(0, unit.toNanos(timeout));
        try (Wait _ = new Wait(true)) {
            waitForEnd(true, nanos);
            return super.get(Math.max(0, nanos - (System.nanoTime() - start)), TimeUnit.NANOSECONDS);
        }
    }

    @Override
    public R join() {
        try (Wait _ = new Wait(false)) {
            waitForEnd(false, Long.MAX_VALUE);
            return super.join();
        }
    }

    /** Returns when the future is complete, when time is up, on an interrupt, or because another thread waits already. */
    private void waitForEnd(boolean interruptibly, long nanos) {
        Thread self = Thread.currentThread();
        if (isDone() || !handoff.compareAndSet(null, self)) {
            return;
        }
        long start = System.nanoTime();
        boolean interrupted = false;
        boolean slept = self.isVirtual() || !spin(self, Math.min(nanos, SPIN_NANOS));
        while (isWaiting(self)) {
            long left = nanos == Long.MAX_VALUE ? nanos : nanos - (System.nanoTime() - start);
            if (isDone() || left <= 0 || (interruptibly && self.isInterrupted())) {
                if (handoff.compareAndSet(self, null)) {
                    return;
                }
            } else if (slept) {
                LockSupport.parkNanos(this, left);
                interrupted |= !interruptibly && Thread.interrupted();
            }
            slept = true;
        }
        if (handoff.getAndSet(TAKEN) instanceof Runnable end) {
            end.run();
        }
        if (interrupted) {
            self.interrupt();
        }
    }

    private boolean isWaiting(Thread self) {
        return self.equals(handoff.get());
    }

    /** Spins for a while; true when the state has changed, or spinning must stop. */
    private boolean spin(Thread self, long nanos) {
        if (SPINNERS.incrementAndGet() <= MOST_SPINNERS) {
            long start = System.nanoTime();
            do {
                for (int i = 0; i < SPINS_PER_LOOK; i++) {
                    if (!isWaiting(self)) {
                        SPINNERS.decrementAndGet();
                        return true;
                    }
                    Thread.onSpinWait();
                }
            } while (System.nanoTime() - start < nanos);
        }
        SPINNERS.decrementAndGet();
        return false;
    }

    // Completion from outside.

    @Override
    public boolean complete(R value) {
        return claim() && woken(super.complete(value));
    }

    @Override
    public boolean completeExceptionally(Throwable cause) {
        boolean isFirst = claim(Objects.requireNonNull(cause));
        if (isFirst) {
            deliver(cause);
        }
        return isFirst;
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        if (!claim(new CancellationException())) {
            return isCancelled();
        }
        try {
            onFailure.run();
        } finally {
            woken(super.cancel(mayInterruptIfRunning));
        }
        return true;
    }

    private boolean woken(boolean completed) {
        if (handoff.get() instanceof Thread waiting) {
            LockSupport.unpark(waiting);
        }
        return completed;
    }
}
