package io.github.iree4j.task;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
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

    /** Samples beyond this multiple of the known cost are reduced to the multiple. */
    private static final int OUTLIER = 4;

    private static final AtomicBoolean BEGUN = new AtomicBoolean();
    private static volatile long ofProcess; // 0 before the measurement

    private final boolean isGiven;
    private volatile long nanos; // 0 before the measurement

    /**
     * Creates a cost.
     *
     * @param given the cost, or null to measure
     * @param measured whether to measure
     */
    WakeCost(@Nullable Duration given, boolean measured) {
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

    /** Records that a sleeping worker ran this long after its wake-up. */
    void took(long sample) {
        if (!isGiven) {
            long known = nanos();
            long next = known + (Math.clamp(sample, LEAST_NANOS, known * OUTLIER) - known) / 8;
            nanos = Math.clamp(next, LEAST_NANOS, MOST_NANOS);
        }
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
