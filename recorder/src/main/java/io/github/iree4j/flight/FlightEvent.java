package io.github.iree4j.flight;

import io.github.iree4j.hal.schedule.DispatchObserver;
import io.github.iree4j.hal.schedule.WaitDecision;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A record of a recording. Times are nanoseconds since the recorder was opened; numbers are of this recording's process. */
public sealed interface FlightEvent {
    /**
     * Returns the record's position in the order of recording.
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
     * The submission of an operation.
     *
     * @param operation its number
     * @param axis its queue
     * @param name the kind of operation, for example {@code fill}
     * @param call the number of the submitting call; 0 for none
     * @param callBefore whether this call was made before the recording began; {@link Known#UNKNOWN} in files up to
     *     version 5
     * @param function the function of this call; empty for none
     * @param thread the submitting thread
     * @param waits the points waited for
     * @param signals the points signalled
     */
    record Submitted(
            long sequence,
            long time,
            long operation,
            long axis,
            String name,
            long call,
            Known callBefore,
            String function,
            long thread,
            List<Point> waits,
            List<Point> signals)
            implements FlightEvent {}

    /**
     * An operation open when the recording was taken: the submission again, however long ago.
     *
     * @param submission the submission, with its time; the number is the position of this record, and the thread is not
     *     known
     * @param before whether the operation was submitted before the recording began, with 0 for the time; {@link
     *     Known#UNKNOWN} for an operation executed in parts, with the time of the recording
     * @param reached for each wait whether the timeline had reached the value when the recording was taken; {@link
     *     Known#UNKNOWN} for waits after the first 61, and in files of version 3
     */
    record Open(Submitted submission, Known before, List<Known> reached) implements FlightEvent {
        /** Copies. */
        public Open {
            reached = List.copyOf(reached);
        }

        @Override
        public long sequence() {
            return submission.sequence();
        }

        @Override
        public long time() {
            return submission.time();
        }
    }

    /**
     * A call in progress when the recording was taken, whether or not the call has submitted operations.
     *
     * @param call its number
     * @param program the program's name
     * @param function the function's full name
     * @param state the state of the call, for example {@code SUSPENDED}: a name of {@code PendingCall.State}
     * @param age nanoseconds since the call began, perhaps before the recorder was opened
     * @param waits the points awaited and not reached
     * @param signals the points signalled by the call, or by its operations; none in files up to version 5
     */
    record Call(
            long sequence,
            long time,
            long call,
            String program,
            String function,
            String state,
            long age,
            List<Point> waits,
            List<Point> signals)
            implements FlightEvent {}

    /**
     * Operations and calls open when the recording was taken, and not in the recording: there were more than a
     * recording lists.
     *
     * @param operations the number of operations
     * @param calls the number of calls
     */
    record MoreOpen(long sequence, long time, long operations, long calls) implements FlightEvent {}

    /**
     * Points of an operation, or of a call, missing in the recording: the fences have more points than a record. For
     * operations and calls open when the recording was taken.
     *
     * @param operation the operation; 0 for a call
     * @param waits the number of awaited points, reached or not
     * @param signals the number of points to be signalled
     */
    record MorePoints(long sequence, long time, long operation, long waits, long signals) implements FlightEvent {}

    /**
     * The name of a timeline awaited or signalled by an operation, or awaited by a call in progress when the recording was
     * taken.
     *
     * @param timeline its id
     * @param name the name given by the application, or the call that the timeline was made for
     */
    record NamedTimeline(long sequence, long time, long timeline, String name) implements FlightEvent {}

    /**
     * A decision about a wait, with its premise.
     *
     * @param decision the decision
     * @param value the value reached or promised, at or above the awaited value; 0 when there was none
     * @param axis the queue of the signalling operation; 0 when unknown
     * @param epoch the epoch of the signalling operation; 0 when unknown
     */
    record Decision(WaitDecision decision, long value, long axis, long epoch) {}

