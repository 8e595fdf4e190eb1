package io.github.iree4j.hal.pool;

/**
 * How much longer than requested slabs may be that serve one request each: reusing one is cheaper than acquiring another, but what is left
 * of it is charged to the budget and serves nobody. Guarded by the lock of the set.
 */
final class Waste {
    /** What all blocks together may waste that waste more than one may. */
    static final int PARTS = 12;

    /** Reusing a slab that is up to an eighth longer costs less than a new one. A guess, not measured. */
    private static final int SHIFT = 3;

    private final long part;
    private long lavish; // wasted by blocks that waste more than a part

    /** With a number of bytes that each block may waste. */
    Waste(long part) {
        this.part = part;
    }

    private boolean isFine(long length, long spare) {
        return spare <= Math.min(length >>> SHIFT, part);
    }

    /** Whether a request may have a slab that is longer by some bytes. */
    boolean allows(long length, long spare) {
        return isFine(length, spare)
                || spare <= length && part < Long.MAX_VALUE / PARTS && lavish + spare <= PARTS * part;
    }

    /** Notes that it has the slab. */
    void taken(long length, long spare) {
        lavish += isFine(length, spare) ? 0 : spare;
    }

    /** Notes that it no longer has it. */
    void given(long length, long spare) {
        lavish -= isFine(length, spare) ? 0 : spare;
    }
}
