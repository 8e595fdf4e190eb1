package io.github.iree4j.flight;

import java.util.concurrent.atomic.AtomicLong;

/**
 * One stripe of the recorder: the newest records of the threads that share it. Records are written whole, with its monitor held for some tens
 * of nanoseconds; the oldest make room.
 */
final class RecordRing {
    /*
     * Guarded by its monitor, an innermost lock: all of it.
     *
     *   head <= read <= tail      positions in words since the beginning; the ring holds [head, tail)
     *   head, read, tail          are each at the beginning of a record, or of the next one
     *   tail - head <= capacity
     *
     * REC-1: the sequence number is taken with the monitor held. So a thread that has taken a cut of the sequence, and then holds the monitor of
     * each ring in turn, finds every record below the cut, whole, unless it was dropped.
     */
    private final AtomicLong sequence; // of all stripes
    private final long[] words;
    private final int mask;
    private long head;
    private long read; // what the drain of a file has taken
    private long tail;
    private long dropped; // records that made room before they were drained, where there is a drain
    private long lostBelow; // sequence numbers of those are below
    private long droppedBelow; // sequence numbers of dropped records are below

    /** Creates one of at least that many words, a power of two. */
    RecordRing(AtomicLong sequence, int capacity) {
        this.sequence = sequence;
        this.words = new long[capacity];
        this.mask = capacity - 1;
    }

    /** Begins a record: its header. The caller holds the monitor, and puts the other words before it leaves that. */
    void begin(int type, int payload, long now) {
        int size = payload + RecordType.HEADER;
        while (tail + size - head > words.length) {
            drop();
        }
        put(RecordType.header(type, size));
        put(sequence.getAndIncrement()); // REC-1
        put(now);
    }

    /** Appends a word to the record. */
    void put(long word) {
        words[(int) tail++ & mask] = word;
    }

    private void drop() {
        droppedBelow = at(head + 1) + 1;
        if (read <= head) {
            dropped++;
            lostBelow = droppedBelow;
            read = head + RecordType.words(at(head));
        }
        head += RecordType.words(at(head));
    }

    private long at(long position) {
        return words[(int) position & mask];
    }

    /** Whether more than half of it waits for the drain. */
    boolean isHalfUnread() {
        return tail - read > words.length / 2;
    }

    /** Copies the records with sequence numbers in [from, cut). */
    synchronized void copy(long from, long cut, RecordWords target) {
        long position = head;
        while (position < tail) {
            int size = RecordType.words(at(position));
            long number = at(position + 1);
            if (number >= cut) {
                return;
            }
            if (number >= from) {
                target.begin(size);
                for (int i = 0; i < size; i++) {
                    target.put(at(position + i));
                }
            }
            position += size;
        }
    }

    /** Copies the records that no drain has taken, below the cut, and marks them as taken. */
    synchronized void drain(long cut, RecordWords target) {
        while (read < tail && at(read + 1) < cut) {
            int size = RecordType.words(at(read));
            target.begin(size);
            for (int i = 0; i < size; i++) {
                target.put(at(read + i));
            }
            read += size;
        }
    }

    synchronized long droppedBelow() {
        return droppedBelow;
    }

    synchronized long lostBelow() {
        return lostBelow;
    }

    /** Number of records that were dropped before they were drained. */
    synchronized long dropped() {
        return dropped;
    }

    synchronized void clear() {
        head = tail;
        read = tail;
    }
}
