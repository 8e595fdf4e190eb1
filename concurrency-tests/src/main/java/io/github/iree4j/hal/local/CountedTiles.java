package io.github.iree4j.hal.local;

import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.hal.loader.HostDispatch;
import io.github.iree4j.hal.loader.LoadedExecutable;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.hal.schedule.DispatchObserver;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/**
 * A recording of dispatches for several executions by two actors and the arbiter, with counts of runs per tile. Each
 * thread counts tiles in plain fields, so only the processor under test orders the tiles.
 */
final class CountedTiles extends BlockProcessor implements LoadedExecutable {
    private static final int DRAINS = 64; // per actor; the arbiter does the rest
    private static final int ARBITER = 2;

    private final Recording recording;
    private final int[] firstTile; // per dispatch, then the number of tiles
    private final int[] earlier; // per dispatch, the number of tiles of earlier regions
    private final int executions;
    private final TileRunner[] workers = {new TileRunner(0, 2), new TileRunner(1, 2), new TileRunner(ARBITER, 2)};
    private final int[][] runs; // per thread and tile
    private final int[] unseen = new int[3]; // per thread: tiles that ran without seeing earlier writes
    private final int[] written; // per tile, the execution in which it last ran
    private final AtomicInteger ends = new AtomicInteger();
    private int execution = 1;

    /**
     * Begins the first execution.
     *
     * @param executions the number of executions, each begun at the end of the previous execution
     * @param regions the workgroups of each dispatch of each region
     */
    CountedTiles(int executions, int[]... regions) {
        this(null, executions, regions);
    }

    /** As above, and reports the dispatches of the first execution to an observer; null for none. */
    CountedTiles(DispatchObserver observer, int executions, int[]... regions) {
        super(2);
        this.executions = executions;
        int dispatches =
                Arrays.stream(regions).mapToInt(region -> region.length).sum();
        long[] code = new long[dispatches * Recording.DISPATCH_WORDS];
        int[] commands = new int[dispatches];
        int[] firsts = new int[regions.length + 1];
        firstTile = new int[dispatches + 1];
        earlier = new int[dispatches];
        int next = 0;
        for (int region = 0; region < regions.length; region++) {
            firsts[region] = next;
            int before = firstTile[next];
            for (int groups : regions[region]) {
                int at = next * Recording.DISPATCH_WORDS;
                code[at] = Recording.DISPATCH;
                code[at + 1] = next; // its export
                code[at + 2] = (long) groups << 32 | 1;
                code[at + 3] = 1L << 32;
                code[at + 4] = 1L << 32 | 1;
                code[at + 5] = 1L << 32;
                commands[next] = at;
                earlier[next] = before;
                firstTile[next + 1] = firstTile[next] + groups;
                next++;
            }
        }
        firsts[regions.length] = next;
        runs = new int[3][firstTile[dispatches]];
        written = new int[firstTile[dispatches]];
        recording = new Recording(
                code,
                commands,
                firsts,
                new LocalBuffer[0],
                new LocalExecutable[] {new LocalExecutable("counted", this)},
                MemorySegment.NULL,
                new int[0]);
        begin(recording, 0, recording.regionCount(), null, null, observer == null ? null : new Observed(observer));
    }

    /** Runs some tiles, as either actor. */
    void drainAs(int actor) {
        for (int i = 0; i < DRAINS && ends.getOpaque() < executions; i++) {
            drain(workers[actor], false);
        }
    }

    /** Runs the remaining tiles, after the actors. */
    void drainRest() {
        while (drain(workers[ARBITER], false)) {
            Thread.onSpinWait();
        }
    }

    /** The fewest runs of a tile. */
    int fewestRuns() {
        return tileRuns().min().orElseThrow();
    }

    /** The most runs of a tile. */
    int mostRuns() {
        return tileRuns().max().orElseThrow();
    }

    private IntStream tileRuns() {
        return IntStream.range(0, written.length).map(tile -> runs[0][tile] + runs[1][tile] + runs[ARBITER][tile]);
    }

    /** Returns the number of tiles that ran without seeing the stores of earlier regions and executions. */
    int unseen() {
        return unseen[0] + unseen[1] + unseen[ARBITER];
    }

    /** How many executions ended. */
    int ends() {
        return ends.get();
    }

    @Override
    public void dispatch(int export, HostDispatch dispatch, long begin, long end, int worker) {
        for (long group = begin; group < end; group++) {
            int tile = firstTile[export] + (int) group;
            runs[worker][tile]++;
            for (int i = 0; i < written.length; i++) {
                // Later tiles were written by the previous execution; tiles of this region by either.
                if (i < earlier[export] ? written[i] != execution : written[i] < execution - 1) {
                    unseen[worker]++;
                }
            }
            written[tile] = execution;
        }
    }

    @Override
    void ended(IreeException cause) {
        if (ends.incrementAndGet() < executions && cause == null) {
            execution++;
            begin(recording, 0, recording.regionCount(), null, null, null);
        }
    }

    @Override
    void want(int drainers, boolean first) {}

    @Override
    IreeException stopped() {
        return null;
    }

    @Override
    public int exportCount() {
        return earlier.length;
    }

    @Override
    public ExecutableExport export(int ordinal) {
        return new ExecutableExport("e" + ordinal, 0, -1, 0, 0, 0, 0, 0);
    }

    @Override
    public void close() {}

    /** The operation with reported dispatches. Never submitted: the actors run the tiles. */
    private final class Observed extends CommandOperation {
        Observed(DispatchObserver observer) {
            super("execute", new CallerRunners(ARBITER + 1, 2));
            observeDispatches(observer);
        }

        @Override
        Recording recording() {
            return recording;
        }

        @Override
        BindingTable bindings() {
            return null;
        }

        @Override
        protected void retain() {}

        @Override
        protected void release() {}
    }
}
