package io.github.iree4j.generation;

/** Copies pages between the cache and the memory of the host. A copy has ended when the method returns. */
interface PageMover {
    /**
     * Copies a page of the cache to the host.
     *
     * @param page number of the page
     * @param slot number of the place on the host, from 1
     */
    void toHost(int page, int slot);

    /**
     * Copies a page back to the cache.
     *
     * @param slot number of the place on the host, from 1
     * @param page number of the page
     */
    void toCache(int slot, int page);
}
