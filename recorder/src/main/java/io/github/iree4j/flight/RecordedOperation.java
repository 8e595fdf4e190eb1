package io.github.iree4j.flight;

import io.github.iree4j.flight.FlightEvent.Decision;
import io.github.iree4j.flight.FlightEvent.Point;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Everything that was recorded of one operation. Times are nanoseconds since the recorder was opened; those of what did not happen, or was
 * not recorded, are {@link #NEVER}. Immutable once its recording has been read.
 */
public final class RecordedOperation {
    /** The time of what did not happen. */
    public static final long NEVER = Long.MAX_VALUE;

    final FlightEvent.Submitted submitted;
    final List<FlightEvent.Decided> decided = new ArrayList<>();
    final List<FlightEvent.WaitOver> waitsOver = new ArrayList<>(); // of those that held it back, as they ended
    FlightEvent.@Nullable Held held;
    FlightEvent.@Nullable Issued issued;
    FlightEvent.@Nullable Completed completed;
    FlightEvent.@Nullable Over over;
    FlightEvent.@Nullable Reserved reserved; // of an allocation
    long began = NEVER;

    RecordedOperation(FlightEvent.Submitted submitted) {
        this.submitted = submitted;
    }

    /**
     * Returns its number.
     *
     * @return the number, unique in its process
     */
    public long number() {
        return submitted.operation();
    }

    /**
     * Returns its queue.
     *
     * @return the axis
     */
    public long axis() {
        return submitted.axis();
    }

    /**
     * Returns what it does.
     *
     * @return for example {@code fill}
     */
    public String name() {
        return submitted.name();
    }

    /**
     * Returns the function of the call that submitted it.
     *
     * @return the name; empty for none
     */
    public String function() {
        return submitted.function();
    }

    /**
     * Returns the call that submitted it.
     *
     * @return its number; 0 for none
     */
    public long call() {
        return submitted.call();
    }

    /**
     * Returns what it waits for.
     *
     * @return the points
     */
    public List<Point> waits() {
        return submitted.waits();
    }

    /**
     * Returns what it signals.
     *
     * @return the points; none for a deferred host call, which the host ends: its points count as signals of the host
     */
    public List<Point> signals() {
        return isEndedByHost() ? List.of() : submitted.signals();
    }

    boolean isEndedByHost() {
        return submitted.name().equals(QueueOperation.DEFERRED_HOST_CALL);
    }

    /**
     * Returns the decisions about its waits when it was submitted: those that the queue counts.
     *
     * @return in the order of the waits; empty when none were recorded
     */
    public List<Decision> decisions() {
        return decided.isEmpty() ? List.of() : decided.getFirst().decisions();
    }

    /**
     * Returns the decisions by which it was issued, after it was held back if it was.
     *
     * @return in the order of the waits; empty when none were recorded
     */
    public List<Decision> lastDecisions() {
        return decided.isEmpty() ? List.of() : decided.getLast().decisions();
    }

    /** The end of a wait that held it back, the last before it was decided again; null when there was none, or it is not recorded. */
    FlightEvent.@Nullable WaitOver waitOver(int index, FlightEvent.Decided resumed) {
        FlightEvent.WaitOver last = null;
        for (FlightEvent.WaitOver each : waitsOver) {
            last = each.index() == index && each.sequence() < resumed.sequence() ? each : last;
        }
        return last;
    }

    /**
     * Returns its frontier.
     *
     * @return the frontier; empty when it did not run, or was not issued yet
     */
    public RecordedFrontier frontier() {
        if (over != null && !over.frontier().entries().isEmpty()) {
            return over.frontier();
        }
        return issued == null ? RecordedFrontier.EMPTY : issued.frontier();
    }

    /**
     * Returns its position on its axis.
     *
     * @return the epoch; 0 when it has none
     */
    public long epoch() {
        return frontier().epochOf(axis());
    }

    /**
     * Returns the memory that it allocates.
     *
     * @return the reservation; null when it allocates none, or none was recorded
     */
    public FlightEvent.@Nullable Reserved reserved() {
        return reserved;
    }

    /**
     * Returns when it was submitted.
     *
     * @return the time
     */
    public long submittedAt() {
        return submitted.time();
    }

    /**
     * Returns when it was given its place on its stream, or its turn.
     *
     * @return the time
     */
    public long issuedAt() {
        return issued == null ? NEVER : issued.time();
    }

    /**
     * Returns when the hardware began it, as far as the backend knows.
     *
     * @return the time
     */
    public long beganAt() {
        return began;
    }

    /**
     * Returns when the host learnt that it had run.
     *
     * @return the time
     */
    public long completedAt() {
        return completed == null ? NEVER : completed.time();
    }

    /**
     * Returns when it had signalled.
     *
     * @return the time
     */
    public long overAt() {
        return over == null ? NEVER : over.time();
    }

    /**
     * Returns whether it ran, with success or not.
     *
     * @return true when the host learnt of its end
     */
    public boolean hasRun() {
        return completed != null && issued != null;
    }

    /**
     * Returns its status.
     *
     * @return OK on success, and while it has not ended
     */
    public StatusCode status() {
        return over == null ? StatusCode.OK : over.status();
    }

    /**
     * Returns why it failed.
     *
     * @return the message; empty on success
     */
    public String failure() {
        return over == null ? "" : over.message();
    }

    @Override
    public String toString() {
        return "#%d %s".formatted(number(), name());
    }
}
