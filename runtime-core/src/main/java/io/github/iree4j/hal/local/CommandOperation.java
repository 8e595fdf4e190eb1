package io.github.iree4j.hal.local;

import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.hal.schedule.DispatchingOperation;
import org.jspecify.annotations.Nullable;

/** An operation running regions of a recording: on a single thread, or on several through a {@link BlockProcessor}. */
abstract class CommandOperation extends HostOperation implements DispatchingOperation {
    private static final long NONE = -1;

    private final CallerRunners callerRunners;
    // The estimate, confined to the thread owning the operation.
    private long nanos = NONE; // on a single thread; UNKNOWN if any part is unknown, or for long work
    private long gain; // nanoseconds by which all workers together end earlier; may be negative

    CommandOperation(String name, CallerRunners callerRunners) {
        super(name);
        this.callerRunners = callerRunners;
    }

    /** Returns the recording to run. Valid while the operation is retained. */
    abstract Recording recording();

    /** Returns the first region to run. */
    int firstRegion() {
        return 0;
    }

    /** Returns the region after the last region to run. */
    int endRegion() {
        return recording().regionCount();
    }

    /** Returns the contents of the slots. */
    abstract @Nullable BindingTable bindings();

    /** Returns whether the operation is a single dispatch, submitted without a command buffer. */
    boolean isSingleDispatch() {
        return false;
    }

    @Override
    public boolean hasDispatches() {
        return recording().dispatches();
    }

    @Override
    public boolean timesDispatches() {
        return true;
    }

    @Override
    public void forEachDispatch(Visitor visitor) {
        recording().forEachDispatch(firstRegion(), endRegion(), visitor);
    }

    @Override
    long nanos() {
        if (nanos == NONE) {
            estimate(recording(), bindings());
        }
        return nanos;
    }

    /** Returns whether waking workers would end the operation earlier. */
    boolean isWorthSharing(long wakeNanos) {
        return nanos() == UNKNOWN || gain > wakeNanos;
    }

    private void estimate(Recording recording, @Nullable BindingTable table) {
        nanos = UNKNOWN;
        long alone = 0;
        long together = 0;
        int[] commands = recording.commands();
        for (int i = firstRegion(), end = endRegion(); i < end; i++) {
            long sum = 0;
            long undivided = 0; // the longest indivisible part of the region
            for (int j = recording.firstCommand(i); j < recording.firstCommand(i + 1); j++) {
                long one = DurationEstimate.nanos(recording, commands[j], table);
                if (one >= DurationEstimate.LONG_NANOS) {
                    return;
                }
                sum += one;
                undivided = Math.max(undivided, one / DurationEstimate.parts(recording, commands[j], table));
            }
            alone += sum;
            together += Math.min(
                    sum, Math.max(undivided, sum / callerRunners.maxConcurrency()) + DurationEstimate.MEETING_NANOS);
            if (alone >= DurationEstimate.LONG_NANOS) {
                return;
            }
        }
        nanos = alone;
        gain = alone - together;
    }

    @Override
    void run() {
        CommandRunner runner = callerRunners.acquire();
        try {
            run(runner);
        } finally {
            callerRunners.release(runner);
        }
    }

    @Override
    void run(CommandRunner runner) {
        long expected = nanos;
        long started = System.nanoTime(); // most short dispatches are not timed
        try {
            runner.run(recording(), firstRegion(), endRegion(), bindings(), this);
        } finally {
            if (expected != NONE && LocalExecutable.isSurprise(expected, System.nanoTime() - started)) {
                doubt(recording());
            }
        }
    }

    /** Makes the durations of all executed exports unknown: any of them may have caused the delay. */
    private void doubt(Recording recording) {
        for (int i = recording.firstCommand(firstRegion()); i < recording.firstCommand(endRegion()); i++) {
            int at = recording.commands()[i];
            if (recording.opcode(at) == Recording.DISPATCH) {
                LocalExecutable.of(recording, at).doubt(recording.export(at));
            }
        }
    }
}
