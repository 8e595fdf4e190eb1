package io.github.iree4j.task;

/** Numbers that were chosen by measuring or guessing, in one place. */
final class Tuning {
    private Tuning() {}

    /** The longest spin before sleeping. More saves wakes, which cost microseconds on both sides; less saves processor time. */
    static final long SPIN_NANOS = 20_000;

    /** A spin shorter than that is not worth beginning. */
    static final long LEAST_SPIN_NANOS = 1_000;

    /** Processes taken off the list before slots are looked at again. More lets a flood of short work delay compute. */
    static final int LIST_BURST = 16;

    /** Drains of one process off the list in a row while nothing else is to be done, before slots are looked at. */
    static final int DRAINS_IN_A_ROW = 16;

    /** Spins between two looks at the clock. */
    static final int SPINS_PER_LOOK = 16;
}
