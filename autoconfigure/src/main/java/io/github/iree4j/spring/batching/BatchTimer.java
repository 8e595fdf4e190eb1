package io.github.iree4j.spring.batching;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.async.CallThreads;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Clock and scheduler of batching; replaceable in tests. */
@NotForApplications
public interface BatchTimer {

    /**
     * Returns the time.
     *
     * @return nanoseconds since an arbitrary origin
     */
    long nanoTime();

    /**
     * Schedules an action on a thread that may block.
     *
     * @param nanos the delay, at least 0
     * @param action the action
     * @return cancels the action unless already started
     */
    Runnable schedule(long nanos, Runnable action);

    /**
     * Schedules the end of a caller's patience. By default equivalent to {@link #schedule}; a clock of simulated time,
     * which may pass at once, counts real time here, as deadlines of unbatched calls do.
     *
     * @param nanos the delay, at least 0
     * @param action the action
     * @return cancels the action unless already started
     */
    default Runnable deadline(long nanos, Runnable action) {
        return schedule(nanos, action);
    }

    /**
     * Returns the system clock, with one timer thread per process.
     *
     * @return the timer
     */
    static BatchTimer system() {
        return SystemTimer.INSTANCE;
    }

    /** A single daemon thread, used only to start other threads. */
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
