package io.github.iree4j.flight;

import io.github.iree4j.flight.RecordedCalls.Call;
import io.github.iree4j.flight.RecordedCalls.Part;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A recording for the console's view of calls: the operations, each with the parts of the time and the operation before
 * on the critical path, the calls, each with the parts of the time, and the problems. JSON, in columns: an array for
 * each property of the operations and of the calls, since a recording has tens of thousands of both.
 *
 * <p>Times are nanoseconds since the earliest exported time, as browsers have 53 bits; durations are nanoseconds.
 */
final class TraceExport {
    /** The first property of the JSON: the format and the version, for readers. */
    static final String FORMAT = "iree4j trace 1";

    /** The most operations: more stall a browser. */
    static final int MOST = 50_000;

    /** The most dispatches, of the latest operations. */
    static final int MOST_DISPATCHES = 50_000;

    private final OperationGraph graph;
    private final Explanation explanation;
    private final int most;
    private final Map<String, Integer> names = new LinkedHashMap<>(); // of operations, functions and queues
    private final StringBuilder text = new StringBuilder();

    TraceExport(OperationGraph graph) {
        this(graph, MOST);
    }

    /**
     * Creates an export.
     *
     * @param most the most operations
     */
    TraceExport(OperationGraph graph, int most) {
        this.graph = graph;
        this.explanation = new Explanation(graph);
        this.most = most;
    }

    /**
     * An operation.
     *
     * @param begin of its times: a bound of the end may precede the recorded submission
     * @param decisive the dependency available last; null for an operation that was not issued
     */
    private record Row(
            RecordedOperation operation,
            long begin,
            Explanation.Times times,
            @Nullable Dependency decisive) {
        long ready() {
            return decisive == null ? begin : decisive.available();
        }
    }

    String json() {
        List<Row> rows = rows();
        Set<Long> exported = new HashSet<>();
        rows.forEach(each -> exported.add(each.operation().number()));
        RecordedCalls recorded = new RecordedCalls(graph, explanation);
        List<Call> allCalls = recorded.all();
        List<Call> calls = allCalls.stream()
                .filter(call -> call.operations().stream().allMatch(each -> exported.contains(each.number())))
                .toList();
        long origin = rows.stream().mapToLong(Row::begin).min().orElse(0);
        FlightRecording.Header header = graph.recording().header();
        long openLeftOut = explanation.open().stream()
                .filter(each -> !exported.contains(each.number()))
                .count();
        List<RecordedDispatches.Row> dispatches = dispatches(rows);
        List<RecordedProblem> problems = explanation.allProblems();
        text.append("{\"format\":\"")
                .append(FORMAT)
                .append("\",\"start\":\"")
                .append(header.start().plusNanos(origin))
                .append("\",\"until\":")
                .append(Math.max(0, graph.takenAt() - origin))
                .append(",\"leftOut\":")
                .append(graph.operations().size() - rows.size())
                .append(",\"openLeftOut\":")
                .append(openLeftOut);
        StringJoiner caveats = new StringJoiner("; ");
        if (!recorded.caveat().isEmpty()) {
            caveats.add(recorded.caveat());
        }
        leftOut("callsLeftOut", allCalls.size() - calls.size(), "calls with operations left out", caveats);
        leftOut(
                "dispatchesLeftOut",
                sum(rows, each -> explanation.dispatches().of(each).size()) - dispatches.size(),
                "dispatches of earlier operations left out, too many for a page",
                caveats);
        leftOut(
                "dispatchesNotRecorded",
                sum(rows, explanation.dispatches()::notRecorded),
                "dispatches without a record, after the first %d of an execution".formatted(DispatchSampling.MAXIMUM),
                caveats);
        leftOut(
                "problemsLeftOut",
                ProblemsExport.leftOut(problems),
                "problems left out, younger than the others",
                caveats);
        text.append(",\"caveat\":");
        JsonText.quote(caveats.toString(), text);
        text.append(",\n\"operations\":{");
        column("number", rows, each -> each.operation().number(), true);
        column("name", rows, each -> name(each.operation().name()));
        column("queue", rows, each -> name(explanation.queue(each.operation())));
        column("thread", rows, each -> each.operation().submitted.thread());
        column("call", rows, each -> each.operation().call());
        column("function", rows, each -> name(each.operation().function()));
        column("submitted", rows, each -> each.begin() - origin);
        column("waiting", rows, each -> each.times().waiting());
        column("memory", rows, each -> each.times().memory());
        column("queued", rows, each -> each.times().queue());
        column("running", rows, each -> each.times().running());
        column("ended", rows, each -> graph.hasEnded(each.operation()).ordinal());
        column("known", rows, each -> Math.max(each.begin(), each.operation().lastRecordAt()) - origin);
        column("after", rows, this::after);
        column("ready", rows, each -> each.ready() - origin);
        column(
                "reason",
                rows,
                each -> each.decisive() == null ? -1 : each.decisive().kind().ordinal());
        text.append("},\n\"calls\":{");
        column("number", calls, Call::number, true);
        column("function", calls, each -> name(each.function()));
        column("begin", calls, each -> each.begin() - origin);
        column("end", calls, each -> each.end() - origin);
        column("waiting", calls, each -> each.parts()[Part.WAITING.ordinal()]);
        column("memory", calls, each -> each.parts()[Part.MEMORY.ordinal()]);
        column("queued", calls, each -> each.parts()[Part.QUEUE.ordinal()]);
        column("running", calls, each -> each.parts()[Part.RUNNING.ordinal()]);
        column("unknown", calls, each -> each.parts()[Part.UNKNOWN.ordinal()]);
        column("host", calls, each -> each.parts()[Part.HOST.ordinal()]);
        column("ended", calls, each -> each.hasEnded().ordinal());
        column("before", calls, each -> each.before().ordinal());
        text.append("},\n\"dispatches\":{");
        write(dispatches, origin);
        text.append("},\n\"remarks\":{");
        remarks(rows);
        text.append("},\n\"problems\":");
        ProblemsExport.write(problems, text);
        text.append(",\n\"names\":");
        JsonText.quote(names.keySet(), text);
        return text.append("}\n").toString();
    }

