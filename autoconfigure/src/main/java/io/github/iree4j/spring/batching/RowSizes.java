package io.github.iree4j.spring.batching;

import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;

/**
 * The possible numbers of rows of calls.
 *
 * @param sizes empty for any number; otherwise calls are padded to the next size
 */
record RowSizes(NavigableSet<Long> sizes) {
    /**
     * Share of a batch's rows that splitting must save at least, since each call has a fixed cost. A guess, not
     * measured.
     */
    private static final double WORTH = 0.25;

    /** Calls of any number of rows. */
    static final RowSizes ANY = new RowSizes(new TreeSet<>());

    static RowSizes of(List<Long> sizes) {
        return sizes.getLast() == Long.MAX_VALUE ? ANY : new RowSizes(new TreeSet<>(sizes));
    }

    /** Returns the number of waiting rows for the next call: all, unless padding would add many. */
    int next(int rows) {
        Long down = sizes.floor((long) rows);
        return down == null || divided(rows, down) >= (1 - WORTH) * whole(rows) ? rows : down.intValue();
    }

    /** Returns the minimum number of computed rows. */
    private long least(long rows) {
        if (rows == 0) {
            return 0;
        }
        Long down = sizes.floor(rows);
        return down == null ? whole(rows) : Math.min(whole(rows), divided(rows, down));
    }

    private long whole(long rows) {
        Long up = sizes.ceiling(rows);
        return up == null ? rows : up;
    }

    /** Returns the number of rows computed with as many full calls of a size as fit, and further calls for the remainder. */
    private long divided(long rows, long size) {
        return rows / size * size + least(rows % size);
    }
}
