package io.github.iree4j.hal.pool;

import io.github.iree4j.frontier.Frontier;
import org.jspecify.annotations.Nullable;

/** A part of a slab, free or reserved. All that is kept about it, however often its bytes were used. */
final class Block {
    Home home;
    long offset; // in the slab
    long length;
    boolean free;

    /**
     * Of a free block what must be over before its bytes are used again; of a reserved one what that was when it was reserved. Null when
     * nobody has used them yet.
     */
    @Nullable
    Frontier death;

    /** The frontier that a wait was registered for, so that there is one at a time. */
    @Nullable
    Frontier watched;

    // Neighbours in the slab.
    @Nullable
    Block previous;

    @Nullable
    Block next;

    // Neighbours in a list of free blocks; of a block object that is not in use the next such.
    @Nullable
    Block previousFree;

    @Nullable
    Block nextFree;

    Block(Home home, long offset, long length) {
        this.home = home;
        this.offset = offset;
        this.length = length;
    }

    /** The first offset at or behind the start whose address has the alignment. */
    long alignedOffset(long alignment) {
        long base = home.slab.address();
        return (base + offset + alignment - 1 & -alignment) - base;
    }

    /** Whether it can hold so many bytes at an aligned address. */
    boolean fits(long size, long alignment) {
        long end = offset + length;
        return size <= length && alignedOffset(alignment) <= end - size;
    }

    /** A slab that a pool has. */
    static final class Home {
        final Slab slab;
        int reserved; // blocks of it that are reserved
        int accessed; // blocks that have been given on and that the host may still touch
        long idleSince; // when the last of them came back

        Home(Slab slab) {
            this.slab = slab;
        }
    }

    @Override
    public String toString() {
        return (free ? "free [" : "reserved [") + offset + ", " + (offset + length) + ") " + death;
    }
}
