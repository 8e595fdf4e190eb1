package io.github.iree4j.hal.local;

import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.status.IreeException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Executes one recording at a time, on any number of threads that call {@link #drain}. Reusable; allocates nothing per command.
 *
 * <p>Threads claim tiles of the open region. The thread that finishes the last tile opens the next region, or ends the execution.
 */
abstract class BlockProcessor {
    /*
     * Two state words, each on its own cache lines:
     *
     *   CLAIMS   63..32 epoch | 31..0 left      tiles of the open region not yet claimed; compare-and-set takes some
     *   UNDONE   tiles of the open region that have not been run
     *
     * The epoch rises with every region, so that a claim based on an earlier region fails.
     *
     * BLOCK-1: every tile is claimed once. A claim that succeeds was based on the open region: that is not complete before the
     * tile is done, so neither the epoch nor anything in `region` has changed between the read of CLAIMS and the compare-and-set.
     * BLOCK-2: a region is opened once all tiles before it are done, by one thread: the one whose subtraction brings UNDONE to 0.
     * BLOCK-3: the thread that runs a tile sees what the tiles of earlier regions wrote: their threads subtract from UNDONE when they are done, the
     *   last of them writes CLAIMS, and a claim reads it.
     */
    private static final int CLAIMS = 16; // 128 bytes from the header of the array
    private static final int UNDONE = 32;
    private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle FAILURE;

    /** Long enough for the costs of a claim not to matter, short enough for cancellation and other work. */
    private static final int CLAIM_NANOS = 20_000;

    /** A drain that has taken this long, by the known durations of its tiles, returns to let its thread look for other work. */
    private static final long DRAIN_NANOS = 200_000;

    /** Tiles per claim where their duration is unknown and there are plenty. */
    private static final int UNTIMED_CLAIM = 8;

    /** Cost of waking another worker: shorter work is not worth it. */
    private static final int WAKE_NANOS = 5_000;

    static {
        try {
            FAILURE = MethodHandles.lookup().findVarHandle(BlockProcessor.class, "failure", IreeException.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final long[] words = new long[48];
    private final int workers;

    /*
     * Written by the thread that owns the processor while no tile can be claimed: the one that begins an execution, then each that
     * completes a region. Published by CLAIMS. A thread that lost the race for a tile may read stale values here and must not act on them.
     */
    private final PinnedBuffers pins = new PinnedBuffers();
    private final Region region = new Region();
    private @Nullable Recording recording;
    private int nextRegion;
    private int lastRegion;

    @SuppressWarnings("unused") // through FAILURE
    private @Nullable IreeException failure;

    /** Creates a processor whose recordings run on at most the given number of workers. */
    BlockProcessor(int workers) {
        this.workers = workers;
    }

    /**
     * Requests threads for the region that was opened. Called by a thread in {@link #drain}, which returns to it or ensures that
     * another thread does, or in {@link #begin} for the first region.
     */
    abstract void want(int drainers, boolean first);

    /** Returns why the remaining tiles must not run; null while they may. Called before every claim. */
    abstract @Nullable IreeException stopped();

    /** The execution is complete, and another may begin at once. Called by the thread that finished it. */
    abstract void ended(@Nullable IreeException cause);

    /**
     * Begins an execution. Only while none is in progress.
     *
     * @param commands the recording
     * @param from its first region
     * @param to the region after the last
     * @param table the contents of the slots
     * @param call the call that it is executed for; null for none
     */
    final void begin(Recording commands, int from, int to, @Nullable BindingTable table, @Nullable MemoryHolder call) {
        FAILURE.set(this, null);
        try {
            pins.pin(commands, table, call);
        } catch (Throwable t) { // of any kind: waiters must be notified
            ended(HostOperation.failure("execute", t));
            return;
        }
        recording = commands;
        nextRegion = from;
        lastRegion = to;
        advance(commands, true);
    }

    /** Whether there are tiles to claim; a racy snapshot. */
    final boolean isOpen() {
        return (int) claimsAcquire() != 0;
    }

    /** Whether tiles of the open region are running or claimable, a racy snapshot: another region or the end follows soon. */
    final boolean isBusy() {
        return (long) WORD.getOpaque(words, UNDONE) > 0;
    }

    /**
     * Claims and runs tiles of the open region until there are none, or for a while.
     *
     * @return whether there were any
     */
    final boolean drain(TileRunner worker) {
        long claim = claimsAcquire();
        if ((int) claim == 0) {
            return false;
        }
        int epoch = (int) (claim >>> 32);
        int done = 0;
        long spent = 0;
        // Once a tile is claimed here the epoch stays, until it is done.
        while ((int) claim != 0 && (int) (claim >>> 32) == epoch && spent < DRAIN_NANOS) {
            int left = (int) claim;
            int tile = region.tiles - left;
            int command = region.commandOf(tile);
            IreeException cause = failureAcquire();
            if (cause == null) {
                cause = stopped();
            }
            int count = cause == null ? claimSize(command, tile) : left;
            if (count <= 0 || count > left || !casClaims(claim, claim - count)) { // BLOCK-1
                claim = claimsAcquire();
                continue;
            }
            if (cause == null) {
                run(worker, command, tile, count);
            } else {
                fail(cause); // the remaining tiles were claimed in order not to run
            }
            done += count;
            spent += nanosOf(command, count);
            claim = claimsAcquire();
        }
        if (done == 0) {
            return false;
        }
        worker.leave();
        if (getAndAddUndone(-done) == done) { // BLOCK-2
            advance(recording, false);
        }
        return true;
    }

    /** How many tiles to claim at once. Values read here may be stale, see above. */
    private int claimSize(int command, int tile) {
        int rest = region.start[command + 1] - tile;
        int nanos = region.nanos[command];
        if (nanos == 0) {
            int all = region.start[command + 1] - region.start[command];
            return all < UNTIMED_CLAIM * workers ? 1 : Math.min(UNTIMED_CLAIM, rest);
        }
        int share = workers == 1 ? rest : Math.max(1, rest / (2 * workers));
        return Math.clamp(CLAIM_NANOS / nanos, 1, Math.max(1, share));
    }

    private long nanosOf(int command, int count) {
        int nanos = region.nanos[command];
        return (long) count * (nanos == 0 ? CLAIM_NANOS : nanos);
    }

    private void run(TileRunner worker, int command, int tile, int count) {
        try {
            Recording commands = recording;
            if (commands == null) {
                throw new IllegalStateException("tiles without a recording");
            }
            worker.enter(commands, pins, region, command);
            worker.run(region.unit(command, tile), region.unit(command, tile + count));
        } catch (Throwable t) {
            fail(HostOperation.failure("execute", t));
        }
    }

    private void fail(IreeException cause) {
        FAILURE.compareAndSet(this, null, cause);
    }

    /** All tiles of the region are done: opens the next that has any, or ends the execution. */
    private void advance(@Nullable Recording commands, boolean first) {
        IreeException cause = failureAcquire();
        while (cause == null && commands != null && nextRegion < lastRegion) {
            try {
                region.load(commands, pins, nextRegion++);
            } catch (Throwable t) {
                cause = HostOperation.failure("execute", t);
                break;
            }
            if (region.tiles > 0) {
                open(first);
                return;
            }
        }
        recording = null;
        pins.unpin();
        ended(cause);
    }

    private void open(boolean first) {
        int tiles = region.tiles;
        long nanos = region.nanos(WAKE_NANOS);
        setUndone(tiles);
        publishClaimsVolatile(tiles); // BLOCK-3
        // From here on the region may be complete, and the processor running another recording.
        want(Math.clamp(nanos / WAKE_NANOS, 1, Math.min(tiles, workers)), first);
    }

    private long claimsAcquire() {
        return (long) WORD.getAcquire(words, CLAIMS);
    }

    private boolean casClaims(long expected, long value) {
        return WORD.compareAndSet(words, CLAIMS, expected, value);
    }

    private void publishClaimsVolatile(int tiles) {
        long epoch = ((long) WORD.getOpaque(words, CLAIMS) >>> 32) + 1;
        WORD.setVolatile(words, CLAIMS, epoch << 32 | tiles);
    }

    private long getAndAddUndone(long delta) {
        return (long) WORD.getAndAdd(words, UNDONE, delta);
    }

    private void setUndone(long tiles) {
        WORD.setOpaque(words, UNDONE, tiles);
    }

    private @Nullable IreeException failureAcquire() {
        return (IreeException) FAILURE.getAcquire(this);
    }
}
