package io.github.iree4j.hal.local;

import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.record.Recording;
import org.jspecify.annotations.Nullable;

/** An operation that runs regions of a recording: on one thread, or on several through a {@link BlockProcessor}. */
abstract class CommandOperation extends HostOperation {
    private final CallerRunners guests;
    private @Nullable DurationEstimate estimate;

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
        return estimate().nanos();
    }

    /** Whether it is over earlier when workers are woken for it. */
    boolean isWorthSharing(long wakeNanos) {
        return estimate().isWorthSharing(wakeNanos);
    }

    private DurationEstimate estimate() {
        DurationEstimate made = estimate;
        if (made == null) {
            made = new DurationEstimate(recording(), firstRegion(), endRegion(), bindings(), guests.maxConcurrency());
            estimate = made;
        }
        return made;
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
