package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.spring.InvocationService;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.springframework.core.task.AsyncTaskExecutor;

/**
 * Cancels calls that continue for too long once an application stops, until programs are stopped themselves; and says
 * when servers have waited for too long.
 */
final class LateCalls {

    private static final long AGAIN_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final InvocationService invocations;
    private final AsyncTaskExecutor executor;
    private final StopTimes times;
    private CountDownLatch over = new CountDownLatch(0); // guarded by this, like the next
    private long began;

    /**
     * Creates it.
     *
     * @param executor runs a task that blocks while the application stops
     * @param times how long each part of stopping may take
     */
    LateCalls(InvocationService invocations, AsyncTaskExecutor executor, StopTimes times) {
        this.invocations = invocations;
        this.executor = executor;
        this.times = times;
    }

    /**
     * The application begins to stop, unless it has before.
     *
     * @param overdue runs when servers have waited for too long
     */
    synchronized void begin(Runnable overdue) {
        if (over.getCount() > 0) {
            return;
        }
        CountDownLatch end = new CountDownLatch(1);
        began = System.nanoTime();
        over = end;
        executor.execute(() -> cancelUntil(end, overdue));
    }

    private void cancelUntil(CountDownLatch end, Runnable overdue) {
        long start = System.nanoTime();
        boolean waited = false;
        try {
            boolean ended = end.await(times.draining().toNanos(), TimeUnit.NANOSECONDS);
            while (!ended) {
                invocations.cancelCalls();
                long left = start + times.serving().toNanos() - System.nanoTime();
                if (left <= 0 && !waited) {
                    waited = true;
                    overdue.run();
                }
                // Requests may make further calls.
                ended = end.await(waited ? AGAIN_NANOS : Math.min(AGAIN_NANOS, left), TimeUnit.NANOSECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Programs stop; begins the time for calls in flight unless it has begun. */
    synchronized void end() {
        if (over.getCount() == 0) {
            began = System.nanoTime();
        }
        over.countDown();
    }

    /** Returns how much is left of a time that began when the application began to stop. */
    synchronized Duration left(Duration limit) {
        Duration left = limit.minusNanos(System.nanoTime() - began);
        return left.isNegative() ? Duration.ZERO : left;
    }
}
