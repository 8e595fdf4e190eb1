package io.github.iree4j.hal.copying;

import io.github.iree4j.hal.Buffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The exact bytes of a slot used by commands: work on other devices may use the bytes in between at the same time. Confined to a single thread. */
final class UsedRanges {
    private static final long END = Long.MAX_VALUE; // end of ranges up to the end of the slot

    private final TreeMap<Long, Long> read = new TreeMap<>(); // end by start; disjoint and not adjacent
    private final TreeMap<Long, Long> written = new TreeMap<>();

    private long mentioned; // the largest end of a range, empty ones included

    /** Bytes of a slot. */
    record Range(long offset, long length) {}

    /** Adds a range read by commands. */
    void reads(long offset, long length) {
        add(read, offset, length);
    }

    /** Adds a range possibly written by commands. */
    void writes(long offset, long length) {
        add(written, offset, length);
    }

    private void add(TreeMap<Long, Long> ranges, long offset, long length) {
        long start = offset;
        long end = length == Buffer.WHOLE ? END : offset + length;
        mentioned = Math.max(mentioned, end);
        if (start == end) {
            return;
        }
        for (Map.Entry<Long, Long> before = ranges.floorEntry(end);
                before != null && before.getValue() >= start;
                before = ranges.floorEntry(end)) {
            start = Math.min(start, before.getKey());
            end = Math.max(end, before.getValue());
            ranges.remove(before.getKey());
        }
        ranges.put(start, end);
    }

    /** Returns the ranges read by commands in a slot of the given size. */
    List<Range> read(long bytes) {
        return within(read, bytes);
    }

    /** Returns the ranges possibly written by commands in a slot of the given size. */
    List<Range> written(long bytes) {
        return within(written, bytes);
    }

    /** Returns whether nothing is read. */
    boolean isOnlyWritten() {
        return read.isEmpty();
    }

    /** Returns the end of the bytes mentioned by commands in a slot of the given size. */
    long end(long bytes) {
        return Math.min(bytes, mentioned);
    }

    private static List<Range> within(TreeMap<Long, Long> ranges, long bytes) {
        List<Range> result = new ArrayList<>(ranges.size());
        ranges.forEach((start, end) -> {
            long last = Math.min(end, bytes);
            if (start < last) {
                result.add(new Range(start, last - start));
            }
        });
        return result;
    }
}
