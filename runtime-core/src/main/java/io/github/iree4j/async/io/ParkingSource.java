package io.github.iree4j.async.io;

import io.github.iree4j.status.IreeException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A source without descriptors, for machines without the native library: sleeps until woken. */
final class ParkingSource implements CompletionSource {
    private final Semaphore wakes = new Semaphore(0);
    private final @Nullable FileBackend files;

    ParkingSource() {
        this(null);
    }

    ParkingSource(@Nullable FileBackend files) {
        this.files = files;
    }

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
            // An interrupt has no meaning for the owner; it checks for work in any case.
        }
    }

    @Override
    public void wake() {
        wakes.release();
    }

    @Override
    public int poll(int limit) {
        return files == null ? 0 : files.poll(limit);
    }

    @Override
    public int pending() {
        return files == null ? 0 : files.pending();
    }

    @Override
    public void stop(IreeException cause) {
        if (files != null) {
            files.stop(cause);
        }
    }

    @Override
    public void close() {
        if (files != null) {
            files.close();
        }
    }
}
