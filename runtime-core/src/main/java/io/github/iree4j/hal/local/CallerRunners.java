package io.github.iree4j.hal.local;

import io.github.iree4j.hal.loader.LoadedExecutable;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The command runners of threads that are not workers: submitters of small work, and threads that execute for another kind of
 * device. Lends each to one thread at a time; the lowest free one first, so that warm memory is reused. Safe from any thread,
 * without locks.
 */
final class CallerRunners {
    private static final int COUNT = Long.SIZE;
    private static final int RETRY_NANOS = 50_000;

    private final int firstIndex;
    private final int maxConcurrency;
    private final AtomicLong free = new AtomicLong(-1); // a bit for each free guest
    private final AtomicReferenceArray<@Nullable CommandRunner> runners = new AtomicReferenceArray<>(COUNT);
    private volatile boolean closed;

    /** Creates guests with unique indices among all callers of the device's executables. */
    CallerRunners(int firstIndex, int maxConcurrency) {
        if (firstIndex + COUNT > LoadedExecutable.MAXIMUM_WORKERS) {
            throw new IllegalArgumentException("guest " + firstIndex);
        }
        this.firstIndex = firstIndex;
        this.maxConcurrency = maxConcurrency;
    }

    /** How many workers may run one recording. */
    int maxConcurrency() {
        return maxConcurrency;
    }

    /** Lends one, or null when all are lent. */
    @Nullable
    CommandRunner tryAcquire() {
        for (long bits = free.get(); bits != 0; bits = free.get()) {
            int which = Long.numberOfTrailingZeros(bits);
            if (free.compareAndSet(bits, bits & (bits - 1))) { // GUEST-1
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

    /** Lends one; waits while all are lent. */
    CommandRunner acquire() {
        for (; ; ) {
            CommandRunner runner = tryAcquire();
            if (runner != null) {
                return runner;
            }
            LockSupport.parkNanos(this, RETRY_NANOS);
        }
    }

    /** Takes one back. */
    void release(CommandRunner runner) {
        free.getAndUpdate(bits -> bits | 1L << runner.worker().index - firstIndex);
        if (closed) {
            close();
        }
    }

    /**
     * Waits until none is lent, or for the deadline.
     *
     * @return true when none is lent
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

    /** Frees the memory of free guests now, and of the others on their return. */
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
