package io.github.iree4j.task;

/** Constants chosen by measurement or by guess. */
final class Tuning {
    private Tuning() {}

    /** The longest spin before sleeping. A longer spin saves wake-ups, which cost microseconds on both sides; a shorter spin saves processor time. */
    static final long SPIN_NANOS = 20_000;

    /** The shortest worthwhile spin. */
    static final long LEAST_SPIN_NANOS = 1_000;

    /** Processes taken off the list before slots are scanned again. A higher number lets a flood of short work delay compute. */
    static final int LIST_BURST = 16;

    /** Consecutive drains of a listed process without other work, before slots are scanned. */
    static final int DRAINS_IN_A_ROW = 16;

    /** Spins between two reads of the clock. */
    static final int SPINS_PER_LOOK = 16;
}
