package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;

/** A point of a timeline that no queue of the device signals, watched by the {@link CompletionWaiter}. */
interface WatchedPoint {
    DriverTimeline timeline();

    long value();

    /** The timeline is at or beyond the value. */
    default void reached(long now) {
        end(null);
    }

    /** The value is reached; or it will not be, or is not watched any more. Repeatable. */
    void end(@Nullable IreeException failure);

    /** The device is abandoned: its hardware may still come to it. Returns whether to go on watching. */
    default boolean abandon(IreeException cause) {
        end(cause);
        return false;
    }
}
