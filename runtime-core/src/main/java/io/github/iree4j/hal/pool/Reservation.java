package io.github.iree4j.hal.pool;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Bytes reserved from a pool. The owner releases the bytes once, stating the work that must have finished before reuse.
 *
 * <p>The bytes may be used after everything in the requester's frontier, and once the {@link #waits} have been passed.
 * Safe from any thread.
 */
@NotForApplications
public final class Reservation {
    private static final VarHandle WAITS;

    static {
        try {
            WAITS = MethodHandles.lookup().findVarHandle(Reservation.class, "waits", List.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final Pool pool;
    final Block block;
    final Account account;
    final boolean persistent;
    final @Nullable Holding holding;
    final long grant; // number of the grant, see Turns
    private final Slab slab;
    private final long offset;
    private final long length;
    private final long size;
    // copy of the block's death frontier, because the block's changes once the block is free again
    private final Frontier death;

    @SuppressWarnings("UnusedVariable") // read through WAITS
    private List<NativeTimepoint> waits; // written by release once the reservation is shared, read by acquire

    private volatile long number; // number given by the observer

    boolean released; // guarded by the lock of the set, as are announced and accessed
    boolean announced;
    Block.@Nullable Home accessed;

    Reservation(
            Pool pool,
            Block block,
            long length,
            Account account,
            @Nullable Holding holding,
            long grant,
            boolean persistent,
            long size,
            List<NativeTimepoint> waits) {
        this.pool = pool;
        this.block = block;
        this.account = account;
        this.holding = holding;
        this.grant = grant;
        this.persistent = persistent;
        this.slab = block.home.slab;
        this.offset = block.offset;
        this.length = length;
        this.size = size;
        this.death = block.death == null ? Frontier.EMPTY : block.death;
        this.waits = waits;
    }

    /**
     * Returns the pool.
     *
     * @return the pool, borrowed
     */
    public Pool pool() {
        return pool;
    }

    /**
     * Returns the slab that contains the bytes.
     *
     * @return the slab, borrowed: valid until this reservation is released, and after the release until all work in the
     *     death frontier has ended
     */
    public Slab slab() {
        return slab;
    }

    /**
     * Returns the start of the bytes in the slab.
     *
     * @return bytes
     */
    public long offset() {
        return offset;
    }

    /**
     * Returns the number given by the observer of the pools.
     *
     * @return the number; 0 when the bytes were reserved without an observer
     */
    public long number() {
        return number;
    }

    void number(long given) {
        number = given;
    }

    /**
     * Returns the requested number of bytes.
     *
     * @return bytes
     */
    public long size() {
        return size;
    }

    /**
     * Returns the charged number of bytes: the size, rounded by the pool. The slab of a block without neighbours may be
     * longer.
     *
     * @return at least {@link #size}
     */
    public long length() {
        return length;
    }

    /**
     * Returns the marks that the requester's hardware must wait for before using the bytes: the fewest sufficient
     * marks.
     *
     * @return the marks; empty when the bytes may be used at once
     */
    @SuppressWarnings("unchecked")
    public List<NativeTimepoint> waits() {
        return (List<NativeTimepoint>) WAITS.getAcquire(this);
    }

    /**
     * Returns the work that must have finished before the bytes are used: the death frontier of the last release. Does
     * not change.
     *
     * @return the death frontier; empty for bytes without an earlier user
     */
    public Frontier death() {
        return death;
    }

    /**
     * Checks again whether the bytes may be used, since the requester's frontier may have changed since the
     * reservation. Updates the {@link #waits}.
     *
     * @param after the frontier of the requester
     * @param timepoints the marks that the requester's hardware can wait for
     * @return whether the bytes may be used; if not, the bytes stay reserved until the caller releases the reservation
     */
    public boolean revalidate(Frontier after, NativeTimepoints timepoints) {
        List<NativeTimepoint> now = pool.set.revalidate(this, after, timepoints);
        if (now != null) {
            WAITS.setRelease(this, now);
        }
        return now != null;
    }

    /** Announces a release: the operation freeing the bytes has been submitted. Other requests then wait for the release in order. */
    public void announceRelease() {
        pool.set.announceRelease(this);
    }

    /**
     * Releases the bytes.
     *
     * @param death the work that must have finished before reuse: the frontier of the operation freeing the bytes;
     *     {@link Frontier#EMPTY} when no work uses the bytes any more
     * @return false when the bytes had been released before
     * @throws IreeException INVALID_ARGUMENT for a tainted frontier without a producer, whose completion cannot be
     *     observed; the bytes stay reserved
     */
    public boolean release(Frontier death) {
        return pool.set.release(this, death, false);
    }

    /**
     * Releases the bytes while the host may still access the bytes in unfinished operations: the slab stays until
     * {@link #accessEnded}, whatever becomes of the device.
     *
     * @param death the work that must have finished before reuse
     * @return false when the bytes had been released before
     * @throws IreeException as {@link #release}
     */
    public boolean releaseAhead(Frontier death) {
        return pool.set.release(this, death, true);
    }

    /** Records that the host no longer accesses bytes released by {@link #releaseAhead}. Idempotent. */
    public void accessEnded() {
        pool.set.accessEnded(this);
    }

    /**
     * Releases bytes that were never used: the death frontier stays unchanged.
     *
     * @return false when the bytes had been released before
     */
    public boolean cancel() {
        return pool.set.cancel(this);
    }

    @Override
    public String toString() {
        return "[%d, %d) of pool '%s'".formatted(offset, offset + length, pool.name());
    }
}
