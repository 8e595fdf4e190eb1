package io.github.iree4j.hal.pool;

/**
 * The permitted excess length of slabs serving one request each. Reusing a slab is cheaper than acquiring another, but
 * the unused rest is charged to the budget and serves no request. Guarded by the lock of the set.
 */
final class Waste {
    /** The limit, in parts, on the total waste of blocks that each waste more than a part. */
    static final int PARTS = 12;

    /** Reusing a slab up to an eighth longer costs less than a new slab. A guess, not measured. */
    private static final int SHIFT = 3;

    private final long part;
    private long lavish; // bytes wasted by blocks with more than the permitted waste

    /** Creates an account with a number of bytes that each block may waste. */
    Waste(long part) {
        this.part = part;
    }

    private boolean isFine(long length, long spare) {
        return spare <= Math.min(length >>> SHIFT, part);
    }

    /** Whether a request may have a slab that is longer by {@code spare} bytes. */
    boolean allows(long length, long spare) {
        return isFine(length, spare)
                || spare <= length && part < Long.MAX_VALUE / PARTS && lavish + spare <= PARTS * part;
    }

    /** Records that a request has taken such a slab. */
    void taken(long length, long spare) {
        lavish += isFine(length, spare) ? 0 : spare;
    }

    /** Records that a request has given back such a slab. */
    void given(long length, long spare) {
        lavish -= isFine(length, spare) ? 0 : spare;
    }
}
