package io.example.threads;

import io.github.iree4j.hal.stream.DriverTimeline;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The timelines of a device, and how threads wait for them: one lock for all. */
final class Clock {
    private @Nullable Throwable lost; // why nothing runs any more; guarded by this

    /** A timeline. */
    final class Timeline extends Resource implements DriverTimeline {
        private long value; // guarded by the clock

        Timeline(long value) {
            this.value = value;
        }

        @Override
        public long value() {
            synchronized (Clock.this) {
                checkNotLost();
                return value;
            }
        }

        @Override
        public void signal(long next) {
            synchronized (Clock.this) {
                checkNotLost();
                raise(next);
            }
        }

        /** Under the lock. */
        void raise(long next) {
            value = Math.max(value, next);
            Clock.this.notifyAll();
        }

        /** Under the lock. */
        boolean hasReached(long wanted) {
            return value >= wanted;
        }

        @Override
        protected void destroy() {}
    }

    /** Under the lock: waits until a condition holds, or the time is over, or the device is lost. */
    boolean await(BooleanSupplier condition, long timeoutNanos) throws InterruptedException {
        long start = System.nanoTime();
        while (!condition.getAsBoolean() && lost == null) {
            long left = timeoutNanos - (System.nanoTime() - start);
            if (left <= 0) {
                return false;
            }
            wait(left / 1_000_000, (int) (left % 1_000_000));
        }
        return lost == null;
    }

    /** Under the lock. */
    void changed() {
        notifyAll();
    }

    synchronized void lose(Throwable cause) {
        if (lost == null) {
            lost = cause;
        }
        notifyAll();
    }

    synchronized boolean isLost() {
        return lost != null;
    }

    /** Under the lock. */
    void checkNotLost() {
        if (lost != null) {
            throw new IreeException(StatusCode.ABORTED, "the device is lost: " + lost, lost);
        }
    }
}
