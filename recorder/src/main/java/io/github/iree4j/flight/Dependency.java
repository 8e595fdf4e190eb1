package io.github.iree4j.flight;

import io.github.iree4j.flight.FlightEvent.Point;
import org.jspecify.annotations.Nullable;

/**
 * One thing that an operation could not begin before.
 *
 * @param kind what kind of thing
 * @param before the operation that had to end first; null for the host, and for what was not recorded
 * @param available when it was there, in nanoseconds since the recorder was opened
 * @param point of a wait, what was waited for; else null
 * @param memory of memory, the reservation that used the bytes before; 0 when that is not known, and else
 */
public record Dependency(
        Kind kind,
        @Nullable RecordedOperation before,
        long available,
        @Nullable Point point,
        long memory) {
    /** Kinds of dependencies. */
    public enum Kind {
        /** The host submitted the operation then. */
        SUBMISSION,
        /** A timeline reached the value waited for. */
        WAIT,
        /** The earlier operation of its stream. */
        QUEUE,
        /** The last user of its memory. */
        MEMORY
    }
}
