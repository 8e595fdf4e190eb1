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
 * What a recording lacks that repeated operations depend on: operations that were submitted before it begins, or in another scheduling domain.
 * In a replay the host ends waits for them, on timelines that nothing else uses: what the recorded ones had reached is not known. Confined to one thread.
 */
final class ReplayGaps {
    private final OperationGraph graph;
    private final ReplayOrder order;
    private final Set<RecordedOperation> repeated;
    private final Map<Long, NavigableMap<Long, RecordedFrontier>> missing = new HashMap<>(); // by axis and epoch
    private final Set<RecordedOperation> behind = new HashSet<>();
    private final boolean lacksSome;
    private final List<RecordedOperation> heldBack = new ArrayList<>(); // for what is missing: of a stream

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
        Map<Long, RecordedOperation> last = new HashMap<>(); // that was issued, by axis
        for (RecordedOperation each : decided) {
            if (isBehind(each, last.get(each.axis()))) {
                behind.add(each);
            }
            if (each.issued != null) {
                last.put(each.axis(), each);
            }
        }
    }

    /** When it was issued; else when its waits were decided, by what the queue knew then. */
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

    /** Whether the frontier of an operation depends on something that the recording lacks, other than by entries that are ignored. */
    boolean isBehind(RecordedOperation operation) {
        return behind.contains(operation);
    }

    /** Whether decisions about an operation could depend on a promise that the recording lacks. */
    boolean hasUnknownWait(RecordedOperation operation) {
        return operation.decided.stream()
                .flatMap(each -> each.decisions().stream())
                .anyMatch(this::isUnknown);
    }

    /** Whether what signals a wait is not repeated: an operation that the recording lacks, or foreign work. */
    boolean isUnknown(Decision decision) {
        return decision.epoch() > 0
                ? repeated(decision.axis(), decision.epoch()) == null
                : decision.value() > 0
                        && (decision.decision() == WaitDecision.DEVICE_WAIT
                                || decision.decision() == WaitDecision.DEFERRED_UNREACHED);
    }

    /** Whether a wait was decided at least once about what is not repeated. */
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
        for (RecordedOperation each : heldBack) { // when just it took its place among others is not known
            if (each.axis() == operation.axis()
                    && each.submitted.sequence() < OperationGraph.issueNumber(operation)
                    && OperationGraph.issueNumber(operation) <= OperationGraph.issueNumber(each)) {
                return true;
            }
        }
        if (previous != null && behind.contains(previous)) { // a stream knows what its operations knew
            return true;
        }
        long from = previous == null ? 0 : previous.epoch();
        long to = operation.issued == null ? Long.MAX_VALUE : operation.epoch();
        return missing
                .getOrDefault(operation.axis(), new TreeMap<>())
                .subMap(from, true, Math.max(from, to), false) // less in a file that was altered
                .values()
                .stream()
                .anyMatch(frontier -> carriesOthers(frontier, operation.axis()));
    }

    /** Whether it knows, by what it waited for or its memory, what a replay does not. */
    private boolean learns(RecordedOperation operation) {
        if (operation.frontier().tainted() && lacksSome) { // entries that were evicted for others are not known
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

    /** Whether an operation passes on what a replay does not: entries of repeated operations that it does not have there. */
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
