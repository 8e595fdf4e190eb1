package io.github.iree4j.flight;

import io.github.iree4j.status.Known;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The chain of operations explaining the duration of a recording or of a single operation: each operation began once
 * the previous had ended.
 *
 * <p>Walked back from the end, along the dependency available last: a wait, the order of a stream, memory, or the
 * host's submission, where the path ends. Exact where spans are not, since the scheduler knows the predecessors of each
 * operation. Immutable.
 *
 * @param steps the operations, in order of execution
 */
public record CriticalPath(List<Step> steps) {
    /**
     * An operation of the path.
     *
     * @param operation the operation
     * @param after the dependency that the operation began after
     * @param begin when the dependency was available, in nanoseconds since the recorder was opened
     * @param end when the operation had ended
     */
    public record Step(RecordedOperation operation, Dependency after, long begin, long end) {}

    /** Copies. */
    public CriticalPath {
        steps = List.copyOf(steps);
    }

    /**
     * Returns the path to the end of a recording.
     *
     * @param graph the operations
     * @return the path to the operation that ended last; empty when none ended
     */
    public static CriticalPath of(OperationGraph graph) {
        return graph.operations().stream()
                .filter(operation ->
                        graph.end(operation) != RecordedOperation.NEVER && graph.hasEnded(operation) == Known.YES)
                .max(Comparator.comparingLong(graph::end))
                .map(last -> to(graph, last))
                .orElse(new CriticalPath(List.of()));
    }

    /**
     * Returns the path to the end of an operation.
     *
     * @param graph the operations
     * @param last the operation; its end must be known
     * @return the path
     */
    public static CriticalPath to(OperationGraph graph, RecordedOperation last) {
        List<Step> steps = new ArrayList<>();
        Set<Long> seen = new HashSet<>(); // in a damaged recording operations may run after one another
        RecordedOperation operation = last;
        while (operation != null && seen.add(operation.number())) {
            Dependency after = graph.decisive(operation);
            if (after == null) {
                break;
            }
            steps.add(new Step(operation, after, after.available(), graph.end(operation)));
            operation = before(graph, after);
        }
        return new CriticalPath(steps.reversed());
    }

    /** Returns the operation before, on a path, the operation with a decisive dependency; null where the path begins. */
    static @Nullable RecordedOperation before(OperationGraph graph, Dependency after) {
        RecordedOperation before = after.before(); // may give its memory before the end
        return before != null && graph.end(before) <= after.available() ? before : null;
    }

    /** Returns whether the path begins, or may begin, after an operation with missing records. */
    boolean mayBeginEarlier(OperationGraph graph) {
        FlightRecording.Header header = graph.recording().header();
        return !steps.isEmpty()
                && (steps.getFirst().after().missing()
                        || !steps.getFirst().operation().isWhole(header.completeFrom()));
    }

    /**
     * Returns the length of the path.
     *
     * @return nanoseconds from the submission of the first operation to the end of the last
     */
    public long duration() {
        return steps.isEmpty() ? 0 : steps.getLast().end() - steps.getFirst().begin();
    }
}
