package io.github.iree4j.flight;

import io.github.iree4j.flight.FlightEvent.Decision;
import io.github.iree4j.flight.FlightEvent.Point;
import io.github.iree4j.hal.schedule.WaitDecision;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The known states of failed and open operations, and of their waits. Immutable. */
final class OperationStates {
    private final OperationGraph graph;
    private final OpenCalls calls;

    OperationStates(OperationGraph graph, OpenCalls calls) {
        this.graph = graph;
        this.calls = calls;
    }

    /** Returns the failed operations, in the order of submission. */
    List<RecordedOperation> failed() {
        return graph.operations().stream()
                .filter(each -> each.status() != StatusCode.OK)
                .toList();
    }

    /** Returns how an operation failed, or the state of an operation not known to have ended; empty after success. */
    String remark(RecordedOperation operation) {
        if (operation.status() != StatusCode.OK) {
            return "failed with %s: %s".formatted(operation.status(), operation.failure());
        }
        return switch (graph.hasEnded(operation)) {
            case YES -> "";
            case NO -> unended(operation);
            case UNKNOWN ->
                graph.hasRunUnlisted(operation)
                        ? "run, ended well or not: the record is missing"
                        : "ended or not: the records are missing";
        };
    }

    private String unended(RecordedOperation operation) {
        if (operation.issuedAt() != RecordedOperation.NEVER) {
            return operation.isEndedByHost() ? "not completed by the host" : "issued, not complete";
        }
        return switch (isHeldForMemory(operation)) {
            case YES -> "held back for memory";
            case NO -> "held back";
            case UNKNOWN -> "not ended";
        };
    }

    /**
     * Returns whether an operation waits for memory, or failed while waiting for memory; UNKNOWN where a record of the
     * hold, or of the issue afterwards, may be missing.
     */
    Known isHeldForMemory(RecordedOperation operation) {
        if (operation.issued != null) {
            return Known.NO;
        }
        if (operation.held == null) {
            return mayLackRecords(operation) ? Known.UNKNOWN : Known.NO;
        }
        return graph.isCompleteFrom(operation.held) || !mayLackRecords(operation) ? Known.YES : Known.UNKNOWN;
    }

    /** Whether records of the operation's progress may be missing. */
    boolean mayLackRecords(RecordedOperation operation) {
        return !graph.isWhole(operation);
    }

    /**
     * Returns whether a wait has ended with the awaited value; UNKNOWN where the records are missing. A failure does
     * not show the end of a wait.
     */
    Known isEndedWait(RecordedOperation operation, int index) {
        List<Decision> decisions = operation.lastDecisions();
        Known listed = isReachedAsListed(operation, index);
        if (listed == Known.YES
                || operation.issuedAt() != RecordedOperation.NEVER
                || hasEndedWell(operation)
                || index < decisions.size() && decisions.get(index).decision() == WaitDecision.REACHED
                || operation.waitsOver.stream().anyMatch(each -> each.index() == index)) {
            return Known.YES;
        }
        boolean isListedOpen = listed == Known.NO && graph.hasEnded(operation) == Known.NO;
        return isListedOpen || !mayLackRecords(operation) ? Known.NO : Known.UNKNOWN;
    }

    /** Returns whether a value was reached when the waiter was listed as open; UNKNOWN for a waiter not listed. */
    Known isReachedAsListed(RecordedOperation operation, int index) {
        return index < operation.reached.size() ? operation.reached.get(index) : Known.UNKNOWN;
    }

    /** Whether an operation under way may wait for a timeline, but is not known to. */
    boolean isWaitingUnknown(RecordedOperation operation) {
        return (mayLackRecords(operation) || operation.moreWaits() > 0)
                && IntStream.range(0, operation.waits().size())
                        .noneMatch(each -> isEndedWait(operation, each) == Known.NO);
    }

    /**
     * Returns the operation ending a wait by a signal, now or later; null for the host, and for an unrecorded
     * operation.
     */
    @Nullable
    RecordedOperation producer(RecordedOperation operation, int index) {
        return isReachedByOther(operation, index) ? null : graph.producer(operation, index);
    }

