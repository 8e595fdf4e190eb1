package io.github.iree4j.lab;

/**
 * Bytes on the heap that say when a buffer is free: the smallest objects for each way, as HotSpot lays out objects with
 * compressed references and class pointers, ordinary headers and an alignment of 8. A test allocates the objects and
 * counts the bytes.
 *
 * <p>Not counted is whatever exists without the buffer: events, timelines and queues. The objects of timelines and of
 * frontiers have the same shape, so equal numbers of entries take equal bytes beyond the first.
 */
final class TrackingBytes {
    private static final int REFERENCE = 4;
    private static final int OBJECT_HEADER = 12;
    private static final int ARRAY_HEADER = 16;

    private TrackingBytes() {}

    /** Bytes of an array of references to events. */
    static long events(long count) {
        return array(REFERENCE, count);
    }

    /** Bytes of points of timelines: an object for a single point, otherwise an object with two arrays. */
    static long points(long count) {
        return count == 1
                ? aligned(OBJECT_HEADER + REFERENCE + Long.BYTES)
                : aligned(OBJECT_HEADER + 2 * REFERENCE) + array(REFERENCE, count) + array(Long.BYTES, count);
    }

    /** Bytes of a frontier within a process: an object for a single entry, otherwise an object with two arrays. */
    static long frontier(long entries) {
        if (entries == 0) {
            return 0; // shared by all
        }
        return entries == 1
                ? aligned(OBJECT_HEADER + Integer.BYTES + 2 * Long.BYTES)
                : aligned(OBJECT_HEADER + Integer.BYTES + 2 * REFERENCE)
                        + array(Integer.BYTES, entries)
                        + array(Long.BYTES, entries);
    }

    private static long array(long element, long count) {
        return aligned(ARRAY_HEADER + element * count);
    }

    private static long aligned(long bytes) {
        return (bytes + 7) / 8 * 8;
    }
}
