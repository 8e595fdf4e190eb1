package io.github.iree4j.hal.local;

import io.github.iree4j.hal.loader.LoadedExecutable;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.hal.schedule.DispatchObserver;
import io.github.iree4j.hal.schedule.DispatchObserver.Outcome;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * The times of the dispatches of an execution by several threads: each thread notes its tiles, and the thread ending a
 * region reports the dispatches of the region. For an execution whose dispatches are observed, and no other.
 */
final class DispatchTimes {
    /*
     * Words of each command of the open region:
     *
     *   BEGIN    earliest begin of a tile; Long.MAX_VALUE before the first
     *   END      latest end of a tile
     *   DONE     63..32 claims that failed | 31..0 tiles that have run
     *   WORKERS  a bit for each thread that ran tiles, by its number
     *
     * BLOCK-4: the thread reporting a region sees the notes about all its tiles: a thread notes a tile before
     * subtracting the tile from the undone tiles of the region, and the reporting thread brings these to 0.
     */
    private static final int BEGIN = 0;
    private static final int END = 1;
    private static final int DONE = 2;
    private static final int WORKERS = 3;
    private static final int WORDS = WORKERS + LoadedExecutable.MAXIMUM_WORKERS / Long.SIZE;
    private static final long FAILED = 1L << 32;

    private final DispatchObserver observer;
    private final HostOperation operation;
    private final AtomicLongArray notes;
    private int index; // of the first dispatch of the region

    private DispatchTimes(DispatchObserver observer, CommandOperation operation) {
        this.observer = observer;
        this.operation = operation;
        Recording commands = operation.recording();
        int most = 0;
        for (int i = operation.firstRegion(); i < operation.endRegion(); i++) {
            most = Math.max(most, commands.firstCommand(i + 1) - commands.firstCommand(i));
        }
        this.notes = new AtomicLongArray(most * WORDS);
    }

    /** Returns the times to be noted for an operation; null when the operation's dispatches are not observed. */
    static @Nullable DispatchTimes of(CommandOperation operation) {
        DispatchObserver observer = operation.observerOfDispatches();
        return observer == null ? null : new DispatchTimes(observer, operation);
    }

    long now() {
        return observer.now();
    }

    /** Prepares a loaded region. For the thread owning the processor. */
    void begin(Region region) {
        for (int at = 0; at < region.count * WORDS; at++) {
            notes.setPlain(at, at % WORDS == BEGIN ? Long.MAX_VALUE : at % WORDS == END ? Long.MIN_VALUE : 0);
        }
    }

    /**
     * Notes a claim that is over.
     *
     * @param command place of the command in the region
     * @param worker number of the thread
     * @param tiles the claimed tiles
     * @param hasRun whether the tiles have run without a failure
     */
    void ran(int command, int worker, long begin, int tiles, boolean hasRun) {
        int at = command * WORDS;
        notes.accumulateAndGet(at + BEGIN, begin, Math::min);
        notes.accumulateAndGet(at + END, now(), Math::max);
        notes.accumulateAndGet(at + WORKERS + worker / Long.SIZE, 1L << worker, (known, bit) -> known | bit);
        notes.getAndAdd(at + DONE, hasRun ? tiles : FAILED);
    }

    /**
     * Reports the dispatches of a region that have begun. For the thread ending the region.
     *
     * @param hasRun whether all of the region has run; otherwise dispatches without tiles are left out
     */
    void end(Recording commands, Region region, boolean hasRun) {
        for (int i = 0; i < region.count; i++) {
            if (commands.isDispatch(region.at[i])) {
                report(region, i, hasRun);
                index++;
            }
        }
    }

    private void report(Region region, int command, boolean hasRun) {
        int at = command * WORDS;
        int tiles = region.start[command + 1] - region.start[command];
        long begin = notes.get(at + BEGIN);
        long end = notes.get(at + END);
        if (tiles == 0 && hasRun) {
            begin = now();
            end = begin;
        } else if (begin == Long.MAX_VALUE) {
            return;
        }
        long done = notes.get(at + DONE);
        int workers = 0;
        for (int i = WORKERS; i < WORDS; i++) {
            workers += Long.bitCount(notes.get(at + i));
        }
        Outcome outcome = done >= FAILED ? Outcome.FAILED : done < tiles ? Outcome.STOPPED : Outcome.ENDED;
        observer.dispatched(operation, index, region.dispatch(command, begin, end, workers, outcome));
    }
}
