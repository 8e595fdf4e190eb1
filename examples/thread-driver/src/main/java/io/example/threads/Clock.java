package io.example.threads;

import io.github.iree4j.hal.stream.DriverTimeline;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The timelines of a device, with a single lock and condition for all waiting threads. */
final class Clock {
    private @Nullable Throwable failed; // the cause of the loss; guarded by this, like the counter of lanes
    private int running; // number of lanes running commands

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

    /** Waits until a condition holds, the time is up, or the device is lost. Under the lock. */
    boolean await(BooleanSupplier condition, long timeoutNanos) throws InterruptedException {
        long start = System.nanoTime();
        while (!condition.getAsBoolean() && !isLost()) {
            long left = timeoutNanos - (System.nanoTime() - start);
            if (left <= 0) {
                return false;
            }
            wait(left / 1_000_000, (int) (left % 1_000_000));
        }
        return !isLost();
    }

    /** Under the lock. */
    void changed() {
        notifyAll();
    }

    /** Begins commands of a lane, followed by {@link #end}; false once the device has failed. Under the lock. */
    boolean begin() {
        if (failed != null) {
            return false;
        }
        running++;
        return true;
    }

    /** Ends a lane's commands, with the cause of a failure or null. Under the lock. */
    void end(@Nullable Throwable cause) {
        running--;
        if (failed == null) {
            failed = cause;
        }
        notifyAll();
    }

    /** Returns whether the device is lost and no lane runs commands: such lanes use memory. */
    synchronized boolean isLost() {
        return failed != null && running == 0;
    }

    /** Under the lock. */
    void checkNotLost() {
        if (isLost()) {
            throw IreeException.of(StatusCode.ABORTED, "the device is lost: " + failed, failed);
        }
    }
}
