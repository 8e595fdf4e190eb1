package io.github.iree4j.hal.pool;

/** Decides whether a free block may be given to the requester. */
@FunctionalInterface
interface Reuse {
    /** Accepts every block: for requesters without a queue, and to measure placement alone. */
    Reuse ANY = block -> true;

    /** Returns whether the block may be used; the decision stands if the block is then taken. */
    boolean accepts(Block block);
}
