package io.github.iree4j.flight;

import io.github.iree4j.flight.RecordedFrontier.Entry;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Compares frontiers of a replay with the recorded frontiers. Two frontiers are also the same if only one names an
 * operation whose end the host was just observing: a frontier leaves out ended operations, and the moment of
 * observation is shorter than the making of a record. Operations running after such an operation may inherit the
 * difference. Operations are compared in the order of issue. Confined to one thread.
 */
final class FrontierComparison {
    private final OperationGraph graph;
    private final ReplayOrder order;
    private final Map<RecordedOperation, Set<Long>> ending = new HashMap<>(); // differing axes of each operation
    private final Map<Long, RecordedOperation> last = new HashMap<>(); // by axis

    FrontierComparison(OperationGraph graph, ReplayOrder order) {
        this.graph = graph;
        this.order = order;
    }

    /** Returns whether the frontiers of the next operation are the same. */
    boolean isSame(RecordedFrontier expected, RecordedFrontier actual, RecordedOperation operation) {
        RecordedOperation previous = last.put(operation.axis(), operation);
        if (expected.tainted() != actual.tainted()) {
            return false;
        }
        if (expected.entries().equals(actual.entries())) {
            return true;
        }
        Set<Long> differing = new HashSet<>();
        List<Entry> all = Stream.concat(expected.entries().stream(), actual.entries().stream())
                .toList();
        for (Entry each : all) {
            long axis = each.axis();
            long one = expected.epochOf(axis);
            long other = actual.epochOf(axis);
            if (one != other) {
                if (axis == operation.axis() || !hadEnded(axis, Math.max(one, other), operation, previous)) {
                    return false;
                }
                differing.add(axis);
            }
        }
        ending.put(operation, differing);
        return true;
    }

    private boolean hadEnded(long axis, long epoch, RecordedOperation operation, @Nullable RecordedOperation previous) {
        RecordedOperation named = order.ranked(axis, epoch);
        FlightEvent.Completed completed = named == null ? null : named.completed;
        FlightEvent.Over over = named == null ? null : named.over;
        if (completed == null || completed.sequence() >= OperationGraph.issueNumber(operation)) {
            return false;
        }
        FlightEvent decided = operation.decided.isEmpty() ? operation.submitted : operation.decided.getLast();
        if (over == null || over.sequence() > decided.sequence() || differs(previous, axis)) {
            return true;
        }
        for (int i = 0; i < operation.waits().size(); i++) {
            if (differs(graph.producer(operation, i), axis)) {
                return true;
            }
        }
        FlightEvent.Reserved memory = operation.reserved;
        return memory != null
                && memory.marks().stream().anyMatch(mark -> differs(graph.at(mark.axis(), mark.epoch()), axis));
    }

    private boolean differs(@Nullable RecordedOperation operation, long axis) {
        return operation != null && ending.getOrDefault(operation, Set.of()).contains(axis);
    }
}
