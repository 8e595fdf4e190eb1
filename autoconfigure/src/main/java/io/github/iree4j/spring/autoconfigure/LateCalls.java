package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.spring.InvocationService;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.springframework.core.task.AsyncTaskExecutor;

/** Cancels calls that continue for too long once an application stops, until programs are stopped themselves. */
final class LateCalls {

    private static final long AGAIN_SECONDS = 1;

    private final InvocationService invocations;
    private final AsyncTaskExecutor executor;
    private final Duration draining;
    private volatile CountDownLatch over = new CountDownLatch(0);
    private volatile long began;

    /**
     * Creates it.
     *
     * @param executor runs a task that blocks while the application stops
     * @param draining how long calls in flight may continue
     */
    LateCalls(InvocationService invocations, AsyncTaskExecutor executor, Duration draining) {
        this.invocations = invocations;
        this.executor = executor;
        this.draining = draining;
    }

    /** The application begins to stop. */
    void begin() {
        CountDownLatch end = new CountDownLatch(1);
        began = System.nanoTime();
        over = end;
        executor.execute(() -> cancelUntil(end));
    }

    private void cancelUntil(CountDownLatch end) {
        try {
            boolean ended = end.await(draining.toNanos(), TimeUnit.NANOSECONDS);
            while (!ended) {
                invocations.cancelCalls();
                ended = end.await(AGAIN_SECONDS, TimeUnit.SECONDS); // requests may make further calls
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Programs stop; returns how long calls in flight may still continue. */
    Duration end() {
        boolean begun = over.getCount() > 0;
        over.countDown();
        if (!begun) {
            return draining;
        }
        Duration left = draining.minusNanos(System.nanoTime() - began);
        return left.isNegative() ? Duration.ZERO : left;
    }
}
