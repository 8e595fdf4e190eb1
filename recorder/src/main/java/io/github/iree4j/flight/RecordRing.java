package io.github.iree4j.flight;

import java.util.concurrent.atomic.AtomicLong;

/**
 * A stripe of the recorder: the newest records of the threads sharing the stripe. Records are written whole, with the
 * stripe's monitor held for some tens of nanoseconds; the oldest records make room.
 */
final class RecordRing implements WordTarget {
    /*
     * Guarded by the ring's monitor, an innermost lock: the whole state.
     *
     *   head <= read <= tail      positions in words since the beginning; the ring holds [head, tail)
     *   head, read, tail          are each at the beginning of a record, or of the next record
     *   tail - head <= capacity
     *
     * REC-1: the sequence number is taken with the monitor held. A thread that has taken a cut of the sequence, and
     * then holds the monitor of each ring in turn, therefore finds every record below the cut, whole, unless the record
     * was dropped.
     */
    private final AtomicLong sequence; // of all stripes
    private final long[] words;
    private final int mask;
    private long head;
    private long read; // position up to which the drain of a file has taken records
    private long tail;
    private long dropped; // number of records dropped before being drained, where there is a drain
    private long lostBelow; // bound above the sequence numbers of the records counted in `dropped`
    private long droppedBelow; // bound above the sequence numbers of all dropped records

    /** Creates a ring of at least the given number of words, a power of two. */
    RecordRing(AtomicLong sequence, int capacity) {
        this.sequence = sequence;
        this.words = new long[capacity];
        this.mask = capacity - 1;
    }

    /** Begins a record: its header. The caller holds the monitor, and puts the other words before leaving the monitor. */
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
    @Override
    public void put(long word) {
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

    /** Returns whether more than half of the ring waits for the drain. */
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

    /** Copies the records below the cut not taken by a drain yet, and marks them as taken. */
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

    /** Returns the number of records dropped before being drained. */
    synchronized long dropped() {
        return dropped;
    }

    synchronized void clear() {
        head = tail;
        read = tail;
    }
}
