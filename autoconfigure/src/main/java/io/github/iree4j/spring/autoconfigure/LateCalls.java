package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.spring.InvocationService;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.springframework.core.task.AsyncTaskExecutor;

/**
 * Cancels calls that continue too long once an application stops, until programs are stopped themselves; reports when
 * servers have waited too long.
 */
final class LateCalls {

    private static final long AGAIN_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final InvocationService invocations;
    private final AsyncTaskExecutor executor;
    private final StopTimes times;
    private CountDownLatch over = new CountDownLatch(0); // guarded by this, as is the next field
    private long began;

    /**
     * Creates the limiter of late calls.
     *
     * @param executor runs a task that blocks while the application stops
     * @param times maximum durations of the parts of stopping
     */
    LateCalls(InvocationService invocations, AsyncTaskExecutor executor, StopTimes times) {
        this.invocations = invocations;
        this.executor = executor;
        this.times = times;
    }

    /**
     * Begins to limit calls as the application begins to stop, unless begun before.
     *
     * @param overdue runs when servers have waited too long
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
                invocations.monitor().cancelCalls();
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

    /** Ends the cancellation when programs stop; begins the time for calls in flight unless already begun. */
    synchronized void end() {
        if (over.getCount() == 0) {
            began = System.nanoTime();
        }
        over.countDown();
    }

    /** Returns the remaining part of a time limit that began when the application began to stop. */
    synchronized Duration left(Duration limit) {
        Duration left = limit.minusNanos(System.nanoTime() - began);
        return left.isNegative() ? Duration.ZERO : left;
    }
}
