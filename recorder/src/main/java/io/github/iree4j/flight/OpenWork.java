package io.github.iree4j.flight;

import io.github.iree4j.flight.FlightEvent.Point;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** An operation or a call in progress when the recording was taken. Compared by identity. Confined to one thread. */
final class OpenWork {
    private final Explanation explanation;
    private final @Nullable RecordedOperation operation; // null for a call
    private final FlightEvent.@Nullable Call inProgress; // null for an operation
    private final List<Point> waits;
    private final Map<Long, Long> highest; // awaited value, by timeline

    private OpenWork(
            Explanation explanation,
            @Nullable RecordedOperation operation,
            FlightEvent.@Nullable Call inProgress,
            List<Point> waits) {
        this.explanation = explanation;
        this.operation = operation;
        this.inProgress = inProgress;
        this.waits = waits;
        this.highest = OpenCalls.highest(waits);
    }

    static OpenWork of(Explanation explanation, RecordedOperation operation) {
        return new OpenWork(explanation, operation, null, explanation.states().awaited(operation));
    }

    static OpenWork of(Explanation explanation, FlightEvent.Call call) {
        return new OpenWork(explanation, null, call, call.waits());
    }

    /** Returns the points known to hold the work back. */
    List<Point> waits() {
        return waits;
    }

    /** Returns the points to be signalled by the work. */
    List<Point> signals() {
        return operation == null ? ofCall().signals() : operation.signals();
    }

    /** Returns the highest value of a timeline among the points holding the work back; the least number for none. */
    long awaits(long timeline) {
        return highest.getOrDefault(timeline, Long.MIN_VALUE);
    }

    boolean isCall() {
        return operation == null;
    }

    /** Returns the number of the call, or of the operation's call; 0 for none. */
    long call() {
        return operation == null ? ofCall().call() : operation.call();
    }

    String title() {
        return operation == null ? OpenCalls.title(ofCall()) : explanation.title(operation);
    }

    /** Returns how long the work has waited, in nanoseconds. */
    long age() {
        return operation == null ? ofCall().age() : explanation.states().waited(operation);
    }

    /** Names the work, and says how long the work has waited for a point. */
    String line(Point point) {
        return "%s, has waited %s for %s"
                .formatted(
                        title(),
                        operation == null
                                ? Explanation.duration(age())
                                : explanation.states().waiting(operation),
                        describe(point));
    }

    String describe(Point point) {
        return explanation.openCalls().describe(point);
    }

    private FlightEvent.Call ofCall() {
        return Objects.requireNonNull(inProgress);
    }
}
