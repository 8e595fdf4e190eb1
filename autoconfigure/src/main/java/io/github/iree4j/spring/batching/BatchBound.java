package io.github.iree4j.spring.batching;

/**
 * The number of rows of a function for which memory suffices at once, learned from batches: halved after a shortage,
 * raised by successful batches, since the shortage may have been due to other work.
 */
final class BatchBound {
    private int most = Integer.MAX_VALUE; // guarded by this

    synchronized int most() {
        return most;
    }

    /** Records that memory did not suffice for the given number of rows. */
    synchronized void tooMany(int rows) {
        most = Math.max(1, Math.min(most, rows / 2));
    }

    synchronized void succeeded(int rows) {
        if (rows >= most - most / 4) { // smaller batches prove nothing about more rows
            most = (int) Math.min(Integer.MAX_VALUE, most + most / 16 + 1L);
        }
    }
}
