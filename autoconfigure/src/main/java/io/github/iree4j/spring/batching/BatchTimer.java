package io.github.iree4j.spring.batching;

import io.github.iree4j.async.CallThreads;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The time that batches wait by; another in tests. */
public interface BatchTimer {

    /**
     * Returns the time.
     *
     * @return nanoseconds since whenever
     */
    long nanoTime();

    /**
     * Has something run later, on a thread where anything may be done.
     *
     * @param nanos in how long, at least 0
     * @param action what to run
     * @return gives it up, unless it runs already
     */
    Runnable schedule(long nanos, Runnable action);

    /**
     * Returns the time of this machine, on which one thread of the process waits.
     *
     * @return the timer
     */
    static BatchTimer system() {
        return SystemTimer.INSTANCE;
    }

    /** One daemon thread, which only starts others. */
    final class SystemTimer implements BatchTimer {
        private static final SystemTimer INSTANCE = new SystemTimer();

        private final ScheduledThreadPoolExecutor clock = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().daemon().name("iree4j-batching").factory());

        private SystemTimer() {
            clock.setRemoveOnCancelPolicy(true);
        }

        @Override
        public long nanoTime() {
            return System.nanoTime();
        }

        @Override
        public Runnable schedule(long nanos, Runnable action) {
            ScheduledFuture<?> task =
                    clock.schedule(() -> CallThreads.start("iree4j-batch", action), nanos, TimeUnit.NANOSECONDS);
            return () -> task.cancel(false);
        }
    }
}
