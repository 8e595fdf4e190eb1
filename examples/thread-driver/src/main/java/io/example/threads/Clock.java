package io.example.threads;

import io.github.iree4j.hal.stream.DriverTimeline;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The timelines of a device, and how threads wait for them: one lock for all. */
final class Clock {
    private @Nullable Throwable failed; // the cause of the loss; guarded by this, like the next
    private int running; // lanes that are running commands

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

    /** Under the lock: waits until a condition holds, the time is up, or the device is lost. */
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

    /** Under the lock: a lane may begin with commands; {@link #end} follows. */
    boolean begin() {
        if (failed != null) {
            return false;
        }
        running++;
        return true;
    }

    /** Under the lock: a lane is done with commands; with why nothing may rely on them, or null. */
    void end(@Nullable Throwable cause) {
        running--;
        if (failed == null) {
            failed = cause;
        }
        notifyAll();
    }

    /** Whether the device is lost: other lanes use memory until they are done with the commands that they have begun. */
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
