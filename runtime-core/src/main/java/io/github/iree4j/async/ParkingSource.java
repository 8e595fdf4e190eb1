package io.github.iree4j.async;

import io.github.iree4j.status.IreeException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** A source of nothing but sleep, for proactors that have timers and messages only. */
final class ParkingSource implements CompletionSource {
    private final Semaphore wakes = new Semaphore(0);

    @Override
    public void await(long timeoutNanos) {
        try {
            if (timeoutNanos < 0) {
                wakes.acquire();
            } else if (!wakes.tryAcquire(timeoutNanos, TimeUnit.NANOSECONDS)) {
                return;
            }
            wakes.drainPermits();
        } catch (InterruptedException e) {
            // Nobody interrupts an owner for a reason; what it slept for is looked at anyway.
        }
    }

    @Override
    public void wake() {
        wakes.release();
    }

    @Override
    public int poll(int limit) {
        return 0;
    }

    @Override
    public int pending() {
        return 0;
    }

    @Override
    public void stop(IreeException cause) {}

    @Override
    public void close() {}
}
