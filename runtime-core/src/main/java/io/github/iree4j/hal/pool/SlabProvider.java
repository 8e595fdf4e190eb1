package io.github.iree4j.hal.pool;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;

/**
 * The source of pools' memory: the system, or a driver. The {@link PoolSet} using the provider limits the total.
 *
 * <p>Called from any thread, with no lock of the set held; both calls may be slow.
 */
@NotForApplications
public interface SlabProvider {

    /**
     * Returns the minimum alignment: a power of two that divides the address of each slab. Sizes are multiples of the
     * minimum alignment.
     *
     * @return bytes, at least 16
     */
    long alignment();

    /**
     * Returns the amount of existing memory: larger requests fail at once.
     *
     * @return bytes; by default the address space of a process
     */
    default long capacity() {
        return 1L << 47;
    }

    /**
     * Acquires a slab with undefined contents.
     *
     * @param size bytes, a multiple of {@link #alignment()}
     * @param alignment alignment of the start, a power of two of at least {@link #alignment()}
     * @return the slab, of exactly the requested size
     * @throws IreeException RESOURCE_EXHAUSTED when there is no more memory
     */
    Slab acquire(long size, long alignment);

    /**
     * Acquires a slab for a pool. A provider with several kinds of memory chooses by the pool's options.
     *
     * @param pool the options of the pool
     * @param size as above
     * @param alignment as above
     * @return as above
     * @throws IreeException as above
     */
    default Slab acquire(PoolOptions pool, long size, long alignment) {
        return acquire(size, alignment);
    }

    /**
     * Releases a slab that is no longer in use.
     *
     * @param slab a result of {@link #acquire}
     */
    void release(Slab slab);
}
