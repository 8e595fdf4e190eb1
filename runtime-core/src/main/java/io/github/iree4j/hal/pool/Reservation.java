package io.github.iree4j.hal.pool;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Bytes that a pool has given out. Whoever got it releases it once, saying what must be over before the bytes may be used again.
 *
 * <p>They may be used after everything in the requester's frontier, and once the {@link #waits} have been passed. Safe from any thread.
 */
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
    final MemoryHolder.@Nullable Stake stake;
    private final Slab slab;
    private final long offset;
    private final long length;
    private final long size;
    private final Frontier death; // the block's changes once it is free again

    @SuppressWarnings("UnusedVariable") // read through WAITS
    private List<NativeTimepoint> waits; // written by release once this is known to others, read by acquire

    boolean released; // guarded by the lock of the set, like the next
    boolean announced;
    Block.@Nullable Home accessed;

    Reservation(
            Pool pool,
            Block block,
            Account account,
            MemoryHolder.@Nullable Stake stake,
            boolean persistent,
            long size,
            List<NativeTimepoint> waits) {
        this.pool = pool;
        this.block = block;
        this.account = account;
        this.stake = stake;
        this.persistent = persistent;
        this.slab = block.home.slab;
        this.offset = block.offset;
        this.length = block.length;
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
     * Returns the slab that the bytes are in.
     *
     * @return the slab, borrowed: there as long as this is not released, and after that until the death frontier is over
     */
    public Slab slab() {
        return slab;
    }

    /**
     * Returns where the bytes start in the slab.
     *
     * @return bytes
     */
    public long offset() {
        return offset;
    }

    /**
     * Returns how many bytes were asked for.
     *
     * @return bytes
     */
    public long size() {
        return size;
    }

    /**
     * Returns how many bytes are taken from the pool.
     *
     * @return at least {@link #size}
     */
    public long length() {
        return length;
    }

    /**
     * Returns what the requester's hardware must wait for before it uses the bytes: as few marks as will do.
     *
     * @return the marks; empty when the bytes may be used at once
     */
    @SuppressWarnings("unchecked")
    public List<NativeTimepoint> waits() {
        return (List<NativeTimepoint>) WAITS.getAcquire(this);
    }

    /**
     * Returns what must be over before the bytes are used: what was given back with them. Stays the same.
     *
     * @return the death frontier; empty of bytes that had no user
     */
    public Frontier death() {
        return death;
    }

    /**
     * Looks again whether the bytes may be used: they were reserved for a requester who was to run after something, and that may have
     * changed since. What its hardware must wait for is as of now.
     *
     * @param after what the requester runs after
     * @param timepoints what its hardware can wait for
     * @return true if so; else the bytes stay reserved, and the caller gives them back
     */
    public boolean revalidate(Frontier after, NativeTimepoints timepoints) {
        List<NativeTimepoint> now = pool.set.revalidate(this, after, timepoints);
        if (now != null) {
            WAITS.setRelease(this, now);
        }
        return now != null;
    }

    /** Says that a release is on its way: the operation that frees the bytes has been submitted. Others then wait for it in order. */
    public void announceRelease() {
        pool.set.announceRelease(this);
    }

    /**
     * Gives the bytes back.
     *
     * @param death what must be over before they are used again, the frontier of the operation that frees them;
     *     {@link Frontier#EMPTY} when nothing uses them any more
     * @return false when they were given back before
     * @throws IreeException INVALID_ARGUMENT for a tainted frontier without producer, of which nobody could tell when it is over; the
     *     bytes stay reserved
     */
    public boolean release(Frontier death) {
        return pool.set.release(this, death, false);
    }

    /**
     * Gives the bytes back while the host may still touch them, in operations that were submitted and are not over: their slab stays until
     * {@link #accessEnded}, whatever becomes of the device.
     *
     * @param death what must be over before they are used again
     * @return false when they were given back before
     * @throws IreeException as {@link #release}
     */
    public boolean releaseAhead(Frontier death) {
        return pool.set.release(this, death, true);
    }

    /** Says that the host touches bytes no more that were given back with {@link #releaseAhead}. Harmless when repeated. */
    public void accessEnded() {
        pool.set.accessEnded(this);
    }

    /**
     * Gives bytes back that were never used: what had to be over before is what has to be over still.
     *
     * @return false when they were given back before
     */
    public boolean cancel() {
        return pool.set.cancel(this);
    }

    @Override
    public String toString() {
        return "[%d, %d) of pool '%s'".formatted(offset, offset + length, pool.name());
    }
}
