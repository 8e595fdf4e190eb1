package io.github.iree4j.flight;

/**
 * The kinds of records, by number in rings and files. Numbers are never reused.
 *
 * <p>A record is a sequence of 64-bit words. Word 0 has the kind in bits 0 to 7 and the number of words, including word
 * 0, in bits 8 to 31; word 1 is the sequence number, word 2 the time in nanoseconds. The rest is listed here;
 * docs/recorder.md explains the words.
 */
final class RecordType {
    /** As {@link #SUBMITTED}, and no call is negative. Up to version 5; {@link #SUBMITTED} since. */
    static final int OLD_SUBMITTED = 1;

    /** operation, waits; then (decision, value, axis, epoch) of each wait. */
    static final int DECIDED = 2;

    /** operation, bytes. */
    static final int HELD = 3;

    /** operation, reservation, frontier. */
    static final int ISSUED = 4;

    /** operation. */
    static final int BEGAN = 5;

    /** operation. */
    static final int COMPLETED = 6;

    /** operation, status, message as a name, frontier. Up to version 4; {@link #OVER} since. */
    static final int NAMED_OVER = 7;

    /** reservation, pool, size, length, offset, slab, reuse, consumer, call, function, frontier, marks; then (axis, epoch) of each mark. */
    static final int RESERVED = 8;

    /** reservation, frontier. */
    static final int RELEASED = 9;

    /** pool, bytes, consumer, call, function. */
    static final int IN_LINE = 10;

    /** axis, status, message as a name. Up to version 4; {@link #LOST} since. */
    static final int OLD_LOST = 11;

    /** operation, index of the wait. Since version 2. */
    static final int WAIT_OVER = 12;

    /**
     * The words of {@link #SUBMITTED}, for an operation open when the recording was taken; in place of the thread,
     * whether the time of the submission is known, and since version 4 the reached waits. Since version 3; up to
     * version 5 no call is negative.
     */
    static final int OPEN = 13;

    /** {@link #CALL} without signals. In versions 3 to 5; {@link #CALL} since. */
    static final int OLD_CALL = 14;

    /** timeline, name. In versions 3 and 4; {@link #TIMELINE} since. */
    static final int OLD_TIMELINE = 15;

    /**
     * operation, whether times are reported, dispatches, listed dispatches; then (export, x, y, z) of each, with -1 for
     * workgroups not known yet. Since version 4.
     */
    static final int DISPATCHES = 16;

    /** operation, index of the dispatch, begin, workers, outcome, x, y, z; the time is the end. Since version 4. */
    static final int DISPATCHED = 17;

    /** {@link #OVER} without refusals. In versions 5 and 6; {@link #OVER} since. */
    static final int OLD_OVER = 18;

    /** axis, status, message as a text. Since version 5. */
    static final int LOST = 19;

    /** timeline, name as a text. For the named timelines of records of kinds 13, 23 and 24. Since version 5. */
    static final int TIMELINE = 20;

    /**
     * set, when, limit, pools, consumers; then (pool, bytes) of each pool and (consumer, quota, bytes) of each
     * consumer. For each set of pools when the recorder was opened or the set created, and when the recording was
     * taken: when is 0, or 2 and in the next word the number of the first record not in the bytes; in version 6 1
     * without a number. Since version 6.
     */
    static final int POOLS_HOLD = 21;

    /** pool, bytes. For memory reserved before the recorder was opened. Since version 6. */
    static final int RELEASED_UNSEEN = 22;

    /**
     * operation, axis, name, call, function, thread, waits, signals; then (timeline, value) of each wait and signal. The
     * call is negative if begun before the recording. Since version 6.
     */
    static final int SUBMITTED = 23;

    /**
     * call, program, function, state, nanoseconds since the call began, waits, signals; then (timeline, value) of each wait and
     * signal. For a call in progress when the recording was taken. Since version 6.
     */
    static final int CALL = 24;

    /** operations, calls: open when the recording was taken, and without a record. Only where there are some. Since version 6. */
    static final int MORE_OPEN = 25;

    /**
     * operation, or 0 for a call; waits, signals: points left out of the record of an operation or a call listed as
     * open. Since version 6.
     */
    static final int MORE_POINTS = 26;

    /**
     * operation, status with bit 8 set if signals were refused, message as a {@link RecordText}, frontier; with bit 8 the number of
     * refused signals, then (timeline, value, last value of the timeline) of each. Since version 7.
     */
    static final int OVER = 27;

    /** The number of words at the beginning of each record. */
    static final int HEADER = 3;

    /** The most words of a record: far above the sizes of fences and frontiers in practice. */
    static final int MAXIMUM_WORDS = 1 << 16;

    private RecordType() {}

    /**
     * Returns whether a record is of open work or held memory when a recording is taken: such records share a later
     * record's number.
     */
    static boolean isOfEnd(RecordWords records, int index) {
        return switch (type(records.word(index, 0))) {
            case OPEN, OLD_CALL, CALL, MORE_OPEN, MORE_POINTS -> true;
            case POOLS_HOLD -> words(records.word(index, 0)) > HEADER + 1 && records.word(index, HEADER + 1) != 0;
            default -> false;
        };
    }

    static int type(long header) {
        return (int) header & 0xFF;
    }

    static int words(long header) {
        return (int) (header >>> 8) & 0xFF_FFFF;
    }

    static long header(int type, int words) {
        return type | (long) words << 8;
    }
}
