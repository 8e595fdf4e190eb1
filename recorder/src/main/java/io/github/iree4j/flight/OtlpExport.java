package io.github.iree4j.flight;

import io.github.iree4j.flight.FlightEvent.Decision;
import io.github.iree4j.hal.schedule.WaitDecision;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Spans of OpenTelemetry: a trace for each call, a span for each operation of the call, from submission to end; a link
 * for each wait, to the span of the signalling operation, and for memory, to the span of the releasing operation. Below
 * the span of a sampled operation there is a span for each dispatch with times. Operations, links and dispatches without a
 * span are counted.
 */
final class OtlpExport {
    private final OperationGraph graph;
    private final Explanation explanation;
    private final long origin;
    private final StringBuilder text = new StringBuilder();

    OtlpExport(OperationGraph graph) {
        this.graph = graph;
        this.explanation = new Explanation(graph);
        Instant start = graph.recording().header().start();
        this.origin = Math.clamp(start.getEpochSecond(), 0, Long.MAX_VALUE / 2_000_000_000L) * 1_000_000_000L
                + start.getNano();
    }

    String json() {
        Map<String, StringBuilder> spans = new LinkedHashMap<>();
        Map<String, Long> notEnded = new HashMap<>();
        Map<String, Long> perhapsEnded = new HashMap<>();
        for (RecordedOperation each : graph.operations()) {
            RecordedQueue queue = graph.queue(each.axis());
            String device = queue == null ? "unknown" : queue.device();
            StringBuilder all = spans.computeIfAbsent(device, unused -> new StringBuilder());
            switch (graph.hasEnded(each)) {
                case YES -> {
                    all.append(all.isEmpty() ? "" : ",\n");
                    span(each, queue, all);
                }
                case NO -> notEnded.merge(device, 1L, Long::sum);
                case UNKNOWN -> perhapsEnded.merge(device, 1L, Long::sum);
            }
        }
        text.append("{\"resourceSpans\":[");
        String separator = "";
        for (Map.Entry<String, StringBuilder> each : spans.entrySet()) {
            text.append(separator).append("{\"resource\":{\"attributes\":[");
            attribute(text, "service.name", "iree4j", true);
            attribute(text, "iree.device", each.getKey(), false);
            number(text, "iree.operations_not_ended", notEnded.getOrDefault(each.getKey(), 0L));
            number(text, "iree.operations_perhaps_ended", perhapsEnded.getOrDefault(each.getKey(), 0L));
            text.append("]},\"scopeSpans\":[{\"scope\":{\"name\":\"io.github.iree4j.flight\"},\"spans\":[\n")
                    .append(each.getValue())
                    .append("]}]}");
            separator = ",";
        }
        return text.append("]}\n").toString();
    }

    private void span(RecordedOperation operation, @Nullable RecordedQueue queue, StringBuilder all) {
        Explanation.Times times = explanation.times(operation);
        all.append("{\"traceId\":\"%s\",\"spanId\":\"%s\",\"name\":".formatted(trace(operation), span(operation)));
        JsonText.quote(
                operation.function().isEmpty() ? operation.name() : operation.name() + " " + operation.function(), all);
        times(origin + operation.submittedAt(), origin + graph.endOrFailure(operation), all);
        attribute(all, "iree.operation", operation.name(), true);
        number(all, "iree.queue", queue == null ? 0 : queue.index());
        number(all, "iree.epoch", operation.epoch());
        attribute(all, "iree.frontier", operation.frontier().toString(), false);
        OpenCalls names = explanation.openCalls();
        attribute(all, "iree.waits_for", names.describe(operation.waits()), false);
        attribute(all, "iree.signals", names.describe(operation.submitted.signals()), false);
        if (!operation.refusals().isEmpty()) {
            attribute(all, "iree.refused_signals", names.describe(operation.refusedSignals()), false);
        }
        number(all, "iree.waiting_ns", times.waiting());
        number(all, "iree.memory_ns", times.memory());
        number(all, "iree.queue_ns", times.queue());
        number(all, "iree.running_ns", times.running());
        long untimed = explanation.dispatches().untimed(operation);
        if (untimed > 0) {
            number(all, "iree.dispatches_without_span", untimed);
        }
        all.append("],\"links\":[");
        int dropped = links(operation, all);
        all.append(dropped == 0 ? "]" : "],\"droppedLinksCount\":" + dropped).append(",\"status\":{");
        if (operation.status() != StatusCode.OK) {
            all.append("\"code\":2,\"message\":");
            JsonText.quote(operation.failure(), all);
        }
        all.append("}}");
        for (RecordedDispatches.Row each : explanation.dispatches().of(operation)) {
            if (each.state().isTimed()) {
                dispatch(each, all);
            }
        }
    }

