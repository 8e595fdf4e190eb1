package io.github.iree4j.flight;

import io.github.iree4j.flight.RecordedCalls.Call;
import io.github.iree4j.flight.RecordedCalls.Part;
import io.github.iree4j.status.Known;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * A recording as the console's view of calls shows it: the operations with the parts of their times and the operation
 * each began after, the calls with the parts of their times, and the calls in progress. JSON, in columns: an array for
 * each property of the operations and of the calls, since a recording has tens of thousands of both.
 *
 * <p>Times are nanoseconds since the recorder was opened, durations are nanoseconds.
 */
final class TraceExport {
    /** The first property of the JSON, by which readers know the format and its version. */
    static final String FORMAT = "iree4j trace 1";

    /** The most operations, the latest: more stall a browser. */
    static final int MOST = 50_000;

    private static final int MOST_IN_PROGRESS = 100;

    private final OperationGraph graph;
    private final Explanation explanation;
    private final Map<String, Integer> names = new LinkedHashMap<>(); // of operations, functions and queues
    private final StringBuilder text = new StringBuilder();

    TraceExport(OperationGraph graph) {
        this.graph = graph;
        this.explanation = new Explanation(graph);
    }

    String json() {
        List<RecordedOperation> all = graph.operations();
        int leftOut = Math.max(0, all.size() - MOST);
        List<RecordedOperation> operations = all.subList(leftOut, all.size());
        RecordedCalls recorded = new RecordedCalls(graph, explanation);
        long since = leftOut == 0 ? Long.MIN_VALUE : operations.getFirst().submittedAt();
        List<Call> calls =
                recorded.all().stream().filter(each -> each.begin() >= since).toList();
        FlightRecording.Header header = graph.recording().header();
        text.append("{\"format\":\"")
                .append(FORMAT)
                .append("\",\"start\":\"")
                .append(header.start())
                .append("\",\"leftOut\":")
                .append(leftOut)
                .append(",\"caveat\":");
        JsonText.quote(recorded.caveat(), text);
        text.append(",\n\"operations\":{");
        column("number", operations, RecordedOperation::number, true);
        column("name", operations, each -> name(each.name()));
        column("queue", operations, each -> name(explanation.queue(each)));
        column("thread", operations, each -> each.submitted.thread());
        column("call", operations, RecordedOperation::call);
        column("function", operations, each -> name(each.function()));
        column("submitted", operations, this::submitted);
        column("waiting", operations, each -> explanation.times(each).waiting());
        column("memory", operations, each -> explanation.times(each).memory());
        column("queued", operations, each -> explanation.times(each).queue());
        column("running", operations, each -> explanation.times(each).running());
        column("ended", operations, each -> graph.hasEnded(each).ordinal());
        column("after", operations, this::after);
        column("ready", operations, this::ready);
        column("reason", operations, this::reason);
        text.append("},\n\"calls\":{");
        column("number", calls, Call::number, true);
        column("function", calls, each -> name(each.function()));
        column("begin", calls, Call::begin);
        column("end", calls, Call::end);
        column("waiting", calls, each -> each.parts()[Part.WAITING.ordinal()]);
        column("memory", calls, each -> each.parts()[Part.MEMORY.ordinal()]);
        column("queued", calls, each -> each.parts()[Part.QUEUE.ordinal()]);
        column("running", calls, each -> each.parts()[Part.RUNNING.ordinal()]);
        column("host", calls, each -> each.parts()[Part.HOST.ordinal()]);
        column("ended", calls, each -> each.hasEnded().ordinal());
        text.append("},\n\"remarks\":{");
        remarks(operations);
        text.append("},\n\"inProgress\":[");
        inProgress();
        text.append("],\n\"names\":[");
        String separator = "";
        for (String each : names.keySet()) {
            text.append(separator);
            JsonText.quote(each, text);
            separator = ",";
        }
        return text.append("]}\n").toString();
    }

    private int name(String name) {
        return names.computeIfAbsent(name, unused -> names.size());
    }

    private <T> void column(String key, List<T> rows, ToLongFunction<T> value) {
        column(key, rows, value, false);
    }

    private <T> void column(String key, List<T> rows, ToLongFunction<T> value, boolean first) {
        text.append(first ? "\"" : ",\n\"").append(key).append("\":[");
        String separator = "";
        for (T each : rows) {
            text.append(separator).append(value.applyAsLong(each));
            separator = ",";
        }
        text.append(']');
    }

    /** Returns the begin of an operation's times: a bound of the end may precede the recorded submission. */
    private long submitted(RecordedOperation operation) {
        return explanation.isEndKnown(operation)
                ? Math.min(operation.submittedAt(), graph.end(operation))
                : operation.submittedAt();
    }

    /** Returns the number of the operation before on the critical path to an operation; 0 where the path begins. */
    private long after(RecordedOperation operation) {
        RecordedOperation before = CriticalPath.before(graph, operation);
        return before == null ? 0 : before.number();
    }

    /** Returns when the decisive dependency was available; the submission for an operation that was not issued. */
    private long ready(RecordedOperation operation) {
        Dependency decisive = graph.decisive(operation);
        return decisive == null ? submitted(operation) : decisive.available();
    }

    /** Returns the kind of the decisive dependency; -1 for an operation that was not issued. */
    private long reason(RecordedOperation operation) {
        Dependency decisive = graph.decisive(operation);
        return decisive == null ? -1 : decisive.kind().ordinal();
    }

    /** Writes how each failed operation failed, and the state of each operation not known to have ended, by number. */
    private void remarks(List<RecordedOperation> operations) {
        String separator = "";
        for (RecordedOperation each : operations) {
            String remark = explanation.remark(each);
            if (!remark.isEmpty()) {
                text.append(separator).append("\n\"").append(each.number()).append("\":{\"text\":");
                JsonText.quote(remark, text);
                waits(graph.hasEnded(each) == Known.YES ? List.of() : explanation.awaited(each));
                separator = ",";
            }
        }
    }

    /** Writes the points awaited, each with the number of the operation to signal the point, 0 for nobody in the recording, and closes the object. */
    private void waits(List<OpenCalls.Awaited> points) {
        text.append(",\"waits\":[");
        String separator = "";
        for (OpenCalls.Awaited each : points) {
            text.append(separator).append("{\"point\":");
            JsonText.quote(each.point(), text);
            text.append(",\"signaller\":")
                    .append(each.signaller() == null ? 0 : each.signaller().number())
                    .append('}');
            separator = ",";
        }
        text.append("]}");
    }

    private void inProgress() {
        List<OpenCalls.Waiting> calls = explanation.inProgress();
        String separator = "";
        for (OpenCalls.Waiting each : calls.subList(0, Math.min(MOST_IN_PROGRESS, calls.size()))) {
            text.append(separator).append("\n{\"call\":");
            separator = ",";
            text.append(each.call().call()).append(",\"program\":");
            JsonText.quote(each.call().program(), text);
            text.append(",\"function\":");
            JsonText.quote(each.call().function(), text);
            text.append(",\"state\":");
            JsonText.quote(OpenCalls.state(each.call()), text);
            text.append(",\"age\":").append(each.call().age());
            waits(each.waits());
        }
    }
}
