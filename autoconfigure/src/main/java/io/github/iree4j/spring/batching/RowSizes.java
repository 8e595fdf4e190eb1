package io.github.iree4j.spring.batching;

import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;

/**
 * How many rows calls can have.
 *
 * @param sizes none for any number; a call with other numbers gets rows up to the next
 */
record RowSizes(NavigableSet<Long> sizes) {
    /** Several calls instead of one have to save more than such a part of its rows: each costs something by itself. A guess, not measured. */
    private static final double WORTH = 0.25;

    /** Calls of any number of rows. */
    static final RowSizes ANY = new RowSizes(new TreeSet<>());

    static RowSizes of(List<Long> sizes) {
        return sizes.getLast() == Long.MAX_VALUE ? ANY : new RowSizes(new TreeSet<>(sizes));
    }

    /** How many of the rows that wait to put into the next call: all, unless that adds many. */
    int next(int rows) {
        Long down = sizes.floor((long) rows);
        return down == null || divided(rows, down) >= (1 - WORTH) * whole(rows) ? rows : down.intValue();
    }

    /** How many rows are computed at least. */
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

    /** As many calls of a size as it goes, and others for the rest. */
    private long divided(long rows, long size) {
        return rows / size * size + least(rows % size);
    }
}
