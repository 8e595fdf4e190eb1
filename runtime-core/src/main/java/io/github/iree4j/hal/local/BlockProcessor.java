package io.github.iree4j.hal.local;

import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.status.IreeException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Executes a single recording at a time, on any number of threads calling {@link #drain}. Reusable; allocates nothing per
 * command.
 *
 * <p>Threads claim tiles of the open region. The thread finishing the last tile opens the next region, or ends the
 * execution.
 */
abstract class BlockProcessor {
    /*
     * Two state words, each on its own cache lines:
     *
     *   CLAIMS   63..32 epoch | 31..0 left      tiles of the open region not yet claimed; compare-and-set takes some
     *   UNDONE   tiles of the open region that have not been run
     *
     * The epoch rises with every region, so a claim based on an earlier region fails.
     *
     * BLOCK-1: every tile is claimed once. A successful claim was based on the open region. This region is not complete
     * before the tile is done, so neither the epoch nor anything in `region` has changed between the read of CLAIMS and
     * the compare-and-set.
     * BLOCK-2: a region is opened once all earlier tiles are done, by one thread: the thread whose subtraction brings
     * UNDONE to 0.
     * BLOCK-3: the thread running a tile sees everything written by the tiles of earlier regions: the threads of these
     * tiles subtract from UNDONE when done, the last of the threads writes CLAIMS, and a claim reads CLAIMS.
     */
    private static final int CLAIMS = 16; // 128 bytes from the header of the array
    private static final int UNDONE = 32;
    private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle FAILURE;

    /** Duration of a claim: long enough to hide the cost of claiming, short enough for cancellation and other work. */
    private static final int CLAIM_NANOS = 20_000;

    /** Longest drain, by the known durations of its tiles; the thread then looks for other work. Also the longest tile of a thread that only helps. */
    private static final long DRAIN_NANOS = 200_000;

    /** Tiles per claim for tiles of unknown duration, when there are plenty. */
    private static final int UNTIMED_CLAIM = 8;

    /** Cost of waking another worker: shorter work is not worth a wake-up. */
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
     * Written by the thread owning the processor while no tile can be claimed: the thread beginning an execution, then
     * each thread completing a region. Published by CLAIMS. A thread that lost the race for a tile may read stale
     * values here and must not act on these values.
     */
    private final PinnedBuffers pins = new PinnedBuffers();
    private final Region region = new Region();
    private @Nullable Recording recording;
    private @Nullable DispatchTimes times; // null unless the dispatches are observed
    private int nextRegion;
    private int lastRegion;

    @SuppressWarnings("unused") // through FAILURE
    private @Nullable IreeException failure;

    /** Creates a processor running recordings on at most the given number of workers. */
    BlockProcessor(int workers) {
        this.workers = workers;
    }

    /**
     * Requests threads for the opened region. Called in {@link #drain}, by a thread that returns there or ensures that
     * another thread does, or in {@link #begin} for the first region.
     */
    abstract void want(int drainers, boolean first);

    /** Returns the reason for not running the remaining tiles; null while they may run. Called before every claim. */
    abstract @Nullable IreeException stopped();

    /** Reports that the execution is complete; another may begin at once. Called by the finishing thread. */
    abstract void ended(@Nullable IreeException cause);

    /**
     * Begins an execution. Only while none is in progress.
     *
     * @param commands the recording
     * @param from the first region of the recording
     * @param to the region after the last
     * @param table the contents of the slots
     * @param call the executing call; null for none
     * @param observed the operation, to report its dispatches if they are observed; null for none
     */
    final void begin(
            Recording commands,
            int from,
            int to,
            @Nullable BindingTable table,
            @Nullable MemoryHolder call,
            @Nullable CommandOperation observed) {
        FAILURE.set(this, null);
        try {
            times = observed == null ? null : DispatchTimes.of(observed);
            pins.pin(commands, table, call);
        } catch (Throwable t) { // of any kind: waiters must be notified
            ended(HostOperation.failure(HostOperation.EXECUTE, t));
            return;
        }
        recording = commands;
        nextRegion = from;
        lastRegion = to;
        advance(commands, true);
    }

    /** Returns whether there are tiles to claim; a racy snapshot. */
    final boolean isOpen() {
        return (int) claimsAcquire() != 0;
    }

    /** Returns whether the next tile is known to be short; a racy snapshot. */
    final boolean isOpenToHelpers() {
        int left = (int) claimsAcquire();
        return left != 0 && isBrief(region.commandOf(region.tiles - left));
    }

    /** Returns whether the tiles of a command are known to be short. Values read here may be stale, see above. */
    private boolean isBrief(int command) {
        int nanos = region.nanos[command];
        return nanos != 0 && nanos <= DRAIN_NANOS;
    }

    /** Returns whether tiles of the open region are running or claimable, a racy snapshot: another region or the end follows soon. */
    final boolean isBusy() {
        return (long) WORD.getOpaque(words, UNDONE) > 0;
    }

    /**
     * Claims and runs tiles of the open region until none are left, or for a while.
     *
     * @param helps whether the thread only helps, and leaves tiles that may take long to others
     * @return whether there were any tiles
     */
    final boolean drain(TileRunner worker, boolean helps) {
        long claim = claimsAcquire();
        if ((int) claim == 0) {
            return false;
        }
        int epoch = (int) (claim >>> 32);
        int done = 0;
        long spent = 0;
        // A tile claimed here keeps the epoch until the tile is done.
        while ((int) claim != 0 && (int) (claim >>> 32) == epoch && spent < DRAIN_NANOS) {
            int left = (int) claim;
            int tile = region.tiles - left;
            int command = region.commandOf(tile);
            if (helps && !isBrief(command)) {
                break;
            }
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
                fail(cause); // the remaining tiles were claimed to prevent a run
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

    /** Returns the number of tiles to claim at once. Values read here may be stale, see above. */
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
        DispatchTimes observed = times;
        long began = observed == null ? 0 : observed.now();
        boolean hasRun = false;
        try {
            Recording commands = recording;
            if (commands == null) {
                throw new IllegalStateException("tiles without a recording");
            }
            worker.enter(commands, pins, region, command);
            worker.run(region.unit(command, tile), region.unit(command, tile + count));
            hasRun = true;
        } catch (Throwable t) {
            fail(HostOperation.failure(HostOperation.EXECUTE, t));
        }
        if (observed != null) {
            observed.ran(command, worker.index, began, count, hasRun); // BLOCK-4
        }
    }

    private void fail(IreeException cause) {
        FAILURE.compareAndSet(this, null, cause);
    }

    /** Ends a region after its last tile: opens the next region with tiles, or ends the execution. */
    private void advance(@Nullable Recording commands, boolean first) {
        IreeException cause = failureAcquire();
        DispatchTimes observed = times;
        if (observed != null && commands != null && !first) {
            observed.end(commands, region, cause == null); // BLOCK-4
        }
        while (cause == null && commands != null && nextRegion < lastRegion) {
            try {
                region.load(commands, pins, nextRegion++);
            } catch (Throwable t) {
                cause = HostOperation.failure(HostOperation.EXECUTE, t);
                break;
            }
            if (observed != null) {
                observed.begin(region);
            }
            if (region.tiles > 0) {
                open(first);
                return;
            }
            if (observed != null) {
                observed.end(commands, region, true);
            }
        }
        recording = null;
        times = null;
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
