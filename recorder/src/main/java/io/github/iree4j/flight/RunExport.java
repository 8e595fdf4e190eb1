package io.github.iree4j.flight;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A recording for the console's view of runs, in the form of a run of the laboratory: the operations with times, waits,
 * signals, frontiers and decisions, the memory, and the problems. Frontiers of a running system name queues and epochs,
 * so each operation also counts as the signal of the epoch on the queue.
 *
 * <p>Times are nanoseconds since the first submission shown, or the first reservation; operations submitted before, and
 * still open, begin there. Operations without a known end are left out.
 */
final class RunExport {
    /** The most operations, and the most blocks of memory: more stall a browser. */
    static final int MOST = 20_000;

    private final OperationGraph graph;
    private final Explanation explanation;
    private final OpenCalls calls;
    private final FlightRecording recording;
    private final Set<RecordedOperation> shown = new HashSet<>();
    private final List<RecordedOperation> operations = new ArrayList<>(); // the same, in the order of submission
    private final List<FlightEvent.Reserved> memory;
    private final int unknown; // operations left out since the end is not known
    private final int leftOut; // known, and beyond the limit
    private final int blocksLeftOut;
    private final List<RecordedProblem> problems;
    private final boolean hasMachines; // of several machines
    private final long origin;
    private final long first; // number of the first record shown
    private final Set<Long> timelines = new TreeSet<>(); // of the written points
    private long last; // the latest of the written times, from the origin on
    private final StringBuilder text = new StringBuilder();

    RunExport(OperationGraph graph) {
        this(graph, MOST);
    }

    /**
     * Creates an export.
     *
     * @param most the most operations, and the most blocks
     */
    RunExport(OperationGraph graph, int most) {
        this.graph = graph;
        this.explanation = new Explanation(graph);
        this.calls = explanation.openCalls();
        this.recording = graph.recording();
        List<RecordedOperation> known = graph.operations().stream()
                .filter(each -> graph.hasEnded(each) != Known.UNKNOWN)
                .toList();
        explanation.open().stream().limit(most / 2).forEach(shown::add); // others may hang on the oldest
        known.reversed().stream().limit(most - shown.size()).forEach(shown::add);
        known.stream().filter(shown::contains).forEach(operations::add);
        this.unknown = graph.operations().size() - known.size();
        this.leftOut = known.size() - operations.size();
        List<FlightEvent.Reserved> all = graph.memory().reservations().stream()
                .filter(graph::isCompleteFrom)
                .toList();
        this.blocksLeftOut = Math.max(0, all.size() - most);
        this.memory = all.subList(blocksLeftOut, all.size());
        this.problems = explanation.allProblems();
        this.hasMachines = recording.queues().stream()
                        .mapToInt(RunExport::machine)
                        .distinct()
                        .count()
                > 1;
        List<FlightEvent> begins = new ArrayList<>(memory);
        operations.stream().filter(graph::isWhole).forEach(each -> begins.add(each.submitted));
        this.origin = begins.stream().mapToLong(FlightEvent::time).min().orElse(graph.takenAt());
        this.first = begins.stream()
                .mapToLong(FlightEvent::sequence)
                .min()
                .orElse(recording.header().next());
    }

    String json() {
        String start = recording.header().start().toString();
        put("{\"id\":", "recording");
        put(
                ",\"label\":",
                "Recording of %s UTC".formatted(start.substring(0, 19).replace('T', ' ')));
        put(",\"description\":", description());
        text.append(",\"unit\":\"ns\",\"isRecording\":true");
        put(",\"records\":{\"recorder\":", start);
        text.append(",\"since\":").append(first);
        text.append(",\"until\":").append(recording.header().next()).append('}');
        list(",\n\"hardware\":", recording.queues(), this::hardware);
        list(",\n\"ops\":", operations, this::operation);
        text.append(",\n\"sems\":{");
        String separator = "";
        for (long each : timelines) {
            text.append(separator);
            label(each);
            separator = ",\n";
        }
        text.append('}');
        list(",\n\"memory\":", memory, this::block);
        putValues(",\n\"heldBefore\":", heldBefore(), name -> name);
        text.append(",\n\"finalTick\":").append(Math.max(1, last)).append(",\n\"problems\":");
        ProblemsExport.write(problems, text);
        return text.append("}\n").toString();
    }

    private void put(String key, String value) {
        text.append(key);
        JsonText.quote(value, text);
    }

    private <T> void list(String key, List<T> all, Consumer<T> write) {
        text.append(key).append('[');
        String separator = "\n";
        for (T each : all) {
            text.append(separator);
            write.accept(each);
            separator = ",\n";
        }
        text.append(']');
    }

    /** Writes a time; null for an unknown time. */
    private void putTime(String key, long time) {
        text.append(key);
        if (time == RecordedOperation.NEVER) {
            text.append("null");
        } else {
            long since = Math.max(0, time - origin);
            last = Math.max(last, since);
            text.append(since);
        }
    }

