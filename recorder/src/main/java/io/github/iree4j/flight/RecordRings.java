package io.github.iree4j.flight;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** The stripes of a recorder. Threads spread over them, and each moves on to another from time to time, so that one thread fills them all. */
final class RecordRings {
    /** How long a thread stays with a stripe, as a power of two of nanoseconds: about a millisecond. */
    private static final int STAY = 20;

    private static final int MAXIMUM_STRIPES = 16;
    private static final int MAXIMUM_CAPACITY = 1 << 27;

    private final AtomicLong sequence = new AtomicLong();
    private final RecordRing[] rings;
    private final LongSupplier clock;
    private final long origin;

    /**
     * Creates rings.
     *
     * @param stripes how many, a power of two
     * @param capacity words of each, a power of two
     * @param clock nanoseconds
     */
    RecordRings(int stripes, int capacity, LongSupplier clock) {
        this.rings = new RecordRing[stripes];
        for (int i = 0; i < stripes; i++) {
            rings[i] = new RecordRing(sequence, capacity);
        }
        this.clock = clock;
        this.origin = clock.getAsLong();
    }

    /**
     * Creates the rings of a recorder.
     *
     * @param bytes the most that all of them take; rounded down
     * @param processors how many threads may record at once
     * @param clock nanoseconds
     * @return the rings
     */
    static RecordRings create(long bytes, int processors, LongSupplier clock) {
        long words = bytes / Long.BYTES;
        int stripes = Math.clamp(Integer.highestOneBit(Math.max(1, processors * 2)), 1, MAXIMUM_STRIPES);
        while (stripes > 1 && words / stripes < RecordType.MAXIMUM_WORDS) {
            stripes /= 2;
        }
        long capacity = Long.highestOneBit(Math.max(RecordType.MAXIMUM_WORDS, words / stripes));
        return new RecordRings(stripes, (int) Math.min(MAXIMUM_CAPACITY, capacity), clock);
    }

    /** Nanoseconds since the rings were created. */
    long now() {
        return clock.getAsLong() - origin;
    }

    /** The stripe of the current thread at a time. */
    RecordRing stripe(long now) {
        return ring(Thread.currentThread().threadId() + (now >> STAY));
    }

    /** One of the stripes, by any number. */
    RecordRing ring(long number) {
        return rings[(int) number & rings.length - 1];
    }

    /** Numbers of records made from now on are at or above this. */
    long cut() {
        return sequence.get();
    }

    /** Copies the records with sequence numbers in [from, cut) that are still there, in order. */
    RecordWords copy(long from, long cut) {
        RecordWords all = new RecordWords();
        for (RecordRing ring : rings) {
            ring.copy(from, cut, all); // REC-1
        }
        return all.sorted();
    }

    /** Takes the records below the cut that were not taken before, in order. */
    RecordWords drain(long cut) {
        RecordWords all = new RecordWords();
        for (RecordRing ring : rings) {
            ring.drain(cut, all);
        }
        return all.sorted();
    }

    /** Everything from this number on is there; of what is below, some was dropped. */
    long completeFrom() {
        long from = 0;
        for (RecordRing ring : rings) {
            from = Math.max(from, ring.droppedBelow());
        }
        return from;
    }

    /** Of the records below this number some were dropped before a drain took them; 0 when none were. */
    long lostBelow() {
        long below = 0;
        for (RecordRing ring : rings) {
            below = Math.max(below, ring.lostBelow());
        }
        return below;
    }

    /** Number of records that were dropped before a drain took them. */
    long dropped() {
        long all = 0;
        for (RecordRing ring : rings) {
            all += ring.dropped();
        }
        return all;
    }
}
