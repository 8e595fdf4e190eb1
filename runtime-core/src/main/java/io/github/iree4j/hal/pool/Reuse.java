package io.github.iree4j.hal.pool;

/** Decides whether a free block may be given to whoever asks now. */
@FunctionalInterface
interface Reuse {
    /** Takes every block: for what has no queue, and to measure placement alone. */
    Reuse ANY = block -> true;

    /** Whether the block may be used; the decision holds if it is then taken. */
    boolean accepts(Block block);
}