    /**
     * Returns the oldest open operations, since others may hang on these, up to half of the rows, and the latest
     * operations.
     */
    private List<Row> rows() {
        Set<RecordedOperation> chosen = new HashSet<>();
        explanation.open().stream().limit(most / 2).forEach(chosen::add);
        List<RecordedOperation> all = graph.operations();
        for (int i = all.size() - 1; i >= 0 && chosen.size() < most; i--) {
            chosen.add(all.get(i));
        }
        List<Row> rows = new ArrayList<>();
        for (RecordedOperation each : all) {
            if (chosen.contains(each)) {
                long begin = Math.min(each.submittedAt(), graph.end(each));
                rows.add(new Row(each, begin, explanation.times(each), graph.decisive(each)));
            }
        }
        return rows;
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

    /**
     * Returns the number of the operation before on the critical path to an operation; 0 where the path begins, -1 where
     * the records of the operation before are missing.
     */
    private long after(Row row) {
        Dependency decisive = row.decisive();
        RecordedOperation before = decisive == null ? null : CriticalPath.before(graph, decisive);
        return before != null ? before.number() : decisive != null && decisive.missing() ? -1 : 0;
    }

    /** Writes how many of something the export leaves out, also in words if any. */
    private void leftOut(String key, long count, String what, StringJoiner caveats) {
        text.append(",\"").append(key).append("\":").append(count);
        if (count > 0) {
            caveats.add(what + ": " + count);
        }
    }

    private static long sum(List<Row> rows, ToLongFunction<RecordedOperation> number) {
        return rows.stream().map(Row::operation).mapToLong(number).sum();
    }

    /** Returns the dispatches of the latest sampled operations, in the order of the operations. */
    private List<RecordedDispatches.Row> dispatches(List<Row> rows) {
        List<RecordedDispatches.Row> all = new ArrayList<>();
        for (Row each : rows.reversed()) { // the latest operations first, each with all its dispatches
            List<RecordedDispatches.Row> own = explanation.dispatches().of(each.operation());
            if (all.size() + own.size() > MOST_DISPATCHES) {
                break;
            }
            all.addAll(own.reversed());
        }
        return all.reversed();
    }

    /** Writes dispatches; begins of dispatches without times are 0. */
    private void write(List<RecordedDispatches.Row> all, long origin) {
        column("operation", all, each -> each.operation().number(), true);
        column("export", all, each -> name(each.export()));
        column("x", all, each -> each.workgroups().x());
        column("y", all, each -> each.workgroups().y());
        column("z", all, each -> each.workgroups().z());
        column("begin", all, each -> each.state().isTimed() ? each.begin() - origin : 0);
        column("duration", all, RecordedDispatches.Row::duration);
        column("workers", all, RecordedDispatches.Row::workers);
        column("state", all, each -> each.state().ordinal());
    }

    /** Writes how each failed operation failed, and the state of each operation not known to have ended, by number. */
    private void remarks(List<Row> rows) {
        String separator = "";
        for (Row row : rows) {
            String remark = explanation.remark(row.operation());
            if (!remark.isEmpty()) {
                text.append(separator)
                        .append("\n\"")
                        .append(row.operation().number())
                        .append("\":");
                JsonText.quote(remark, text);
                separator = ",";
            }
        }
    }
}
