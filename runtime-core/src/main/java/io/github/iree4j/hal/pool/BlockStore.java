package io.github.iree4j.hal.pool;

import io.github.iree4j.frontier.Frontier;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Places blocks in slabs. One thread at a time. */
abstract sealed class BlockStore permits Tlsf, WholeSlabs {

    /** The limit for a search of all free blocks. */
    static final int UNLIMITED = Integer.MAX_VALUE;

    /** Bytes taken by a reservation, before any alignment beyond the provider's; on overflow, more than any budget. */
    abstract long lengthFor(long size);

    /**
     * Takes a free block.
     *
     * @param length the result of {@link #lengthFor}
     * @param alignment at least the provider's
     * @param limit the number of refused blocks after which the search ends
     * @return the block, reserved, with its previous death frontier; null when there is none
     */
    abstract @Nullable Block take(long length, long alignment, Reuse reuse, int limit);

    /** Returns a reserved block to the store. */
    abstract void give(Block block, @Nullable Frontier death);

    /** Whether {@link #take} would find a block, whatever the death frontiers, if the matching blocks were free. */
    abstract boolean couldTake(long length, long alignment, Predicate<Block> free);

    /**
     * Returns the size of the slab to add for a request that found no block.
     *
     * @param room bytes available for the slab
     * @return bytes, at most {@code room}; 0 when the room is too small
     */
    abstract long growth(long length, long alignment, long room);

    /** Adds a slab with fresh contents. */
    abstract void add(Slab slab);

    /**
     * Removes a slab without reserved blocks.
     *
     * @param may whether the slab of a home can go
     * @param over whether the work that used the slab has finished
     * @return the slab, the caller's now; null when there is none
     */
    abstract @Nullable Slab removeIdle(Predicate<Block.Home> may, Predicate<@Nullable Frontier> over);

    /** Bytes of the slabs removable by {@link #removeIdle}. */
    abstract long idleBytes(Predicate<Block.Home> may, Predicate<@Nullable Frontier> over);

    /** Bytes of the largest free block. */
    abstract long largestFree();

    abstract void forEachFree(Consumer<Block> action);

    /** Whether a condition holds for any free block. */
    abstract boolean isAnyFree(Predicate<Block> condition);

    /** Visits all blocks, slab by slab, in the order of their offsets. */
    abstract void forEach(Consumer<Block> action);

    /** Checks the invariants holding between calls. For tests. */
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