    private void dispatch(RecordedDispatches.Row dispatch, StringBuilder all) {
        RecordedOperation operation = dispatch.operation();
        all.append(",\n{\"traceId\":\"%s\",\"spanId\":\"%016x\",\"parentSpanId\":\"%s\",\"name\":"
                .formatted(trace(operation), dispatchSpan(dispatch), span(operation)));
        JsonText.quote(dispatch.export(), all);
        times(origin + dispatch.begin(), origin + dispatch.end(), all);
        attribute(all, "iree.workgroups", dispatch.workgroups().toString(), true);
        number(all, "iree.workers", dispatch.workers());
        attribute(all, "iree.state", dispatch.state().name(), false);
        all.append("],\"status\":{")
                .append(dispatch.state() == RecordedDispatches.State.ENDED ? "" : "\"code\":2")
                .append("}}");
    }

    /** Returns the number of a dispatch's span: negative, unlike the numbers of operations. */
    private static long dispatchSpan(RecordedDispatches.Row dispatch) {
        return Long.MIN_VALUE | dispatch.operation().number() * DispatchSampling.MAXIMUM + dispatch.index();
    }

    /** Writes the links to other spans; returns the number of links to operations without a span. */
    private int links(RecordedOperation operation, StringBuilder all) {
        String separator = "";
        int dropped = 0;
        List<Decision> decisions = operation.decisions();
        for (int i = 0; i < operation.waits().size(); i++) {
            RecordedOperation producer = graph.producer(operation, i);
            if (producer == null || producer.status() != StatusCode.OK && operation.isOverBefore(producer)) {
                continue; // the host, an operation without records, or an operation that failed later
            }
            if (graph.hasEnded(producer) != Known.YES) {
                dropped++;
                continue;
            }
            WaitDecision decision = i < decisions.size() ? decisions.get(i).decision() : null;
            all.append(separator);
            String point = explanation.openCalls().describe(operation.waits().get(i));
            link(all, producer, point, decision == null ? "" : decision.name());
            separator = ",";
        }
        for (Dependency each : graph.dependencies(operation)) {
            RecordedOperation before = each.before();
            if (each.kind() != Dependency.Kind.MEMORY || before == null) {
                continue;
            }
            if (graph.hasEnded(before) != Known.YES) {
                dropped++;
            } else {
                all.append(separator);
                link(all, before, "memory " + each.memory(), "");
                separator = ",";
            }
        }
        return dropped;
    }

    private void link(StringBuilder all, RecordedOperation to, String what, String decision) {
        all.append("{\"traceId\":\"%s\",\"spanId\":\"%s\",\"attributes\":[".formatted(trace(to), span(to)));
        attribute(all, "iree.wait", what, true);
        if (!decision.isEmpty()) {
            attribute(all, "iree.decision", decision, false);
        }
        all.append("]}");
    }

    /** Returns 16 bytes in hexadecimal: the call, within the recorded process. */
    private String trace(RecordedOperation operation) {
        return "%016x%016x".formatted(origin | 1, operation.call() + 1);
    }

    private static String span(RecordedOperation operation) {
        return "%016x".formatted(operation.number() == 0 ? 1 : operation.number());
    }

    private static void times(long begin, long end, StringBuilder all) {
        all.append(",\"kind\":1,\"startTimeUnixNano\":\"").append(begin);
        all.append("\",\"endTimeUnixNano\":\"").append(end).append("\",\"attributes\":[");
    }

    private static void attribute(StringBuilder all, String key, String value, boolean first) {
        all.append(first ? "" : ",").append("{\"key\":");
        JsonText.quote(key, all);
        all.append(",\"value\":{\"stringValue\":");
        JsonText.quote(value, all);
        all.append("}}");
    }

    private static void number(StringBuilder all, String key, long value) {
        all.append(",{\"key\":");
        JsonText.quote(key, all);
        all.append(",\"value\":{\"intValue\":\"").append(value).append("\"}}");
    }
}
