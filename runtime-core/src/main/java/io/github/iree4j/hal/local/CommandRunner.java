package io.github.iree4j.hal.local;

import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.hal.schedule.DispatchObserver;
import io.github.iree4j.hal.schedule.DispatchObserver.Outcome;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.jspecify.annotations.Nullable;

/** Runs a recording on the calling thread, command by command. Reusable; used by a single thread at a time. Allocates nothing per command. */
final class CommandRunner {
    /** Running time between checks for cancellation. */
    private static final int LOOK_NANOS = 200_000;

    /** Number of tiles between checks for cancellation, for tiles of unknown duration. */
    private static final int UNTIMED_TILES = 64;

    private final PinnedBuffers pins = new PinnedBuffers();
    private final Region region = new Region();
    private final TileRunner worker;

    CommandRunner(TileRunner worker) {
        this.worker = worker;
    }

    TileRunner worker() {
        return worker;
    }

    /**
     * Executes regions of a recording after the submission has been checked.
     *
     * @param from the first region
     * @param to the region after the last
     * @param operation polled for a failure, which ends the run
     * @throws IreeException when a buffer has no storage, a range known only now does not fit, a kernel fails, or the
     *     operation has failed
     */
    void run(Recording commands, int from, int to, @Nullable BindingTable table, HostOperation operation) {
        DispatchObserver observer = operation.observerOfDispatches();
        int dispatches = 0;
        pins.pin(commands, table, operation.call());
        try {
            for (int i = from; i < to; i++) {
                region.load(commands, pins, i);
                for (int command = 0; command < region.count; command++) {
                    IreeException stopped = observer != null && commands.isDispatch(region.at[command])
                            ? observe(commands, command, operation, observer, dispatches++)
                            : run(commands, command, operation);
                    if (stopped != null) {
                        throw stopped;
                    }
                }
                worker.leave();
            }
        } catch (Throwable t) {
            worker.leave();
            throw t;
        } finally {
            pins.unpin();
        }
    }

    /** Runs a dispatch, and reports its times. */
    private @Nullable IreeException observe(
            Recording commands, int command, HostOperation operation, DispatchObserver observer, int index) {
        long begin = observer.now();
        Outcome outcome = Outcome.FAILED;
        try {
            IreeException stopped = run(commands, command, operation);
            outcome = stopped == null ? Outcome.ENDED : Outcome.STOPPED;
            return stopped;
        } finally {
            int workers = region.start[command + 1] > region.start[command] ? 1 : 0;
            observer.dispatched(operation, index, region.dispatch(command, begin, observer.now(), workers, outcome));
        }
    }

    /** Runs a command; returns the reason for stopping before its end, null at its end. */
    private @Nullable IreeException run(Recording commands, int command, HostOperation operation) {
        int end = region.start[command + 1];
        int nanos = region.nanos[command];
        int step = nanos == 0 ? UNTIMED_TILES : Math.max(1, LOOK_NANOS / nanos);
        for (int tile = region.start[command]; tile < end; ) {
            IreeException failure = operation.stopped();
            if (failure != null) {
                return failure;
            }
            if (pins.isUnwanted()) { // this thread may be the call's thread, and nobody else withdraws the operation
                return IreeException.of(StatusCode.CANCELLED, operation.name() + " was abandoned with its call");
            }
            int next = end - tile <= step ? end : tile + step;
            worker.enter(commands, pins, region, command);
            worker.run(region.unit(command, tile), region.unit(command, next));
            tile = next;
        }
        return null;
    }
}
