package io.github.iree4j.hal.local;

import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.hal.schedule.DispatchingOperation;
import org.jspecify.annotations.Nullable;

/** An operation running regions of a recording: on a single thread, or on several through a {@link BlockProcessor}. */
abstract class CommandOperation extends HostOperation implements DispatchingOperation {
    private final CallerRunners callerRunners;
    private @Nullable DurationEstimate estimate;

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
        return estimate().nanos();
    }

    /** Returns the time by which all workers would end the operation earlier than a single thread, as {@link DurationEstimate#gain}. */
    long gainOfSharing() {
        return estimate().gain();
    }

    private DurationEstimate estimate() {
        DurationEstimate made = estimate;
        if (made == null) {
            made = new DurationEstimate(
                    recording(), firstRegion(), endRegion(), bindings(), callerRunners.maxConcurrency());
            estimate = made;
        }
        return made;
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
        DurationEstimate expected = estimate;
        long started = System.nanoTime(); // most short dispatches are not timed
        try {
            runner.run(recording(), firstRegion(), endRegion(), bindings(), this);
        } finally {
            if (expected != null && LocalExecutable.isSurprise(expected.nanos(), System.nanoTime() - started)) {
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
