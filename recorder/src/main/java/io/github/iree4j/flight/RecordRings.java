package io.github.iree4j.flight;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * The stripes of a recorder. Threads spread over the stripes, and each thread changes the stripe from time to time: a
 * single thread fills all stripes.
 */
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
     * @param stripes the number of rings, a power of two
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
     * @param bytes the most bytes of all rings together; rounded down
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

    /** Returns the nanoseconds since the rings were created. */
    long now() {
        return clock.getAsLong() - origin;
    }

    /** Takes the stripe of the current thread at a time, or the next free stripe. The caller releases the stripe. */
    @SuppressWarnings("ThreadPriorityCheck") // the holders may need this processor
    RecordRing hold(long now) {
        long number = Thread.currentThread().threadId() + (now >> STAY);
        RecordRing ring = ring(number);
        for (int tries = 1; !ring.tryHold(); tries++) {
            if (tries % rings.length == 0) {
                Thread.yield();
            }
            ring = ring(++number);
        }
        return ring;
    }

    /** Returns a stripe, selected by any number. */
    RecordRing ring(long number) {
        return rings[(int) number & rings.length - 1];
    }

    /** Returns the cut: numbers of records made from now on are at or above. */
    long cut() {
        return sequence.get();
    }

    /** Copies the remaining records with sequence numbers in [from, cut), in order. */
    RecordWords copy(long from, long cut) {
        return copy(from, cut, Integer.MAX_VALUE);
    }

    /** As {@link #copy(long, long)}; of each stripe no more than the first records. */
    RecordWords copy(long from, long cut, int mostOfEach) {
        RecordWords all = new RecordWords();
        for (RecordRing ring : rings) {
            ring.copy(from, cut, mostOfEach, all); // REC-1
        }
        return all.sorted();
    }

    /** Takes the records below the cut not taken before, in order. */
    RecordWords drain(long cut) {
        RecordWords all = new RecordWords();
        for (RecordRing ring : rings) {
            ring.drain(cut, all);
        }
        return all.sorted();
    }

    /** Returns the number from which every record is present; some lower records were dropped. */
    long completeFrom() {
        long from = 0;
        for (RecordRing ring : rings) {
            from = Math.max(from, ring.dropped().below());
        }
        return from;
    }

    /** Returns a bound above the numbers of the records dropped before a drain took them; 0 when there are none. */
    long lostBelow() {
        long below = 0;
        for (RecordRing ring : rings) {
            below = Math.max(below, ring.dropped().lostBelow());
        }
        return below;
    }

    /** Returns the number of records dropped before a drain took them. */
    long dropped() {
        long all = 0;
        for (RecordRing ring : rings) {
            all += ring.dropped().lost();
        }
        return all;
    }
}
