package io.github.iree4j.task;

import io.github.iree4j.status.HighWater;

/**
 * The workers asleep or about to sleep: a bit for each worker, claimed by the waking thread.
 *
 * <p>TASK-11: a worker sets its bit and then checks for work once more; a thread that creates work checks for bits
 * afterwards. So at least one of the two sees the other, and exactly the thread that cleared a worker's bit wakes the
 * worker.
 */
final class IdleWorkers {
    private final PaddedLong[] words;
    private final int workers;
    private final HighWater awake = new HighWater();

    IdleWorkers(int workers) {
        this.workers = workers;
        words = new PaddedLong[(workers + 63) / 64];
        for (int i = 0; i < words.length; i++) {
            words[i] = new PaddedLong();
        }
    }

    void add(int worker) {
        words[worker >>> 6].getAndOrVolatile(1L << (worker & 63));
    }

    /** Removes a worker; false when another thread has removed the worker and wakes it. */
    boolean remove(int worker) {
        long bit = 1L << (worker & 63);
        boolean removed = (words[worker >>> 6].getAndAndVolatile(~bit) & bit) != 0;
        if (removed) {
            awake.raise(awake());
        }
        return removed;
    }

    boolean contains(int worker) {
        return (words[worker >>> 6].getVolatile() & 1L << (worker & 63)) != 0;
    }

    int count() {
        int count = 0;
        for (PaddedLong word : words) {
            count += Long.bitCount(word.getVolatile());
        }
        return count;
    }

    /** Claims a sleeping worker for the caller to wake, or returns -1. */
    int claim() { // TASK-11
        for (int i = 0; i < words.length; i++) {
            for (long seen; (seen = words[i].getVolatile()) != 0; ) {
                long bit = Long.lowestOneBit(seen);
                if (words[i].compareAndSetVolatile(seen, seen & ~bit)) {
                    awake.raise(awake());
                    return i << 6 | Long.numberOfTrailingZeros(bit);
                }
            }
        }
        return -1;
    }

    private int awake() {
        return workers - count();
    }

    /** Returns the largest number of workers awake since the last call of this method. */
    int takeMostAwake() {
        return (int) awake.take(this::awake);
    }
}
