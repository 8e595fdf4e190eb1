package io.github.iree4j.hal.storage;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.Reservation;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Memory behind an allocation, for backends: reserved from a pool, or imported. Safe from any thread. */
public abstract class BufferStorage {
    private final @Nullable Reservation reservation; // null for imported memory

    /**
     * Makes storage.
     *
     * @param reservation the pool's reservation; null for imported memory
     */
    protected BufferStorage(@Nullable Reservation reservation) {
        this.reservation = reservation;
    }

    /**
     * Returns the bytes as mapped by the host.
     *
     * @return the bytes, valid while the storage is pinned; null for bytes not visible to the host
     */
    public @Nullable MemorySegment host() {
        return null;
    }

    /**
     * Returns the pool's host memory slab containing these bytes. A slab is allocated and freed as a whole.
     *
     * @return the memory; null for device memory and imported memory
     */
    public @Nullable MemorySegment hostSlab() {
        return null;
    }

    /** Returns the pool's reservation; null for imported memory. */
    final @Nullable Reservation reservation() {
        return reservation;
    }

    /** Announces a pending release. */
    final void announceRelease() {
        if (reservation != null) {
            reservation.announceRelease();
        }
    }

    /** Releases the memory ahead of the last access; returns false when released before. */
    final boolean releaseAhead(Frontier death) {
        return reservation != null && reservation.releaseAhead(death);
    }

    /** Records the end of the last access to the memory. */
    final void accessEnded() {
        if (reservation != null) {
            reservation.accessEnded();
        }
    }

    /**
     * Releases the memory.
     *
     * @param death the frontier to complete before the memory is reused; empty without users
     * @return false when released before, or for imported memory
     */
    public final boolean release(Frontier death) {
        return reservation != null && reservation.release(death);
    }
}
