package io.github.iree4j.hal.pool;

import io.github.iree4j.status.IreeException;

/**
 * Where the memory of pools comes from and goes back to: the system, or a driver. What may be taken in all is decided by the
 * {@link PoolSet} that uses it.
 *
 * <p>Called from any thread, with no lock of the set held; both calls may be slow.
 */
public interface SlabProvider {

    /**
     * Returns to which boundary everything given out is aligned: a power of two that divides the address of each slab. Sizes are
     * multiples of it.
     *
     * @return bytes, at least 16
     */
    long alignment();

    /**
     * Returns how much there is at all: who asks for more fails at once.
     *
     * @return bytes; what a process can address unless the provider knows better
     */
    default long capacity() {
        return 1L << 47;
    }

    /**
     * Takes memory. Contents are undefined.
     *
     * @param size bytes, a multiple of {@link #alignment()}
     * @param alignment what its start must be aligned to, a power of two of at least {@link #alignment()}
     * @return the memory, exactly that large
     * @throws IreeException RESOURCE_EXHAUSTED when there is no more
     */
    Slab acquire(long size, long alignment);

    /**
     * Takes memory for a pool. What it is to be like may be read from the pool's options, where there are several kinds.
     *
     * @param pool what the pool was made with
     * @param size as above
     * @param alignment as above
     * @return as above
     * @throws IreeException as above
     */
    default Slab acquire(PoolOptions pool, long size, long alignment) {
        return acquire(size, alignment);
    }

    /**
     * Gives memory back. Nobody uses it any more.
     *
     * @param slab what {@link #acquire} returned
     */
    void release(Slab slab);
}
