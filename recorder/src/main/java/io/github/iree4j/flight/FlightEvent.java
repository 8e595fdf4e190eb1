package io.github.iree4j.flight;

import io.github.iree4j.hal.schedule.WaitDecision;
import io.github.iree4j.status.StatusCode;
import java.util.List;

/** One record of a recording. Times are nanoseconds since the recorder was opened; numbers are of this recording's process. */
public sealed interface FlightEvent {
    /**
     * Returns its position in the order of recording.
     *
     * @return from 0; the numbers of dropped records are missing
     */
    long sequence();

    /**
     * Returns the time.
     *
     * @return nanoseconds since the recorder was opened
     */
    long time();

    /**
     * A point of a timeline.
     *
     * @param timeline its id
     * @param value the value
     */
    record Point(long timeline, long value) {
        @Override
        public String toString() {
            return "timeline " + timeline + " at " + value;
        }
    }

    /**
     * An operation was submitted.
     *
     * @param operation its number
     * @param axis its queue
     * @param name what it does, for example {@code fill}
     * @param call the number of the call that submitted it; 0 for none
     * @param function the function of that call; empty for none
     * @param thread the thread that submitted it
     * @param waits what it waits for
     * @param signals what it signals
     */
    record Submitted(
            long sequence,
            long time,
            long operation,
            long axis,
            String name,
            long call,
            String function,
            long thread,
            List<Point> waits,
            List<Point> signals)
            implements FlightEvent {}

    /**
     * A decision about a wait, with its premise.
     *
     * @param decision the decision
     * @param value the value that was reached or promised, at or above the one waited for; 0 when there was none
     * @param axis the queue of the operation that signals it; 0 when unknown
     * @param epoch its epoch; 0 when unknown
     */
    record Decision(WaitDecision decision, long value, long axis, long epoch) {}

    /**
     * The waits of an operation were decided; again when it resumes.
     *
     * @param operation the operation
     * @param decisions in the order of its waits
     */
    record Decided(long sequence, long time, long operation, List<Decision> decisions) implements FlightEvent {}

    /**
     * A wait that held an operation back ended: with a promise, or when its value was reached.
     *
     * @param operation the operation
     * @param index of the wait
     */
    record WaitOver(long sequence, long time, long operation, long index) implements FlightEvent {}

    /**
     * An operation is held back until there is memory.
     *
     * @param operation the operation
     * @param bytes how much it requests
     */
    record Held(long sequence, long time, long operation, long bytes) implements FlightEvent {}

    /**
     * An operation has its place on its stream, or is about to run on an unordered queue.
     *
     * @param operation the operation; 0 for one that was submitted before the recording began
     * @param reservation the memory that it allocates or releases; 0 for neither
     * @param frontier its frontier; empty on an unordered queue, where it has none yet
     */
    record Issued(long sequence, long time, long operation, long reservation, RecordedFrontier frontier)
            implements FlightEvent {}

    /**
     * The hardware began an operation. Not every backend knows.
     *
     * @param operation the operation
     */
    record Began(long sequence, long time, long operation) implements FlightEvent {}

    /**
     * The host learnt that an operation has run.
     *
     * @param operation the operation
     */
    record Completed(long sequence, long time, long operation) implements FlightEvent {}

    /**
     * An operation has ended, and has signalled or failed what it was to signal.
     *
     * @param operation the operation; 0 for one that was submitted before the recording began
     * @param status OK on success
     * @param message the failure; empty on success
     * @param frontier its frontier; empty when it did not run
     */
    record Over(long sequence, long time, long operation, StatusCode status, String message, RecordedFrontier frontier)
            implements FlightEvent {}

    /** Why memory could be given to a request. */
    enum Reuse {
        /** Nothing used it before, or its users were known to be done when they released it. */
        UNUSED,
        /** Its last users had completed. */
        COMPLETED,
        /** The requester runs after its last users. */
        KNOWN_BEFORE,
        /** The requester's hardware waits for its last users. */
        AFTER_WAIT
    }

    /**
     * Memory was reserved.
     *
     * @param reservation its number
     * @param pool index of the pool in {@link FlightRecording#pools}
     * @param size bytes requested
     * @param length bytes taken
     * @param offset where they begin in their slab
     * @param slab number of the slab
     * @param reuse why they could be used
     * @param persistent whether the host decides their lifetime
     * @param consumer what the bytes are charged to
     * @param call the number of the call; 0 for none
     * @param function the function of that call; empty for none
     * @param death what the bytes' last users were
     * @param marks what the requester's hardware waits for because of them
     */
    record Reserved(
            long sequence,
            long time,
            long reservation,
            int pool,
            long size,
            long length,
            long offset,
            int slab,
            Reuse reuse,
            boolean persistent,
            String consumer,
            long call,
            String function,
            RecordedFrontier death,
            List<RecordedFrontier.Entry> marks)
            implements FlightEvent {}

    /**
     * Memory was released.
     *
     * @param reservation its number
     * @param death what must complete before it is reused
     */
    record Released(long sequence, long time, long reservation, RecordedFrontier death) implements FlightEvent {}

    /**
     * A request for memory waits in line.
     *
     * @param pool index of the pool
     * @param bytes how much
     * @param consumer what it is charged to
     * @param call the number of the call; 0 for none
     * @param function the function of that call; empty for none
     */
    record InLine(long sequence, long time, int pool, long bytes, String consumer, long call, String function)
            implements FlightEvent {}

    /**
     * The device of a queue was lost.
     *
     * @param axis the queue
     * @param status the cause
     * @param message the cause
     */
    record Lost(long sequence, long time, long axis, StatusCode status, String message) implements FlightEvent {}
}
