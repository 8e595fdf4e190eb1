package io.github.iree4j.flight;

import io.github.iree4j.flight.FlightEvent.Point;
import org.jspecify.annotations.Nullable;

/**
 * A condition for the begin of an operation.
 *
 * @param kind the kind of condition
 * @param before the operation that had to end first; null for the host, and for unrecorded causes
 * @param available when the condition was met, in nanoseconds since the recorder was opened; for an operation with
 *     missing records perhaps only the begin, or the submission, of the dependent operation
 * @param point for a wait, the point waited for; else null
 * @param memory for memory, the previous reservation of the bytes; 0 if unknown, and for other kinds
 * @param missing whether an operation with missing records had to end first
 */
public record Dependency(
        Kind kind,
        @Nullable RecordedOperation before,
        long available,
        @Nullable Point point,
        long memory,
        boolean missing) {
    /** Kinds of dependencies. */
    public enum Kind {
        /** The submission of the operation by the host. */
        SUBMISSION,
        /** The value of a timeline reached, as awaited. */
        WAIT,
        /** The earlier operation of the same stream. */
        QUEUE,
        /** The last user of the memory. */
        MEMORY
    }

    /** The text in place of an operation with missing records. */
    static final String MISSING = "an operation whose records are missing";
}
