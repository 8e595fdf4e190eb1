package io.github.iree4j.hal.pool;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.MemoryHolder.Stake;
import org.jspecify.annotations.Nullable;

/** A part of a slab, free or reserved. This is all the state kept for it; it does not grow with the number of uses. */
final class Block {
    Home home;
    long offset; // in the slab
    long length;
    boolean free;

    // Of a reserved block: what was requested, and by whom.
    long used;
    boolean persistent;

    @Nullable
    Account account;

    @Nullable
    Stake stake;

    /**
     * Of a free block, what must have finished before its bytes are reused; of a reserved one, what that was when it was reserved. Null
     * while the bytes are unused.
     */
    @Nullable
    Frontier death;

    /** The frontier that a wait is registered for, so that there is one wait at a time. */
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

    /** Notes whose it is from now on. */
    void reserved(long length, boolean isPersistent, Account owner, @Nullable Stake holder) {
        used = length;
        persistent = isPersistent;
        account = owner;
        stake = holder;
    }

    /** Notes that it is nobody's. */
    void released() {
        account = null;
        stake = null;
    }

    /** A slab that a pool has. */
    static final class Home {
        final Slab slab;
        int reserved; // number of reserved blocks
        int accessed; // blocks released ahead, which the host may still access
        long idleSince; // when the last block was released

        Home(Slab slab) {
            this.slab = slab;
        }

        /** Whether it has no user and stays only until the host, which may still access it, has retired the last one. */
        boolean isLeaving() {
            return reserved == 0 && accessed > 0;
        }
    }

    @Override
    public String toString() {
        return (free ? "free [" : "reserved [") + offset + ", " + (offset + length) + ") " + death;
    }
}
