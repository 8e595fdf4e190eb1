package io.github.iree4j.hal.local;

import io.github.iree4j.hal.loader.LoadedExecutable;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Command runners of threads other than workers: submitters of small work, and threads executing for another kind of
 * device. Lends each runner to a single thread at a time; the lowest free runner first, so warm memory is reused. Safe from
 * any thread, without locks.
 */
final class CallerRunners {
    private static final int COUNT = Long.SIZE;
    private static final int RETRY_NANOS = 50_000;

    private final int firstIndex;
    private final int maxConcurrency;
    private final AtomicLong free = new AtomicLong(-1); // a bit for each free runner
    private final AtomicReferenceArray<@Nullable CommandRunner> runners = new AtomicReferenceArray<>(COUNT);
    private volatile boolean closed;

    /** Creates runners with unique indices among all callers of the device's executables. */
    CallerRunners(int firstIndex, int maxConcurrency) {
        if (firstIndex + COUNT > LoadedExecutable.MAXIMUM_WORKERS) {
            throw new IllegalArgumentException("first index " + firstIndex);
        }
        this.firstIndex = firstIndex;
        this.maxConcurrency = maxConcurrency;
    }

    /** Returns the maximum number of workers running a recording. */
    int maxConcurrency() {
        return maxConcurrency;
    }

    /** Lends a runner, or returns null when all are lent. */
    @Nullable
    CommandRunner tryAcquire() {
        for (long bits = free.get(); bits != 0; bits = free.get()) {
            int which = Long.numberOfTrailingZeros(bits);
            if (free.compareAndSet(bits, bits & (bits - 1))) { // CALLER-1
                CommandRunner runner = runners.getPlain(which);
                if (runner == null) {
                    runner = new CommandRunner(new TileRunner(firstIndex + which, maxConcurrency));
                    runners.setPlain(which, runner);
                }
                return runner;
            }
        }
        return null;
    }

    /** Lends a runner; waits while all are lent. */
    CommandRunner acquire() {
        for (; ; ) {
            CommandRunner runner = tryAcquire();
            if (runner != null) {
                return runner;
            }
            LockSupport.parkNanos(this, RETRY_NANOS);
        }
    }

    /** Takes a runner back. */
    void release(CommandRunner runner) {
        free.getAndUpdate(bits -> bits | 1L << runner.worker().index - firstIndex);
        if (closed) {
            close();
        }
    }

    /**
     * Waits for the return of all runners, or for the deadline.
     *
     * @return true when no runner is lent
     */
    boolean awaitReturned(long deadline) {
        while (free.get() != -1) {
            if (System.nanoTime() - deadline > 0) {
                return false;
            }
            LockSupport.parkNanos(this, RETRY_NANOS);
        }
        return true;
    }

    /** Frees the memory of free runners now, and of the other runners on return. */
    void close() {
        closed = true;
        for (int i = 0; i < COUNT; i++) {
            long bit = 1L << i;
            if ((free.getAndUpdate(bits -> bits & ~bit) & bit) != 0) {
                CommandRunner runner = runners.getPlain(i);
                if (runner != null) {
                    runner.worker().close();
                }
                free.getAndUpdate(bits -> bits | bit);
            }
        }
    }
}
