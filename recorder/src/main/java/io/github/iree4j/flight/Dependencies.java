package io.github.iree4j.flight;

import io.github.iree4j.flight.Dependency.Kind;
import io.github.iree4j.flight.FlightEvent.Decision;
import io.github.iree4j.flight.FlightEvent.Point;
import io.github.iree4j.flight.RecordedFrontier.Entry;
import io.github.iree4j.hal.schedule.WaitDecision;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The conditions for the begin of each operation of a recording: the submission, the waits, the previous operation on the
 * stream, and memory. Immutable.
 */
final class Dependencies {
    private final OperationGraph graph;
    private final Map<Entry, Long> missingEnds;
    private final Map<RecordedOperation, List<Dependency>> found = new HashMap<>();

    /**
     * Finds the conditions.
     *
     * @param graph the operations, with known ends
     * @param issued the operations with a place on a queue
     * @param missingEnds the ends of operations without a recorded submission
     */
    Dependencies(OperationGraph graph, List<RecordedOperation> issued, Map<Entry, Long> missingEnds) {
        this.graph = graph;
        this.missingEnds = missingEnds;
        issued.forEach(each -> found.put(each, find(each)));
    }

    /** Returns the conditions for the begin of an operation, the submission first; none for an operation not issued. */
    List<Dependency> of(RecordedOperation operation) {
        return found.getOrDefault(operation, List.of());
    }

    /** Returns the condition fulfilled last, as {@link OperationGraph#decisive}. */
    @Nullable
    Dependency decisive(RecordedOperation operation) {
        Dependency last = null;
        for (Dependency each : of(operation)) {
            boolean isLater = last == null
                    || each.available() > last.available()
                    || each.available() == last.available() && each.missing() && !last.missing();
            last = isLater ? each : last;
        }
        return last;
    }

    private List<Dependency> find(RecordedOperation operation) {
        List<Dependency> all = new ArrayList<>();
        long end = graph.end(operation);
        all.add(new Dependency(Kind.SUBMISSION, null, Math.min(operation.submittedAt(), end), null, 0, false));
        for (int i = 0; i < operation.waits().size(); i++) {
            RecordedOperation producer = graph.producer(operation, i);
            Point point = operation.waits().get(i);
            if (producer != null && OperationGraph.issueNumber(producer) < OperationGraph.issueNumber(operation)) {
                all.add(new Dependency(Kind.WAIT, producer, graph.end(producer), point, 0, false));
            } else if (producer == null) {
                addUnrecordedWait(operation, i, all);
            }
        }
        addPrevious(operation, all);
        addMemory(operation, end, all);
        return List.copyOf(all);
    }

    /**
     * Adds a wait ended by the host, or by an operation with missing records; the operation's end may have a record.
     */
    private void addUnrecordedWait(RecordedOperation operation, int index, List<Dependency> all) {
        boolean missing = graph.isProducerMissing(operation, index);
        Decision decision = missing ? operation.lastDecisions().get(index) : null;
        Long ended = decision == null ? null : missingEnds.get(OperationGraph.entry(decision));
        long available;
        if (ended != null) {
            available = ended;
        } else if (isDeferred(operation, index)) {
            FlightEvent.Decided resumed = operation.decided.getLast();
            FlightEvent.WaitOver over = operation.waitOver(index, resumed);
            available = over == null ? resumed.time() : over.time();
        } else if (decision != null && decision.decision() == WaitDecision.DEVICE_WAIT) {
            available = beginOrSubmission(operation);
        } else {
            return; // before the submission, or behind something else
        }
        if (decision != null && decision.decision() != WaitDecision.DEVICE_WAIT) {
            available = Math.min(available, operation.beganAt());
        }
        Point point = operation.waits().get(index);
        all.add(new Dependency(Kind.WAIT, null, Math.min(available, graph.end(operation)), point, 0, missing));
    }

    /** Adds the operation at the previous epoch of the same stream, also with missing records. */
    private void addPrevious(RecordedOperation operation, List<Dependency> all) {
        Entry before = OperationGraph.before(new Entry(operation.axis(), operation.epoch()));
        if (!graph.isStream(operation.axis()) || before.epoch() < 1) {
            return;
        }
        RecordedOperation previous = graph.at(before.axis(), before.epoch());
        Long ended = missingEnds.get(before);
        if (previous != null) {
            all.add(new Dependency(Kind.QUEUE, previous, graph.end(previous), null, 0, false));
        } else if (ended != null
                || !graph.isWhole(operation)) { // else over before the submission: a later end has a record
            long available = ended == null ? beginOrSubmission(operation) : ended;
            all.add(new Dependency(Kind.QUEUE, null, Math.min(available, graph.end(operation)), null, 0, true));
        }
    }

    private static long beginOrSubmission(RecordedOperation operation) {
        return operation.beganAt() == RecordedOperation.NEVER ? operation.submittedAt() : operation.beganAt();
    }

    private static boolean isDeferred(RecordedOperation operation, int index) {
        return operation.decided.size() > 1
                && operation.decisions().get(index).decision().compareTo(WaitDecision.DEVICE_WAIT) > 0;
    }

    private void addMemory(RecordedOperation operation, long end, List<Dependency> all) {
        FlightEvent.Reserved reserved = operation.reserved;
        if (reserved == null) {
            return;
        }
        FlightEvent.Released before = graph.memory().earlierUse(reserved.reservation());
        long used = before == null ? 0 : before.reservation();
        for (Entry mark : reserved.marks()) {
            RecordedOperation producer = graph.at(mark.axis(), mark.epoch());
            Long ended = missingEnds.get(mark);
            if (producer != null && OperationGraph.issueNumber(producer) < OperationGraph.issueNumber(operation)) {
                all.add(new Dependency(Kind.MEMORY, producer, Math.min(graph.end(producer), end), null, used, false));
            } else if (producer == null && ended != null) {
                all.add(new Dependency(Kind.MEMORY, null, Math.min(ended, end), null, used, true));
            }
        }
        if (operation.held != null) { // until memory was released, or the users had completed
            RecordedOperation producer = reserved.death().producer() == 0
                    ? graph.memory().releaser(used)
                    : graph.at(reserved.death().producer(), reserved.death().producerEpoch());
            boolean known =
                    producer != null && OperationGraph.issueNumber(producer) < OperationGraph.issueNumber(operation);
            boolean missing = graph.isMissing(
                    new Entry(reserved.death().producer(), reserved.death().producerEpoch()));
            all.add(new Dependency(
                    Kind.MEMORY, known ? producer : null, Math.min(reserved.time(), end), null, used, missing));
        }
    }
}
