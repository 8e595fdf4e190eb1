package io.github.iree4j.hal.pool;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.frontier.Frontier;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The blocks of the pools of a device at a certain moment, without addresses.
 *
 * @param slabs the slabs, pool by pool
 * @param omitted number of blocks beyond the limit, not listed
 */
@NotForApplications
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
     * @param number number of the slab, never reused
     * @param pool name of the pool
     * @param size bytes
     * @param blocks the blocks in the order of offsets, without the omitted blocks
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
     * @param offset start in the slab, in bytes
     * @param length bytes
     * @param state the use of the block
     * @param death for a free block, the frontier preceding reuse; for a reserved block, the frontier preceding its
     *     user; null when the bytes have not been used before
     */
    public record Span(
            long offset, long length, State state, @Nullable Frontier death) {}

    /** The use of a block. */
    public enum State {
        /** In use. */
        RESERVED,

        /** Free; the last user may not have finished, so the death frontier decides on reuse. */
        DYING,

        /** Free; the last user has finished. */
        REUSABLE,

        /** Free, and without a known user: not used yet, or the users were known to be done at the release. */
        FRESH
    }
}
