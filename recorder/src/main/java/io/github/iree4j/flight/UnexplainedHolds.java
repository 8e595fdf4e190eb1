package io.github.iree4j.flight;

import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** Finds open operations with more awaited points than a record has, where no recorded point holds the operation back. */
final class UnexplainedHolds {
    private UnexplainedHolds() {}

    /** Returns a problem for each operation. */
    static Stream<RecordedProblem> find(OperationGraph graph, Explanation explanation) {
        return explanation.open().stream()
                .filter(explanation.states()::isHeldBackUnexplained)
                .map(each -> problem(explanation, each));
    }

    private static RecordedProblem problem(Explanation explanation, RecordedOperation operation) {
        OperationStates states = explanation.states();
        String points = RecordedCalls.count(operation.moreWaits(), "awaited point");
        return new RecordedProblem(
                RecordedProblem.UNKNOWN,
                "not known what holds %s back: %s %s not recorded"
                        .formatted(operation, points, operation.moreWaits() == 1 ? "is" : "are"),
                states.waited(operation),
                RecordedProblem.calls(LongStream.of(operation.call())),
                List.of(),
                List.of("%s, has waited %s".formatted(explanation.title(operation), states.waiting(operation))),
                "wait for fewer points at once, at most %d of which are recorded"
                        .formatted(RecordingObserver.MAXIMUM_POINTS));
    }
}