    private <T> void putValues(String key, Map<T, Long> values, Function<T, String> name) {
        text.append(key).append('{');
        String separator = "";
        for (Map.Entry<T, Long> each : values.entrySet()) {
            text.append(separator);
            put("", name.apply(each.getKey()));
            text.append(':').append(each.getValue());
            separator = ",";
        }
        text.append('}');
    }

    private void putFrontier(String key, RecordedFrontier frontier) {
        Map<Long, Long> entries = new LinkedHashMap<>();
        frontier.entries().forEach(each -> entries.put(each.axis(), each.epoch()));
        putValues(key, entries, this::queue);
    }

    private String queue(long axis) {
        RecordedQueue queue = graph.queue(axis);
        return queue == null ? Axis.toString(axis) : queue.device() + "/" + queue.index();
    }

    private void hardware(RecordedQueue queue) {
        put("{\"id\":", queue(queue.axis()));
        put(",\"lanes\":1,\"machine\":", hasMachines ? "machine " + machine(queue) : "");
        text.append('}');
    }

    private static int machine(RecordedQueue queue) {
        return DeviceInfo.machine(queue.device(), queue.axis());
    }

    private void operation(RecordedOperation operation) {
        String queue = queue(operation.axis());
        boolean isOpen = graph.hasEnded(operation) == Known.NO;
        long end = isOpen ? RecordedOperation.NEVER : graph.endOrFailure(operation);
        long begin =
                operation.issued == null ? RecordedOperation.NEVER : isOpen ? beginOfOpen(operation) : begin(operation);
        last = Math.max(last, operation.submittedAt() - origin);
        put("{\"id\":", id(operation));
        put(",\"hw\":", queue);
        if (begin != RecordedOperation.NEVER) {
            put(",\"lane\":", queue);
        }
        putTime(",\"start\":", begin);
        putTime(",\"end\":", end);
        putWaits(operation);
        Map<String, Long> signals = new LinkedHashMap<>();
        if (operation.epoch() > 0) {
            signals.put(queue, operation.epoch());
        }
        signals.putAll(points(operation.signals()));
        putValues(",\"signal\":", signals, name -> name);
        putFrontier(",\"frontier\":", operation.frontier());
        text.append(",\"tainted\":").append(operation.frontier().tainted());
        FlightEvent.Over over = operation.over;
        if (over != null && over.status() != StatusCode.OK) {
            put(",\"failure\":", over.message().isEmpty() ? over.status().name() : over.message());
        }
        Map<String, Long> decisions = new TreeMap<>();
        operation
                .lastDecisions()
                .forEach(each -> decisions.merge(each.decision().name(), 1L, Long::sum));
        putValues(",\"decisions\":", decisions, name -> name);
        put(",\"note\":", note(operation));
        text.append('}');
    }

    /**
     * Writes the waits: the point, whether the wait is over since the value is reached or promised, the signalling
     * operation of the run, whether the wait was the last condition, and an explanation in words, unless the run shows
     * the signal of an operation that ended well.
     */
    private void putWaits(RecordedOperation operation) {
        Dependency decisive = operation.moreWaits() > 0 ? null : graph.decisive(operation);
        text.append(",\"knownWaits\":[");
        for (int i = 0; i < operation.waits().size(); i++) {
            FlightEvent.Point point = operation.waits().get(i);
            RecordedOperation producer = explanation.states().producer(operation, i);
            Known isOver = explanation.states().isEndedWait(operation, i);
            String by = producer == null || !shown.contains(producer) ? null : id(producer);
            put(i == 0 ? "{\"timeline\":" : ",{\"timeline\":", timeline(point));
            text.append(",\"value\":").append(point.value());
            put(",\"over\":", isOver.name());
            if (by != null) {
                put(",\"by\":", by);
            }
            if (decisive != null && decisive.kind() == Dependency.Kind.WAIT && point.equals(decisive.point())) {
                text.append(",\"last\":true");
            }
            boolean isShown = by != null
                    && producer != null
                    && isOver == Known.YES
                    && explanation.states().hasEndedWell(producer);
            if (!isShown) {
                put(",\"text\":", explanation.waitState(operation, i));
            }
            text.append('}');
        }
        text.append("],\"moreWaits\":").append(operation.moreWaits());
        put(",\"forMemory\":", explanation.states().isHeldForMemory(operation).name());
    }

    private static String id(RecordedOperation operation) {
        return "%s #%d".formatted(operation.name(), operation.number());
    }

    private long begin(RecordedOperation operation) {
        return graph.endOrFailure(operation) - explanation.times(operation).running();
    }

    /** Returns when an issued operation without an end began: on a stream not before the end of the previous operation. */
    private long beginOfOpen(RecordedOperation operation) {
        Dependency decisive = graph.decisive(operation);
        boolean isKnown = operation.beganAt() != RecordedOperation.NEVER;
        return isKnown || decisive == null || decisive.available() == RecordedOperation.NEVER
                ? isKnown ? operation.beganAt() : operation.issuedAt()
                : Math.max(operation.issuedAt(), decisive.available());
    }

    private Map<String, Long> points(List<FlightEvent.Point> points) {
        Map<String, Long> values = new LinkedHashMap<>();
        points.forEach(each -> values.put(timeline(each), each.value()));
        return values;
    }

