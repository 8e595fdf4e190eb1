package io.github.iree4j.generation;

import java.util.BitSet;

/**
 * The free pages of the cache. Page 0 is never given out: padding rows and columns of every step write there. Not
 * thread-safe.
 */
final class PagePool {
    /** Page for padding; the contents mean nothing. */
    static final int SCRATCH = 0;

    private final int[] free; // a stack, so that pages used last are used next
    private final BitSet given;
    private int count;

    /** Creates a pool of pages 1 to {@code pages - 1}. */
    PagePool(int pages) {
        this.free = new int[pages - 1];
        this.given = new BitSet(pages);
        for (int page = pages - 1; page > SCRATCH; page--) {
            free[count++] = page;
        }
    }

    /** Returns the number of pages, without page 0. */
    int size() {
        return free.length;
    }

    /** Returns the number of free pages. */
    int available() {
        return count;
    }

    /** Takes a free page, which must exist. */
    int take() {
        int page = free[--count];
        given.set(page);
        return page;
    }

    /** Returns a page taken before. */
    void give(int page) {
        if (!given.get(page)) {
            throw new IllegalStateException("page " + page + " is given back, but is free");
        }
        given.clear(page);
        free[count++] = page;
    }
}