    /**
     * The decisions about the waits of an operation; made again when the operation resumes.
     *
     * @param operation the operation
     * @param decisions in the order of its waits
     */
    record Decided(long sequence, long time, long operation, List<Decision> decisions) implements FlightEvent {}

    /**
     * The end of a wait holding an operation back: with a promise, or when the value was reached.
     *
     * @param operation the operation
     * @param index of the wait
     */
    record WaitOver(long sequence, long time, long operation, long index) implements FlightEvent {}

    /**
     * The hold of an operation until there is memory.
     *
     * @param operation the operation
     * @param bytes the bytes requested
     */
    record Held(long sequence, long time, long operation, long bytes) implements FlightEvent {}

    /**
     * The placement of an operation on its stream, or the imminent start on an unordered queue.
     *
     * @param operation the operation; 0 for a submission before the recording began
     * @param reservation the memory allocated or released; 0 for neither
     * @param frontier the operation's frontier; empty on an unordered queue, where the operation has no frontier yet
     */
    record Issued(long sequence, long time, long operation, long reservation, RecordedFrontier frontier)
            implements FlightEvent {}

    /**
     * The begin of an operation on the hardware. Not reported by every backend.
     *
     * @param operation the operation
     */
    record Began(long sequence, long time, long operation) implements FlightEvent {}

    /**
     * The observation by the host that an operation has run.
     *
     * @param operation the operation
     */
    record Completed(long sequence, long time, long operation) implements FlightEvent {}

    /**
     * The end of an operation, after its signals were signalled or failed.
     *
     * @param operation the operation; 0 for a submission before the recording began
     * @param status OK on success
     * @param message the failure; empty on success
     * @param frontier the operation's frontier; empty when the operation did not run
     * @param refused the signals of a successful operation that the timelines refused; null in files up to version 6,
     *     where refusals are not recorded
     */
    record Over(
            long sequence,
            long time,
            long operation,
            StatusCode status,
            String message,
            RecordedFrontier frontier,
            @Nullable List<Refusal> refused)
            implements FlightEvent {
        /** Copies. */
        public Over {
            refused = refused == null ? null : List.copyOf(refused);
        }
    }

    /**
     * A signal refused by a timeline; the timeline has failed by now.
     *
     * @param point the signal
     * @param reached the last value of the timeline; below the value of the signal if the timeline had failed before
     */
    record Refusal(Point point, long reached) {}

    /** The reasons why memory could be given to a request. */
    enum Reuse {
        /** Unused before, or the users were known to be done at the release. */
        UNUSED,
        /** The last users had completed. */
        COMPLETED,
        /** The requester runs after the last users. */
        KNOWN_BEFORE,
        /** The requester's hardware waits for the last users. */
        AFTER_WAIT
    }

    /**
     * A reservation of memory.
     *
     * @param reservation its number
     * @param pool index of the pool in {@link FlightRecording#pools}
     * @param size bytes requested
     * @param length bytes taken
     * @param offset the position of the first byte in the slab
     * @param slab number of the slab
     * @param reuse the reason why the bytes could be used
     * @param persistent whether the host decides the lifetime of the bytes
     * @param consumer the consumer charged for the bytes
     * @param call the number of the call; 0 for none
     * @param function the function of this call; empty for none
     * @param death the last users of the bytes
     * @param marks the resulting waits of the requester's hardware
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
     * A release of memory.
     *
     * @param reservation its number
     * @param death the operations to complete before the memory is reused
     */
    record Released(long sequence, long time, long reservation, RecordedFrontier death) implements FlightEvent {}

    /**
     * A release of memory reserved before the recorder was opened.
     *
     * @param pool index of the pool in {@link FlightRecording#pools}
     * @param bytes the bytes released
     */
    record ReleasedUnseen(long sequence, long time, int pool, long bytes) implements FlightEvent {}

