package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;

/** A point of a timeline not signalled by any queue of the device, watched by the {@link CompletionWaiter}. */
interface WatchedPoint {
    DriverTimeline timeline();

    long value();

    /** Reports that the timeline is at or beyond the value. */
    default void reached(long now) {
        end(null);
    }

    /** Ends the watch: the value is reached, will not be reached, or is no longer watched. Repeatable. */
    void end(@Nullable IreeException failure);

    /**
     * Reports that the device is abandoned: the hardware may still reach the value. Returns whether to continue
     * watching.
     */
    default boolean abandon(IreeException cause) {
        end(cause);
        return false;
    }
}
