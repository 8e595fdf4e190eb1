package io.github.iree4j.hal.schedule;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.Reservation;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** The memory behind an allocation, for backends: reserved from a pool, or imported. Safe from any thread. */
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
     * @return the bytes, valid while the storage is pinned; null where they are not host-visible
     */
    public @Nullable MemorySegment host() {
        return null;
    }

    /**
     * Returns the host memory slab that a pool allocated and that these bytes are a part of. A slab is allocated and freed as a
     * whole.
     *
     * @return the memory; null for device memory and imported memory
     */
    public @Nullable MemorySegment hostSlab() {
        return null;
    }

    /** The pool's reservation; null for imported memory. */
    final @Nullable Reservation reservation() {
        return reservation;
    }

    /** Announces a pending release. */
    final void announceRelease() {
        if (reservation != null) {
            reservation.announceRelease();
        }
    }

    /** Releases the memory ahead of its last access; returns false when that was done before. */
    final boolean releaseAhead(Frontier death) {
        return reservation != null && reservation.releaseAhead(death);
    }

    /** The last access to the memory has completed. */
    final void accessEnded() {
        if (reservation != null) {
            reservation.accessEnded();
        }
    }

    /**
     * Releases the memory.
     *
     * @param death what must complete before the memory is reused; empty when nothing uses it
     * @return false when that was done before, or the memory is imported
     */
    public final boolean release(Frontier death) {
        return reservation != null && reservation.release(death);
    }
}