    /**
     * The memory held by a set of pools, for whatever reason, and however long ago reserved.
     *
     * @param set number of the set
     * @param taken whether this is the state when the recording was taken; otherwise when the recorder was opened, or the
     *     set was created afterwards
     * @param before records with lower numbers are in these bytes, and no others; {@link #UNKNOWN} for the state when a
     *     recording of version 6 was taken
     * @param limit the most bytes of the set
     * @param pools the bytes held of each pool with any
     * @param consumers the consumers with memory or a quota; at most 4,096, the largest
     */
    record PoolsHold(
            long sequence,
            long time,
            int set,
            boolean taken,
            long before,
            long limit,
            List<PoolBytes> pools,
            List<ConsumerBytes> consumers)
            implements FlightEvent {
        /** The number in place of an unrecorded number. */
        static final long UNKNOWN = Long.MAX_VALUE;

        /** Copies. */
        public PoolsHold {
            pools = List.copyOf(pools);
            consumers = List.copyOf(consumers);
        }

        /** Returns the bytes held of all pools. */
        long bytes() {
            return pools.stream().mapToLong(PoolBytes::bytes).sum();
        }
    }

    /**
     * The memory held of a pool.
     *
     * @param pool index of the pool in {@link FlightRecording#pools}
     * @param bytes the bytes
     */
    record PoolBytes(int pool, long bytes) {}

    /**
     * The memory held by a consumer.
     *
     * @param consumer the name; empty for memory of no program
     * @param quota the most bytes of the consumer; {@link Long#MAX_VALUE} without a quota
     * @param bytes the bytes held
     */
    record ConsumerBytes(String consumer, long quota, long bytes) {}

    /**
     * A request for memory entering the line.
     *
     * @param pool index of the pool
     * @param bytes the bytes requested
     * @param consumer the consumer charged for the bytes
     * @param call the number of the call; 0 for none
     * @param function the function of this call; empty for none
     */
    record InLine(long sequence, long time, int pool, long bytes, String consumer, long call, String function)
            implements FlightEvent {}

    /**
     * The workgroups of a dispatch.
     *
     * @param x the number along x; -1 while not known, for counts that the dispatch reads from a buffer
     * @param y the number along y, as for x
     * @param z the number along z, as for x
     */
    record Workgroups(long x, long y, long z) {
        /**
         * Returns whether the numbers are known.
         *
         * @return false for counts in a buffer not read yet
         */
        public boolean isKnown() {
            return (x | y | z) >= 0;
        }

        @Override
        public String toString() {
            return isKnown() ? x + "x" + y + "x" + z : "counts in a buffer";
        }
    }

    /**
     * A dispatch of a command buffer.
     *
     * @param export the name of the entry point
     * @param workgroups the workgroups as recorded
     */
    record Dispatch(String export, Workgroups workgroups) {}

    /**
     * The dispatches of a sampled operation, listed at the submission; an empty list for an execution without
     * dispatches.
     *
     * @param operation the operation
     * @param timed whether the backend reports when the dispatches begin and end
     * @param count the number of dispatches
     * @param dispatches the first dispatches, in the order of recording; all unless there are very many
     */
    record Dispatches(long sequence, long time, long operation, boolean timed, long count, List<Dispatch> dispatches)
            implements FlightEvent {}

    /**
     * A dispatch that has begun and is over; the time is the end.
     *
     * @param operation the operation
     * @param index the position among the listed dispatches
     * @param begin when the first workgroup began, in nanoseconds since the recorder was opened
     * @param workers the number of threads that ran workgroups
     * @param outcome how the dispatch ended
     * @param workgroups the workgroups
     */
    record Dispatched(
            long sequence,
            long time,
            long operation,
            long index,
            long begin,
            long workers,
            DispatchObserver.Outcome outcome,
            Workgroups workgroups)
            implements FlightEvent {}

    /**
     * The loss of a queue's device.
     *
     * @param axis the queue
     * @param status the cause
     * @param message the cause
     */
    record Lost(long sequence, long time, long axis, StatusCode status, String message) implements FlightEvent {}
}
