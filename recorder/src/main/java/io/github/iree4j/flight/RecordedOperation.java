package io.github.iree4j.flight;

import io.github.iree4j.flight.FlightEvent.Decision;
import io.github.iree4j.flight.FlightEvent.Point;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Everything recorded of an operation. Times are nanoseconds since the recorder was opened; the times of events that
 * did not happen, or were not recorded, are {@link #NEVER}. Immutable once the recording has been read.
 */
public final class RecordedOperation {
    /** The time of an event without a record. */
    public static final long NEVER = Long.MAX_VALUE;

    final FlightEvent.Submitted submitted;
    final List<FlightEvent.Decided> decided = new ArrayList<>();
    // ends of the waits holding the operation back, in order
    final List<FlightEvent.WaitOver> waitsOver = new ArrayList<>();
    FlightEvent.@Nullable Held held;
    FlightEvent.@Nullable Issued issued;
    FlightEvent.@Nullable Completed completed;
    FlightEvent.@Nullable Over over;
    FlightEvent.@Nullable Reserved reserved; // of an allocation
    long began = NEVER;
    // number of the record that lists the operation as not ended when the recording was taken; -1 for none
    long openAt = -1;
    Known before = Known.NO; // whether submitted before the recording began
    List<Known> reached = List.of(); // by wait, when listed as not ended
    FlightEvent.@Nullable MorePoints more; // when listed as not ended
    private final boolean isRecorded; // whether the submission has a separate record

    /**
     * Creates an operation.
     *
     * @param isRecorded whether the submission was recorded, not only listed as open
     */
    RecordedOperation(FlightEvent.Submitted submitted, boolean isRecorded) {
        this.submitted = submitted;
        this.isRecorded = isRecorded;
    }

    boolean isRecorded() {
        return isRecorded;
    }

    /** Whether no record of the operation is missing, given the number from which records are complete. */
    boolean isWhole(long completeFrom) {
        return isRecorded && submitted.sequence() >= completeFrom;
    }

    /**
     * Returns the operation's number.
     *
     * @return the number, unique in its process
     */
    public long number() {
        return submitted.operation();
    }

    /**
     * Returns the operation's queue.
     *
     * @return the axis
     */
    public long axis() {
        return submitted.axis();
    }

    /**
     * Returns the kind of operation.
     *
     * @return for example {@code fill}
     */
    public String name() {
        return submitted.name();
    }

    /**
     * Returns the function of the submitting call.
     *
     * @return the name; empty for none
     */
    public String function() {
        return submitted.function();
    }

    /**
     * Returns the submitting call.
     *
     * @return the call's number; 0 for none
     */
    public long call() {
        return submitted.call();
    }

    /**
     * Returns the points waited for.
     *
     * @return the points
     */
    public List<Point> waits() {
        return submitted.waits();
    }

    /**
     * Returns the points signalled, without the points refused by the timelines.
     *
     * @return the points; none for a deferred host call, ended by the host: such points count as signals of the host
     */
    public List<Point> signals() {
        List<Point> attempted = attemptedSignals();
        if (refusals().isEmpty()) {
            return attempted;
        }
        Set<Point> refused = new HashSet<>(refusedSignals());
        return attempted.stream().filter(each -> !refused.contains(each)).toList();
    }

    /** Returns the points signalled by the operation itself, whether or not the timelines accept. */
    List<Point> attemptedSignals() {
        return isEndedByHost() ? List.of() : submitted.signals();
    }

    /**
     * Returns the signals refused by timelines already at the value, or failed.
     *
     * @return as far as recorded
     */
    public List<FlightEvent.Refusal> refusals() {
        return over == null || over.refused() == null ? List.of() : over.refused();
    }

    /**
     * Returns whether a timeline has accepted a signal of the operation.
     *
     * @param signal a point of {@link #submission}
     * @return NO for a refused signal, and for a failed operation; UNKNOWN before the recorded end, and in files up to
     *     version 6
     */
    public Known isAccepted(Point signal) {
        if (over == null) {
            return Known.UNKNOWN;
        }
        if (over.status() != StatusCode.OK || isRefused(signal)) {
            return Known.NO;
        }
        return over.refused() == null ? Known.UNKNOWN : Known.YES;
    }

    /** Returns the points known to have been refused. */
    List<Point> refusedSignals() {
        return refusals().stream().map(FlightEvent.Refusal::point).toList();
    }

    /** Whether a timeline is known to have refused a signal of the operation. */
    boolean isRefused(Point signal) {
        return refusals().stream().anyMatch(each -> each.point().equals(signal));
    }

    /** Returns the number of unrecorded waits. */
    long moreWaits() {
        return more == null ? 0 : more.waits();
    }

    boolean isEndedByHost() {
        return submitted.name().equals(QueueOperation.DEFERRED_HOST_CALL);
    }

    /**
     * Returns the decisions about the waits at submission, as counted by the queue.
     *
     * @return in the order of the waits; empty when none were recorded
     */
    public List<Decision> decisions() {
        return decided.isEmpty() ? List.of() : decided.getFirst().decisions();
    }

    /**
     * Returns the decisions leading to the issue, after a hold if there was a hold.
     *
     * @return in the order of the waits; empty when none were recorded
     */
    public List<Decision> lastDecisions() {
        return decided.isEmpty() ? List.of() : decided.getLast().decisions();
    }

    /**
     * Returns the end of a wait holding the operation back, the last before the next decisions; null when there was
     * none, or none was recorded.
     */
    FlightEvent.@Nullable WaitOver waitOver(int index, FlightEvent.Decided resumed) {
        FlightEvent.WaitOver last = null;
        for (FlightEvent.WaitOver each : waitsOver) {
            last = each.index() == index && each.sequence() < resumed.sequence() ? each : last;
        }
        return last;
    }

    /**
     * Returns the operation's frontier.
     *
     * @return the frontier; empty when the operation did not run, or was not issued yet
     */
    public RecordedFrontier frontier() {
        if (over != null && !over.frontier().entries().isEmpty()) {
            return over.frontier();
        }
        return issued == null ? RecordedFrontier.EMPTY : issued.frontier();
    }

    /**
     * Returns the operation's position on the axis.
     *
     * @return the epoch; 0 without a position
     */
    public long epoch() {
        return frontier().epochOf(axis());
    }

    /**
     * Returns the memory allocated by the operation.
     *
     * @return the reservation; null when the operation allocates none, or none was recorded
     */
    public FlightEvent.@Nullable Reserved reserved() {
        return reserved;
    }

    /**
     * Returns the submission.
     *
     * @return as recorded, or as listed when the recording was taken
     */
    public FlightEvent.Submitted submission() {
        return submitted;
    }

    /**
     * Returns whether the operation was submitted before the recording began.
     *
     * @return UNKNOWN where no time of submission is recorded
     */
    public Known before() {
        return before;
    }

    /**
     * Returns when the operation was submitted.
     *
     * @return the time; 0 for an operation submitted before the recording began
     */
    public long submittedAt() {
        return submitted.time();
    }

    /**
     * Returns when the operation was placed on the stream, or given its turn.
     *
     * @return the time
     */
    public long issuedAt() {
        return issued == null ? NEVER : issued.time();
    }

    /**
     * Returns when the hardware began the operation, as far as the backend knows.
     *
     * @return the time
     */
    public long beganAt() {
        return began;
    }

    /**
     * Returns when the host observed the end of the run.
     *
     * @return the time
     */
    public long completedAt() {
        return completed == null ? NEVER : completed.time();
    }

    /**
     * Returns when the operation had signalled.
     *
     * @return the time
     */
    public long overAt() {
        return over == null ? NEVER : over.time();
    }

    /** Returns the time of the operation's last record. */
    long lastRecordAt() {
        long last = Math.max(submittedAt(), began == NEVER ? 0 : began);
        for (FlightEvent each : new FlightEvent[] {held, issued, completed, over}) {
            last = each == null ? last : Math.max(last, each.time());
        }
        for (FlightEvent each : decided) {
            last = Math.max(last, each.time());
        }
        for (FlightEvent each : waitsOver) {
            last = Math.max(last, each.time());
        }
        return last;
    }

    /**
     * Returns whether the operation ran, with success or not.
     *
     * @return true when the host observed the end
     */
    public boolean hasRun() {
        return completed != null && issued != null;
    }

    /**
     * Returns the operation's status.
     *
     * @return OK on success, and before the end
     */
    public StatusCode status() {
        return over == null ? StatusCode.OK : over.status();
    }

    /**
     * Returns the cause of the failure.
     *
     * @return the message; empty on success
     */
    public String failure() {
        return over == null ? "" : over.message();
    }

    /** Returns the highest recorded value of a timeline awaited by this operation; the least number for none. */
    long awaits(long timeline) {
        long highest = Long.MIN_VALUE;
        for (FlightEvent.Point each : waits()) {
            highest = each.timeline() == timeline ? Math.max(highest, each.value()) : highest;
        }
        return highest;
    }

    /** Returns whether this operation was over before another had run, or failed for another reason. */
    boolean isOverBefore(RecordedOperation other) {
        // An operation that fails without running fails the waiting operations before its own end is recorded.
        FlightEvent end = other.completed == null ? other.over : other.completed;
        boolean isSameFailure = other.completed == null
                && status() != StatusCode.OK
                && status() == other.status()
                && failure().equals(other.failure());
        return over != null && end != null && over.sequence() < end.sequence() && !isSameFailure;
    }

    @Override
    public String toString() {
        return "#%d %s".formatted(number(), name());
    }
}
