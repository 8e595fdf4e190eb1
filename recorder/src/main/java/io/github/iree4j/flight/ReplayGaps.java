package io.github.iree4j.flight;

import io.github.iree4j.flight.FlightEvent.Decided;
import io.github.iree4j.flight.FlightEvent.Decision;
import io.github.iree4j.flight.RecordedFrontier.Entry;
import io.github.iree4j.hal.schedule.WaitDecision;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The missing predecessors of the repeated operations of a recording: submitted before the recording begins, or in
 * another scheduling domain. In a replay the host ends waits for missing operations, on timelines used by nothing else:
 * the values reached by the recorded timelines are not known. Confined to one thread.
 */
final class ReplayGaps {
    private final OperationGraph graph;
    private final ReplayOrder order;
    private final Set<RecordedOperation> repeated;
    private final Map<Long, NavigableMap<Long, RecordedFrontier>> missing = new HashMap<>(); // by axis and epoch
    private final Set<RecordedOperation> behind = new HashSet<>();
    private final boolean lacksSome;
    // operations of streams, held back for missing operations
    private final List<RecordedOperation> heldBack = new ArrayList<>();

    ReplayGaps(OperationGraph graph, ReplayOrder order) {
        this.graph = graph;
        this.order = order;
        this.repeated = new HashSet<>(order.operations());
        for (RecordedOperation each : graph.operations()) {
            if (!repeated.contains(each)) {
                lacks(each.frontier());
            }
        }
        graph.strays().forEach(this::lacks);
        for (RecordedOperation each : repeated) {
            RecordedQueue queue = graph.queue(each.axis());
            if (queue != null && queue.stream() && each.decided.size() > 1 && hasUnknownWait(each)) {
                heldBack.add(each);
            }
        }
        this.lacksSome = !missing.isEmpty() || repeated.stream().anyMatch(this::hasUnknownWait);
        List<RecordedOperation> decided = new ArrayList<>(order.operations());
        decided.removeIf(each -> each.issued == null && each.decided.isEmpty());
        decided.sort(Comparator.comparingLong(ReplayGaps::decisionNumber));
        Map<Long, RecordedOperation> last = new HashMap<>(); // the last issued operation, by axis
        for (RecordedOperation each : decided) {
            if (isBehind(each, last.get(each.axis()))) {
                behind.add(each);
            }
            if (each.issued != null) {
                last.put(each.axis(), each);
            }
        }
    }

    /**
     * Returns the number of the issue; without an issue, the number of the first decision about the waits, made by the
     * queue's knowledge at this time.
     */
    private static long decisionNumber(RecordedOperation operation) {
        return operation.issued != null
                ? OperationGraph.issueNumber(operation)
                : operation.decided.getFirst().sequence();
    }

    private void lacks(RecordedFrontier frontier) {
        if (frontier.producer() != 0) {
            missing.computeIfAbsent(frontier.producer(), axis -> new TreeMap<>())
                    .put(frontier.producerEpoch(), frontier);
        }
    }

    /** Returns whether the frontier of an operation depends on anything missing in the recording, other than by ignored entries. */
    boolean isBehind(RecordedOperation operation) {
        return behind.contains(operation);
    }

    /** Returns whether decisions about an operation could depend on a promise missing in the recording. */
    boolean hasUnknownWait(RecordedOperation operation) {
        return operation.decided.stream()
                .flatMap(each -> each.decisions().stream())
                .anyMatch(this::isUnknown);
    }

    /** Returns whether the signaller of a wait is not repeated: a missing operation, or foreign work. */
    boolean isUnknown(Decision decision) {
        return decision.epoch() > 0
                ? repeated(decision.axis(), decision.epoch()) == null
                : decision.value() > 0
                        && (decision.decision() == WaitDecision.DEVICE_WAIT
                                || decision.decision() == WaitDecision.DEFERRED_UNREACHED);
    }

    /** Returns whether any decision about a wait was about an unrepeated signaller. */
    boolean isUnknown(RecordedOperation operation, int wait) {
        return operation.decided.stream()
                .anyMatch(each -> isUnknown(each.decisions().get(wait)));
    }

    private @Nullable RecordedOperation repeated(long axis, long epoch) {
        RecordedOperation found = graph.at(axis, epoch);
        return found != null && repeated.contains(found) ? found : null;
    }

    private boolean isBehind(RecordedOperation operation, @Nullable RecordedOperation previous) {
        if (operation.issued != null && learns(operation)) {
            return true;
        }
        RecordedQueue queue = graph.queue(operation.axis());
        if (queue == null || !queue.stream()) {
            return false;
        }
        for (RecordedOperation each : heldBack) { // the exact place of the resumed operation among others is not known
            if (each.axis() == operation.axis()
                    && each.submitted.sequence() < OperationGraph.issueNumber(operation)
                    && OperationGraph.issueNumber(operation) <= OperationGraph.issueNumber(each)) {
                return true;
            }
        }
        if (previous != null && behind.contains(previous)) { // a stream inherits the knowledge of its operations
            return true;
        }
        long from = previous == null ? 0 : previous.epoch();
        long to = operation.issued == null ? Long.MAX_VALUE : operation.epoch();
        return missing
                .getOrDefault(operation.axis(), new TreeMap<>())
                .subMap(from, true, Math.max(from, to), false) // less in an altered file
                .values()
                .stream()
                .anyMatch(frontier -> carriesOthers(frontier, operation.axis()));
    }

    /** Returns whether an operation knows, by waits or memory, entries unknown in a replay. */
    private boolean learns(RecordedOperation operation) {
        if (operation.frontier().tainted() && lacksSome) { // the evicted entries are not known
            return true;
        }
        for (Decided decided : operation.decided) {
            for (Decision each : decided.decisions()) {
                if (each.epoch() > 0 && carries(each.axis(), each.epoch())) {
                    return true;
                }
            }
        }
        FlightEvent.Reserved memory = operation.reserved;
        return memory != null && memory.marks().stream().anyMatch(mark -> carries(mark.axis(), mark.epoch()));
    }

    /**
     * Returns whether an operation passes on knowledge missing in a replay: entries of repeated operations, absent from
     * the frontier there.
     */
    private boolean carries(long axis, long epoch) {
        RecordedOperation known = repeated(axis, epoch);
        if (known != null) {
            return behind.contains(known);
        }
        RecordedFrontier frontier = missing.getOrDefault(axis, new TreeMap<>()).get(epoch);
        return graph.queue(axis) == null
                || order.rank(axis, epoch) > 0
                || frontier != null && carriesOthers(frontier, axis);
    }

    private boolean carriesOthers(RecordedFrontier frontier, long axis) {
        for (Entry each : frontier.entries()) {
            if (each.axis() != axis && order.rank(each.axis(), each.epoch()) > 0) {
                return true;
            }
        }
        return false;
    }
}
