package io.github.iree4j.spring.batching;

/**
 * How many rows of a function there is memory for at once, learned from its batches: halved when there was none, raised by batches that
 * succeed, since the memory may have been short for others' sake.
 */
final class BatchBound {
    private int most = Integer.MAX_VALUE; // guarded by this

    synchronized int most() {
        return most;
    }

    /** There was no memory for so many. */
    synchronized void tooMany(int rows) {
        most = Math.max(1, Math.min(most, rows / 2));
    }

    synchronized void succeeded(int rows) {
        if (rows >= most - most / 4) { // fewer say nothing about more
            most = (int) Math.min(Integer.MAX_VALUE, most + most / 16 + 1L);
        }
    }
}
