package io.github.iree4j.hal.pool;

import io.github.iree4j.frontier.Frontier;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The blocks of the pools of a device at one moment, without addresses.
 *
 * @param slabs the slabs, pool by pool
 * @param omitted number of blocks that exceed the limit and are not listed
 */
public record MemoryMap(List<SlabMap> slabs, long omitted) {

    /** The map of a device without pools. */
    public static final MemoryMap EMPTY = new MemoryMap(List.of(), 0);

    /** Copies the list. */
    public MemoryMap {
        slabs = List.copyOf(slabs);
    }

    /**
     * A slab.
     *
     * @param number of the slab, never reused
     * @param pool name of its pool
     * @param size bytes
     * @param blocks its blocks in the order of their offsets; without the omitted ones
     */
    public record SlabMap(int number, String pool, long size, List<Span> blocks) {

        /** Copies the list. */
        public SlabMap {
            blocks = List.copyOf(blocks);
        }
    }

    /**
     * A block.
     *
     * @param offset its start in the slab, in bytes
     * @param length bytes
     * @param state what it is used for
     * @param death of a free block, the frontier after which it is reused; of a reserved one, that after which its user runs; null when the
     *     bytes have not been used before
     */
    public record Span(
            long offset, long length, State state, @Nullable Frontier death) {}

    /** What a block is used for. */
    public enum State {
        /** In use. */
        RESERVED,

        /** Free; its last user may not have finished, so its death frontier decides who can reuse it. */
        DYING,

        /** Free; its last user has finished. */
        REUSABLE,

        /** Free, and not used yet. */
        FRESH
    }
}
