package io.github.iree4j.flight;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The moments when the host learned that operations had ended: by the report about the operation, or by the report about
 * an operation running after it. Schedulers use the knowledge from the first report on, before the operation signals.
 * Confined to one thread.
 */
final class SeenEnds {
    private final Map<RecordedOperation, Long> first = new HashMap<>(); // sequence numbers of the completions

    SeenEnds(OperationGraph graph) {
        List<RecordedOperation> issued = graph.operations().stream()
                .filter(each -> each.issued != null)
                .sorted(Comparator.comparingLong(OperationGraph::issueNumber).reversed())
                .toList();
        for (RecordedOperation each : issued) { // operations running after each came first
            long own = each.completed == null ? Long.MAX_VALUE : each.completed.sequence();
            long end = first.merge(each, own, Math::min);
            graph.predecessors(each).forEach(before -> first.merge(before, end, Math::min));
        }
    }

    /** Returns whether the host may have known of the end of an operation at an event. */
    boolean isBefore(RecordedOperation operation, FlightEvent event) {
        return first.getOrDefault(operation, Long.MAX_VALUE) < event.sequence();
    }
}