    /** Returns the id of a timeline in the run: unlike a name, no other timeline and no queue has the id. */
    private String timeline(FlightEvent.Point point) {
        timelines.add(point.timeline());
        return "timeline " + point.timeline();
    }

    private void label(long timeline) {
        put("", "timeline " + timeline);
        put(":{\"label\":", calls.label(timeline));
        text.append('}');
    }

    private String note(RecordedOperation operation) {
        StringJoiner note = new StringJoiner(", ");
        if (operation.call() != 0) {
            note.add("call %d of %s".formatted(operation.call(), operation.function()));
        }
        if (operation.submittedAt() < origin) {
            note.add("submitted %s before".formatted(seconds(origin - operation.submittedAt())));
        }
        if (graph.hasEnded(operation) == Known.NO) {
            note.add(explanation.remark(operation));
        }
        operation.refusals().forEach(each -> note.add(explanation.states().refusal(each)));
        return note.toString();
    }

    private static String seconds(long nanos) {
        return String.format(Locale.ROOT, "%.1f s", nanos / 1e9);
    }

    private void block(FlightEvent.Reserved block) {
        FlightEvent.Released released = graph.memory().released(block.reservation());
        text.append("{\"reservation\":").append(block.reservation());
        put(",\"pool\":", recording.pools().get(block.pool()).name());
        text.append(",\"slab\":").append(block.slab());
        text.append(",\"offset\":").append(block.offset());
        text.append(",\"length\":").append(block.length());
        put(",\"consumer\":", block.consumer());
        put(",\"function\":", block.function());
        put(",\"reuse\":", block.reuse().name());
        putTime(",\"start\":", block.time());
        putTime(",\"end\":", released == null ? RecordedOperation.NEVER : released.time());
        putFrontier(",\"death\":", block.death());
        if (released != null) {
            putFrontier(",\"releasedBehind\":", released.death());
        }
        text.append('}');
    }

    /** Returns the bytes of each pool, by name, reserved before the records and still held. */
    private Map<String, Long> heldBefore() {
        Map<String, Long> bytes = new TreeMap<>();
        for (FlightEvent.PoolsHold each : graph.memory().taken()) {
            HeldMemory.before(graph, each.set())
                    .forEach((pool, held) ->
                            bytes.merge(recording.pools().get(pool).name(), held, Long::sum));
        }
        return bytes;
    }

    /** Says which memory is not shown since the recorder does not know when the memory was reserved. */
    private void unknownMemory(StringJoiner all) {
        List<FlightEvent.PoolsHold> taken = graph.memory().taken();
        if (taken.isEmpty() && !recording.pools().isEmpty()) {
            all.add("Memory reserved before is not recorded.");
        }
        for (FlightEvent.PoolsHold each : taken) {
            long more = HeldMemory.of(graph, each.set()).stream()
                    .mapToLong(HeldMemory::unrecorded)
                    .sum();
            if (more > 0 && HeldMemory.before(graph, each.set()).isEmpty()) {
                all.add("%d more bytes were held when the recording was taken, %s."
                        .formatted(more, HeldMemory.unrecordedSince(graph, each.set())));
            }
        }
    }

    private String description() {
        StringJoiner all = new StringJoiner(" ");
        all.add("What the flight recorder has: %s, with waits, frontiers and memory."
                .formatted(RecordedCalls.count(operations.size(), "operation")));
        if (recording.header().completeFrom() > 0) {
            all.add("What is older than record %d is left out.".formatted(first));
        }
        if (leftOut > 0) {
            all.add(
                    "Left out: %d other operations, older than the latest, of which the oldest that have not ended are here."
                            .formatted(leftOut));
        }
        if (unknown > 0) {
            all.add("Left out: %d of which the recorder does not know the end.".formatted(unknown));
        }
        if (blocksLeftOut > 0) {
            all.add("Left out: %s of memory, reserved before the others."
                    .formatted(RecordedCalls.count(blocksLeftOut, "block")));
        }
        unknownMemory(all);
        int problemsLeftOut = ProblemsExport.leftOut(problems);
        if (problemsLeftOut > 0) {
            all.add("Left out: %s, younger than the others."
                    .formatted(RecordedCalls.count(problemsLeftOut, "problem")));
        }
        if (calls.size() > 0) {
            FlightEvent.Call call = calls.all().getFirst(); // the oldest
            all.add("%s in progress, the oldest for %s: %s of %s, %s%s."
                    .formatted(
                            calls.size() == 1 ? "1 call was" : calls.size() + " calls were",
                            seconds(call.age()),
                            call.function(),
                            call.program(),
                            OpenCalls.state(call),
                            waits(call)));
        }
        return all.toString();
    }

    private String waits(FlightEvent.Call call) {
        StringJoiner all = new StringJoiner(", ", ", waits for ", "").setEmptyValue("");
        call.waits().forEach(each -> all.add("%s \u2265 %d".formatted(calls.label(each.timeline()), each.value())));
        return all.toString();
    }
}
