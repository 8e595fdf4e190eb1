package io.github.iree4j.task;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The time that a sleeping worker takes to run after being woken: a few microseconds on some machines, ten times as
 * long where idle processors sleep deeply or are virtual. Measured with two threads when the first executor of the
 * process is made; each wake-up of a worker corrects the value. Safe from any thread; a lost update does not matter.
 */
final class WakeCost {
    private static final Logger LOG = LoggerFactory.getLogger(WakeCost.class);

    /** Assumed cost before the first measurement. */
    static final long ASSUMED_NANOS = 5_000;

    private static final long LEAST_NANOS = 1_000;

    /** A higher cost is not the cost of a wake-up, but of a machine without a free processor. */
    private static final long MOST_NANOS = 500_000;

    /**
     * Samples beyond this multiple of the known cost are reduced to the multiple. With 2, the cost stays near the median
     * though many wake-ups are late: a worker last run by the processor of the waking thread may wait for the thread's
     * slice to end, for milliseconds.
     */
    private static final int OUTLIER = 2;

    /** A cost not corrected for so long may be {@link #DOUBT} times too high: work not worth the cost wakes no worker, so nothing corrects the cost. */
    private static final long OLD_NANOS = 10_000_000_000L;

    private static final int DOUBT = 4;

    private static final AtomicBoolean BEGUN = new AtomicBoolean();
    private static volatile long ofProcess; // 0 before the measurement

    private final boolean isGiven;
    private final LongSupplier clock;
    private volatile long nanos; // 0 before the measurement
    private volatile long correctedAt;

    /**
     * Creates a cost.
     *
     * @param given the cost, or null to measure
     * @param measured whether to measure
     * @param clock nanoseconds, as {@link System#nanoTime}
     */
    WakeCost(@Nullable Duration given, boolean measured, LongSupplier clock) {
        this.clock = clock;
        correctedAt = clock.getAsLong();
        isGiven = given != null || !measured;
        if (given != null) {
            nanos = Math.clamp(given.toNanos(), 1, MOST_NANOS);
        } else if (measured && BEGUN.compareAndSet(false, true)) {
            start(new Measurement());
        }
    }

    private static void start(Measurement measurement) {
        try {
            Thread.ofPlatform().name("iree4j-wake-cost").daemon().start(measurement);
        } catch (OutOfMemoryError e) { // out of threads: the cost stays unknown until a worker has been woken
            LOG.debug("the cost of waking a thread is not measured: {}", e.toString());
        }
    }

    /** Returns the cost as far as known. */
    long nanos() {
        long own = nanos;
        if (own != 0) {
            return own;
        }
        long known = ofProcess;
        return known == 0 ? ASSUMED_NANOS : known;
    }

    /** Returns whether waking a worker costs less than the given time, or may cost less as far as known. */
    boolean isBelow(long gain) {
        long known = nanos();
        return gain > known || gain > known / DOUBT && isOld();
    }

    private boolean isOld() {
        return !isGiven && clock.getAsLong() - correctedAt > OLD_NANOS;
    }

    /** Records that a sleeping worker ran this long after its wake-up. */
    void took(long sample) {
        if (isGiven) {
            return;
        }
        long known = nanos();
        long change = Math.clamp(sample, LEAST_NANOS, known * OUTLIER) - known;
        nanos = Math.clamp(known + (change < 0 && isOld() ? change : change / 8), LEAST_NANOS, MOST_NANOS);
        correctedAt = clock.getAsLong();
    }

    /** Wakes a thread several times, with pauses long enough for its processor to fall asleep, and keeps the median. */
    private static final class Measurement implements Runnable {
        private static final int ROUNDS = 9;
        private static final long PAUSE_NANOS = 1_000_000;

        private volatile long woken; // time of the wake-up; 0 without a wake-up in progress
        private volatile long took; // 0 until the sleeper has run

        @Override
        public void run() {
            Thread sleeper = Thread.ofPlatform()
                    .name("iree4j-wake-cost-sleeper")
                    .daemon()
                    .start(this::sleep);
            long[] samples = new long[ROUNDS];
            for (int i = 0; i < ROUNDS; i++) {
                LockSupport.parkNanos(this, PAUSE_NANOS);
                took = 0;
                woken = System.nanoTime();
                LockSupport.unpark(sleeper);
                while (took == 0) {
                    LockSupport.parkNanos(this, PAUSE_NANOS);
                }
                samples[i] = took;
            }
            Arrays.sort(samples);
            ofProcess = Math.clamp(samples[ROUNDS / 2], LEAST_NANOS, MOST_NANOS);
        }

        private void sleep() {
            for (int i = 0; i < ROUNDS; i++) {
                while (woken == 0) {
                    LockSupport.park(this);
                }
                long sample = Math.max(1, System.nanoTime() - woken);
                woken = 0;
                took = sample;
            }
        }
    }
}
