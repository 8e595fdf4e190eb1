package io.github.iree4j.hal.pool;

import io.github.iree4j.frontier.Frontier;
import org.jspecify.annotations.Nullable;

/** A part of a slab, free or reserved. This object is the whole state of the block; the state does not grow with the number of uses. */
final class Block {
    Home home;
    long offset; // offset of the block in the slab
    long length;
    boolean free;

    // Size, lifetime and owners of a reserved block.
    long used;
    boolean persistent;

    @Nullable
    Account account;

    @Nullable
    Holding holding;

    /**
     * The work that must have finished before the bytes of a free block are reused; for a reserved block, the value at
     * the reservation. Null while the bytes are unused.
     */
    @Nullable
    Frontier death;

    /** The frontier of the registered wait; a block has at most one wait. */
    @Nullable
    Frontier watched;

    // Neighbours in the slab.
    @Nullable
    Block previous;

    @Nullable
    Block next;

    // Neighbours in a list of free blocks; nextFree also links spare block objects.
    @Nullable
    Block previousFree;

    @Nullable
    Block nextFree;

    Block(Home home, long offset, long length) {
        this.home = home;
        this.offset = offset;
        this.length = length;
    }

    /** The first offset at or after the start whose address has the alignment. */
    long alignedOffset(long alignment) {
        long base = home.slab.address();
        return (base + offset + alignment - 1 & -alignment) - base;
    }

    /** Whether the block can hold {@code size} bytes at an aligned address. */
    boolean fits(long size, long alignment) {
        long end = offset + length;
        return size <= length && alignedOffset(alignment) <= end - size;
    }

    /** Records the new owners. */
    void reserved(long length, boolean isPersistent, Account owner, @Nullable Holding holder) {
        used = length;
        persistent = isPersistent;
        account = owner;
        holding = holder;
    }

    /** Records that the block has no owner. */
    void released() {
        account = null;
        holding = null;
    }

    /** A slab of a pool. */
    static final class Home {
        final Slab slab;
        int reserved; // number of reserved blocks
        int accessed; // number of blocks released ahead: the host may still access their bytes
        long idleSince; // time of the last release of a block

        Home(Slab slab) {
            this.slab = slab;
        }

        /** Whether the slab has no user and stays only until the host, which may still access the bytes, has retired the last access. */
        boolean isLeaving() {
            return reserved == 0 && accessed > 0;
        }
    }

    @Override
    public String toString() {
        return (free ? "free [" : "reserved [") + offset + ", " + (offset + length) + ") " + death;
    }
}