    /**
     * Whether an awaited value was reached by a signal other than the producer's: the producer has not ended, or has
     * failed.
     */
    private boolean isReachedByOther(RecordedOperation operation, int index) {
        RecordedOperation found = graph.producer(operation, index);
        boolean isReached = isReachedAsListed(operation, index) == Known.YES
                || hasEndedWell(operation)
                || found != null && isOverBeforeSignal(operation, index, found);
        return found != null
                && isReached
                && (graph.hasEnded(found) == Known.NO
                        || graph.hasEnded(found) == Known.YES && found.status() != StatusCode.OK);
    }

    /** Whether a wait is known to have ended while the producer had promised and signalled nothing. */
    private boolean isOverBeforeSignal(RecordedOperation operation, int index, RecordedOperation producer) {
        FlightEvent signal = graph.promise(producer);
        return operation.waitsOver.stream()
                .anyMatch(each -> each.index() == index
                        && (signal == null ? graph.isWhole(producer) : signal.sequence() > each.sequence()));
    }

    /** Whether an operation is known to have ended without a failure, and so with all of its waits. */
    boolean hasEndedWell(RecordedOperation operation) {
        return graph.hasEnded(operation) == Known.YES && operation.status() == StatusCode.OK;
    }

    /** Whether an unknown signal reached an awaited value: of the host, or of a recorded operation. */
    boolean isSignallerUnknown(RecordedOperation operation, int index) {
        return isReachedByOther(operation, index)
                && graph.isPassed(operation.waits().get(index));
    }

    /** Returns the points known to hold an operation back. */
    List<Point> awaited(RecordedOperation operation) {
        return IntStream.range(0, operation.waits().size())
                .filter(each -> isEndedWait(operation, each) == Known.NO)
                .mapToObj(operation.waits()::get)
                .toList();
    }

    /** Whether a recorded wait does not hold an operation back, nor is memory known to, and further waits are not recorded. */
    boolean isHeldBackUnexplained(RecordedOperation operation) {
        return operation.moreWaits() > 0
                && operation.issuedAt() == RecordedOperation.NEVER
                && isHeldForMemory(operation) != Known.YES
                && awaited(operation).isEmpty();
    }

    /** Returns the producer's part in the end of a wait, in words before the producer. */
    String signals(RecordedOperation operation, int index, RecordedOperation producer) {
        Point awaited = operation.waits().get(index);
        if (producer.refusals().stream().anyMatch(each -> each.point().timeline() == awaited.timeline())) {
            return "promised"; // the promise decided the wait
        }
        if (producer.status() != StatusCode.OK) {
            return operation.isOverBefore(producer) ? "to have been signalled" : "failed";
        }
        return switch (graph.hasEnded(producer)) {
            case YES -> "signalled";
            case NO -> "to be signalled";
            case UNKNOWN -> "signalled or to be signalled";
        };
    }

    /** Says which signal a timeline refused, and why. */
    String refusal(FlightEvent.Refusal refusal) {
        return "the signal of %s was refused: the timeline had %s"
                .formatted(
                        calls.describe(refusal.point()),
                        refusal.reached() < refusal.point().value() ? "failed" : "reached " + refusal.reached());
    }

    /** Returns when an operation was submitted, as the end of a sentence. */
    String submission(RecordedOperation operation) {
        return switch (operation.before) {
            case NO -> "at " + Explanation.duration(operation.submittedAt());
            case YES -> "before the recording began";
            case UNKNOWN -> "at a time that is not recorded";
        };
    }

    /** Returns a bound on the time waited by an operation: the age of the call, for an unknown time of submission. */
    long waited(RecordedOperation operation) {
        long ofCall = operation.before == Known.UNKNOWN ? calls.age(operation.call()) : 0;
        return Math.max(ofCall, Math.max(0, graph.takenAt() - operation.submittedAt()));
    }

    /** Returns how long an operation has waited, in words after "has waited". */
    String waiting(RecordedOperation operation) {
        String waited = Explanation.duration(waited(operation));
        return switch (operation.before) {
            case NO -> waited;
            case YES -> "at least " + waited;
            case UNKNOWN -> calls.contains(operation.call()) ? "at most " + waited : "an unknown time";
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
