package io.github.iree4j.hal.local;

import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.record.Recording;
import org.jspecify.annotations.Nullable;

/** An operation that runs regions of a recording: on one thread, or on several through a {@link BlockProcessor}. */
abstract class CommandOperation extends HostOperation {
    private final CallerRunners guests;

    CommandOperation(String name, CallerRunners guests) {
        super(name);
        this.guests = guests;
    }

    /** The recording to run. Valid while the operation is retained. */
    abstract Recording recording();

    /** The first region to run. */
    int firstRegion() {
        return 0;
    }

    /** The region after the last to run. */
    int endRegion() {
        return recording().regionCount();
    }

    /** The contents of the slots. */
    abstract @Nullable BindingTable bindings();

    /** Whether it is one dispatch that was submitted without a command buffer. */
    boolean isSingleDispatch() {
        return false;
    }

    @Override
    long nanos() {
        return DurationEstimate.nanos(recording(), bindings());
    }

    @Override
    void run() {
        CommandRunner runner = guests.acquire();
        try {
            run(runner);
        } finally {
            guests.release(runner);
        }
    }

    @Override
    void run(CommandRunner runner) {
        runner.run(recording(), firstRegion(), endRegion(), bindings(), this);
    }
}
