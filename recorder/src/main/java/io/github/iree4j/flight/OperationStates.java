package io.github.iree4j.flight;

import io.github.iree4j.flight.FlightEvent.Decision;
import io.github.iree4j.hal.schedule.WaitDecision;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;

/** What is known of operations that failed or have not ended, and of their waits. Immutable. */
final class OperationStates {
    private final OperationGraph graph;
    private final OpenCalls calls;

    OperationStates(OperationGraph graph, OpenCalls calls) {
        this.graph = graph;
        this.calls = calls;
    }

    /** Returns the operations that failed, in the order of submission. */
    List<RecordedOperation> failed() {
        return graph.operations().stream()
                .filter(each -> each.status() != StatusCode.OK)
                .toList();
    }

    /** Returns how an operation failed, or its state if not known to have ended; empty for an operation that ended well. */
    String remark(RecordedOperation operation) {
        if (operation.status() != StatusCode.OK) {
            return "failed with %s: %s".formatted(operation.status(), operation.failure());
        }
        return switch (graph.hasEnded(operation)) {
            case YES -> "";
            case NO -> unended(operation);
            case UNKNOWN -> "ended or not: the records are missing";
        };
    }

    private String unended(RecordedOperation operation) {
        if (operation.issuedAt() != RecordedOperation.NEVER) {
            return operation.isEndedByHost() ? "not completed by the host" : "issued, not complete";
        }
        if (isOverwritten(operation)) {
            return "not ended";
        }
        return operation.held != null ? "held back for memory" : "held back";
    }

    /** Whether records of the operation's progress may be missing. */
    boolean isOverwritten(RecordedOperation operation) {
        return !operation.isWhole(graph.recording().header().completeFrom());
    }

    /** Whether a wait is known to have ended with the awaited value. An operation fails without, or because of, its waits. */
    boolean isEndedWait(RecordedOperation operation, int index) {
        List<Decision> decisions = operation.lastDecisions();
        return operation.issuedAt() != RecordedOperation.NEVER
                || graph.hasEnded(operation) == Known.YES && operation.status() == StatusCode.OK
                || index < decisions.size() && decisions.get(index).decision() == WaitDecision.REACHED
                || operation.waitsOver.stream().anyMatch(each -> each.index() == index);
    }

    /** Returns the points that hold an operation back, as far as is known. */
    List<OpenCalls.Awaited> awaited(RecordedOperation operation) {
        List<OpenCalls.Awaited> points = new ArrayList<>();
        for (int i = 0; i < operation.waits().size(); i++) {
            RecordedOperation producer = graph.producer(operation, i);
            if (producer == null ? !isEndedWait(operation, i) : graph.hasEnded(producer) != Known.YES) {
                points.add(
                        new OpenCalls.Awaited(calls.describe(operation.waits().get(i)), producer));
            }
        }
        return points;
    }

    /** Returns who signals a point, in a word before the operation: the producer of a wait. */
    String signals(RecordedOperation producer) {
        return producer.status() != StatusCode.OK
                ? "failed"
                : switch (graph.hasEnded(producer)) {
                    case YES -> "signalled";
                    case NO -> "to be signalled";
                    case UNKNOWN -> "signalled or to be signalled";
                };
    }

    /** Returns when an operation was submitted, as the end of a sentence. */
    String submission(RecordedOperation operation) {
        return switch (operation.before) {
            case NO -> "at " + Explanation.duration(operation.submittedAt());
            case YES -> "before the recording began";
            case UNKNOWN -> "at a time that is not recorded";
        };
    }

    /** Returns how long an operation had been under way when the recording was taken, to follow a state; empty when not known. */
    String age(RecordedOperation operation) {
        String age = Explanation.duration(Math.max(0, graph.takenAt() - operation.submittedAt()));
        return graph.hasEnded(operation) != Known.NO || operation.before == Known.UNKNOWN
                ? ""
                : operation.before == Known.YES ? ", for more than " + age : ", for " + age;
    }
}
