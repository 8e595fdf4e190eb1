package io.github.iree4j.hal.copying;

import io.github.iree4j.hal.Buffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Which bytes of a slot commands use: exactly those, since work on other devices may use those between them at the same time. One thread. */
final class UsedRanges {
    private static final long END = Long.MAX_VALUE; // of ranges up to the end of whatever the slot holds

    private final TreeMap<Long, Long> read = new TreeMap<>(); // ends by beginnings; neither touch nor overlap
    private final TreeMap<Long, Long> written = new TreeMap<>();

    private long mentioned; // the largest end of a range, empty ones included

    /** Bytes of a slot. */
    record Range(long offset, long length) {}

    /** Notes that commands look at a range. */
    void reads(long offset, long length) {
        add(read, offset, length);
    }

    /** Notes that commands may write a range. */
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

    /** What commands look at in a slot that holds so many bytes. */
    List<Range> read(long bytes) {
        return within(read, bytes);
    }

    /** What commands may write there. */
    List<Range> written(long bytes) {
        return within(written, bytes);
    }

    /** Whether nothing is looked at. */
    boolean isOnlyWritten() {
        return read.isEmpty();
    }

    /** Up to where commands mention bytes of a slot that holds so many. */
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
