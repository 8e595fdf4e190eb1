package io.github.iree4j.flight;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A stripe of the recorder: the newest records of the threads sharing the stripe. Records are written whole, with the
 * stripe held for some tens of nanoseconds; the oldest records make room.
 */
final class RecordRing implements WordTarget {
    /*
     * Guarded by `held`, an innermost lock: the whole state. The holder does not block, and the next writer takes another
     * stripe.
     *
     *   held    false -> true    tryHold: compareAndSet, by writers and readers
     *           true -> false    release: setRelease, by the holder
     *
     *   head <= read <= tail      positions in words since the beginning; the ring holds [head, tail)
     *   head, read, tail          are each at the beginning of a record, or of the next record
     *   tail - head <= capacity
     *
     * REC-1: the sequence number is taken with the ring held. A thread that has taken a cut of the sequence, and then
     * holds each ring in turn, therefore finds every record below the cut, whole, unless the record was dropped.
     */
    private final AtomicBoolean held = new AtomicBoolean();
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

    /** Takes the ring; returns false while another thread holds the ring. The caller releases the ring. */
    boolean tryHold() {
        return !held.getOpaque() && held.compareAndSet(false, true); // opaque: hold() repeats the read
    }

    /** Takes the ring, for a reader. The caller releases the ring. */
    @SuppressWarnings("ThreadPriorityCheck") // the holder may need this processor
    private void hold() {
        while (!tryHold()) {
            Thread.yield(); // the holder copies a record, or is another reader
        }
    }

    void release() {
        held.setRelease(false);
    }

    /** Begins a record with the header. The caller holds the ring, and puts the other words before the release. */
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

    /** Copies the first records with sequence numbers in [from, cut). */
    void copy(long from, long cut, int most, RecordWords target) {
        hold();
        try {
            long position = head;
            int copied = 0;
            while (position < tail && copied < most) {
                int size = RecordType.words(at(position));
                long number = at(position + 1);
                if (number >= cut) {
                    return;
                }
                if (number >= from) {
                    copied++;
                    target.begin(size);
                    for (int i = 0; i < size; i++) {
                        target.put(at(position + i));
                    }
                }
                position += size;
            }
        } finally {
            release();
        }
    }

    /** Copies the records below the cut not taken by a drain yet, and marks them as taken. */
    void drain(long cut, RecordWords target) {
        hold();
        try {
            while (read < tail && at(read + 1) < cut) {
                int size = RecordType.words(at(read));
                target.begin(size);
                for (int i = 0; i < size; i++) {
                    target.put(at(read + i));
                }
                read += size;
            }
        } finally {
            release();
        }
    }

    /**
     * The dropped records.
     *
     * @param below bound above the sequence numbers of all such records; 0 for none
     * @param lost number of the records that no drain had taken
     * @param lostBelow bound above the sequence numbers of the lost records; 0 for none
     */
    record Dropped(long below, long lost, long lostBelow) {}

    Dropped dropped() {
        hold();
        try {
            return new Dropped(droppedBelow, dropped, lostBelow);
        } finally {
            release();
        }
    }
}
