package io.github.iree4j.hal.pool;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Bytes reserved from a pool. The owner releases them once, stating what must have finished before they may be reused.
 *
 * <p>The bytes may be used after everything in the requester's frontier, and once the {@link #waits} have been passed. Safe from any
 * thread.
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
    final long grant; // its number, see Turns
    private final Slab slab;
    private final long offset;
    private final long length;
    private final long size;
    private final Frontier death; // a copy: the block's changes once it is free again

    @SuppressWarnings("UnusedVariable") // read through WAITS
    private List<NativeTimepoint> waits; // written by release once this is shared, read by acquire

    private volatile long number; // given by the observer

    boolean released; // guarded by the lock of the set, as are the next two
    boolean announced;
    Block.@Nullable Home accessed;

    Reservation(
            Pool pool,
            Block block,
            long length,
            Account account,
            MemoryHolder.@Nullable Stake stake,
            long grant,
            boolean persistent,
            long size,
            List<NativeTimepoint> waits) {
        this.pool = pool;
        this.block = block;
        this.account = account;
        this.stake = stake;
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
     * @return the slab, borrowed: valid until this is released, and after that until the death frontier is over
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
     * Returns the number that the observer of the pools has given it.
     *
     * @return the number; 0 when it was reserved while nothing observed them
     */
    public long number() {
        return number;
    }

    void number(long given) {
        number = given;
    }

    /**
     * Returns how many bytes were requested.
     *
     * @return bytes
     */
    public long size() {
        return size;
    }

    /**
     * Returns how many bytes it is charged: its size, rounded as the pool does. A slab of its own may be longer.
     *
     * @return at least {@link #size}
     */
    public long length() {
        return length;
    }

    /**
     * Returns what the requester's hardware must wait for before it uses the bytes: as few marks as suffice.
     *
     * @return the marks; empty when the bytes may be used at once
     */
    @SuppressWarnings("unchecked")
    public List<NativeTimepoint> waits() {
        return (List<NativeTimepoint>) WAITS.getAcquire(this);
    }

    /**
     * Returns what must have finished before the bytes are used: the death frontier that they were released with. Does not change.
     *
     * @return the death frontier; empty for bytes without an earlier user
     */
    public Frontier death() {
        return death;
    }

    /**
     * Checks again whether the bytes may be used, since what the requester runs after may have changed since it reserved them. Updates the
     * {@link #waits}.
     *
     * @param after what the requester runs after
     * @param timepoints what its hardware can wait for
     * @return whether they may be used; if not, the bytes stay reserved until the caller releases them
     */
    public boolean revalidate(Frontier after, NativeTimepoints timepoints) {
        List<NativeTimepoint> now = pool.set.revalidate(this, after, timepoints);
        if (now != null) {
            WAITS.setRelease(this, now);
        }
        return now != null;
    }

    /** Announces a release: the operation that frees the bytes has been submitted. Other requests then wait for it in order. */
    public void announceRelease() {
        pool.set.announceRelease(this);
    }

    /**
     * Releases the bytes. @param death what must have finished before they are reused: the frontier of the operation that frees them;
     * {@link Frontier#EMPTY} when nothing uses them any more
     * @return false when they had been released before
     * @throws IreeException INVALID_ARGUMENT for a tainted frontier without a producer, whose completion cannot be observed; the bytes stay
     *     reserved
     */
    public boolean release(Frontier death) {
        return pool.set.release(this, death, false);
    }

    /**
     * Releases the bytes while the host may still access them in unfinished operations: their slab stays until {@link #accessEnded},
     * whatever becomes of the device.
     *
     * @param death what must have finished before they are reused @return false when they had been released before
     * @throws IreeException as {@link #release}
     */
    public boolean releaseAhead(Frontier death) {
        return pool.set.release(this, death, true);
    }

    /** Notes that the host no longer accesses bytes released by {@link #releaseAhead}. Idempotent. */
    public void accessEnded() {
        pool.set.accessEnded(this);
    }

    /**
     * Releases bytes that were never used: their death frontier stays what it was.
     *
     * @return false when they had been released before
     */
    public boolean cancel() {
        return pool.set.cancel(this);
    }

    @Override
    public String toString() {
        return "[%d, %d) of pool '%s'".formatted(offset, offset + length, pool.name());
    }
}
