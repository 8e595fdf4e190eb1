package io.github.iree4j.flight;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The completions triggering the signals of operations. An operation signals once the operations before have signalled:
 * the previous operation on the stream, and the operations awaited. So the last completion of the operation and of
 * everything before triggers the signals, even if the completion of an operation in between was earlier. Immutable.
 */
final class SignallingCompletions {
    private final Map<RecordedOperation, RecordedOperation> last = new HashMap<>();

    SignallingCompletions(OperationGraph graph) {
        List<RecordedOperation> all = new ArrayList<>(graph.operations());
        all.sort(Comparator.comparingLong(OperationGraph::issueNumber)); // operations before have a smaller number
        for (RecordedOperation each : all) {
            last.put(each, each.completed == null ? each : last(graph, each));
        }
    }

    private RecordedOperation last(OperationGraph graph, RecordedOperation operation) {
        RecordedOperation found = operation;
        for (RecordedOperation each : graph.endsAfter(operation)) {
            RecordedOperation before = of(each);
            found = completion(before) > completion(found) ? before : found;
        }
        return found;
    }

    /** Returns the sequence number of a completion; a completion after the end of the recording is the last. */
    private static long completion(RecordedOperation operation) {
        return operation.completed != null
                ? operation.completed.sequence()
                : operation.over == null ? Long.MAX_VALUE : 0;
    }

    /**
     * Returns the operation whose completion triggers the signals of an operation; an incomplete operation if the signals
     * come after the recording.
     */
    RecordedOperation of(RecordedOperation operation) {
        return last.getOrDefault(operation, operation);
    }
}
