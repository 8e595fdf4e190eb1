package io.github.iree4j.hal.schedule;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.Reservation;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** The memory behind an allocation, for backends: given out by a pool, or somebody else's. Safe from any thread. */
public abstract class BufferStorage {
    private final @Nullable Reservation reservation; // null of what is not ours

    /**
     * Makes storage.
     *
     * @param reservation what a pool gave out; null for memory of somebody else
     */
    protected BufferStorage(@Nullable Reservation reservation) {
        this.reservation = reservation;
    }

    /**
     * Returns the bytes as the host sees them.
     *
     * @return the bytes, valid while the storage is pinned; null where it does not see them
     */
    public @Nullable MemorySegment host() {
        return null;
    }

    /**
     * Returns the memory of the host that a pool took from the system and that these bytes are a part of. It comes and goes as a whole.
     *
     * @return the memory; null where it is the device's or somebody else's
     */
    public @Nullable MemorySegment hostSlab() {
        return null;
    }

    /** Says that a release is on its way. */
    final void announceRelease() {
        if (reservation != null) {
            reservation.announceRelease();
        }
    }

    /** Gives the memory back before it is touched for the last time; returns false when that was done before. */
    final boolean releaseAhead(Frontier death) {
        return reservation != null && reservation.releaseAhead(death);
    }

    /** The memory was touched for the last time. */
    final void accessEnded() {
        if (reservation != null) {
            reservation.accessEnded();
        }
    }

    /**
     * Gives the memory back.
     *
     * @param death what must be over before it is used again; empty when nothing uses it any more
     * @return false when that was done before, or the memory is somebody else's
     */
    public final boolean release(Frontier death) {
        return reservation != null && reservation.release(death);
    }
}
