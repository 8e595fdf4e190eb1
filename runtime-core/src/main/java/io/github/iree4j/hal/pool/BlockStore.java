package io.github.iree4j.hal.pool;

import io.github.iree4j.frontier.Frontier;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Places blocks in slabs. One thread at a time. */
abstract sealed class BlockStore permits Tlsf, WholeSlabs {

    /** As a limit: look at every free block. */
    static final int UNLIMITED = Integer.MAX_VALUE;

    /** Bytes that a reservation takes, before any alignment beyond the provider's; on overflow, more than any budget. */
    abstract long lengthFor(long size);

    /**
     * Takes a free block.
     *
     * @param length what {@link #lengthFor} returned
     * @param alignment at least the provider's
     * @param limit how many blocks may be refused before the search gives up
     * @return the block, reserved, with the death frontier that it had; null when there is none
     */
    abstract @Nullable Block take(long length, long alignment, Reuse reuse, int limit);

    /** Returns a reserved block to the store. */
    abstract void give(Block block, @Nullable Frontier death);

    /** Whether {@link #take} would find a block, of any death frontier, if the blocks that match were free. */
    abstract boolean couldTake(long length, long alignment, Predicate<Block> free);

    /**
     * Returns the size of the slab to add for a request that found no block.
     *
     * @param room bytes that may be taken
     * @return bytes, at most {@code room}; 0 when that is too little
     */
    abstract long growth(long length, long alignment, long room);

    /** Adds a slab. Its contents are fresh. */
    abstract void add(Slab slab);

    /**
     * Removes a slab without reserved blocks.
     *
     * @param may whether the slab can go, given its home
     * @param over whether the work that used it has finished
     * @return the slab, the caller's now; null when there is none
     */
    abstract @Nullable Slab removeIdle(Predicate<Block.Home> may, Predicate<@Nullable Frontier> over);

    /** Bytes of the slabs that {@link #removeIdle} would remove. */
    abstract long idleBytes(Predicate<Block.Home> may, Predicate<@Nullable Frontier> over);

    /** Bytes of the largest free block. */
    abstract long largestFree();

    abstract void forEachFree(Consumer<Block> action);

    /** Visits all blocks, slab by slab, in the order of their offsets. */
    abstract void forEach(Consumer<Block> action);

    /** Checks the invariants that hold between calls. For tests. */
    abstract void verify();

    static void check(boolean condition, String what, Object detail) {
        if (!condition) {
            throw new IllegalStateException(what + ": " + detail);
        }
    }

    static long alignUp(long size, long alignment) {
        return size > Long.MAX_VALUE - alignment ? Long.MAX_VALUE & -alignment : size + alignment - 1 & -alignment;
    }
}
