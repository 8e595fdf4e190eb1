package io.github.iree4j.flight;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The calls of a recording, as far as the operations are recorded: from the submission of a call's first operation to
 * the end of the last. Immutable.
 */
final class RecordedCalls {
    /**
     * The state of a call at a moment: the first of these states among the call's operations; HOST when none is under
     * way. UNKNOWN is the state of an operation before the issue, or before a known hold for memory, where records are
     * missing and no wait is known to be open; on a stream also after the issue, where a condition for the begin is not
     * recorded.
     */
    enum Part {
        RUNNING("running"),
        UNKNOWN("not known"),
        QUEUE("in queues"),
        MEMORY("for memory"),
        WAITING("waiting"),
        HOST("on the host");

        private final String text;

        Part(String text) {
            this.text = text;
        }
    }

    /**
     * A call.
     *
     * @param number the call's number
     * @param function the function, or empty
     * @param operations in the order of submission
     * @param begin submission of the first operation, in nanoseconds since the recorder was opened
     * @param end end of the last operation with a known end; the time of the recording for a call in progress
     * @param parts nanoseconds by {@link Part}; add up to the time from begin to end
     * @param hasEnded whether all operations have ended, and the call was not in progress; UNKNOWN also where later
     *     operations may be missing
     * @param before whether the call was made before the recording began: the duration is then a lower bound; UNKNOWN in
     *     files up to version 5
     */
    record Call(
            long number,
            String function,
            List<RecordedOperation> operations,
            long begin,
            long end,
            long[] parts,
            Known hasEnded,
            Known before) {
        long duration() {
            return end - begin;
        }

        /** Whether the call ended well, and its duration is known. */
        boolean isMeasured() {
            return hasEnded == Known.YES && status() == StatusCode.OK && before != Known.YES;
        }

        /** Returns the failure of the first failed operation; OK for none. */
        StatusCode status() {
            return operations.stream()
                    .map(RecordedOperation::status)
                    .filter(each -> each != StatusCode.OK)
                    .findFirst()
                    .orElse(StatusCode.OK);
        }
    }

    /** The remark about ends: a call may end late, or be cancelled, after the last operation. */
    private static final String ENDS =
            "how these calls ended for their callers is not recorded, nor are calls without operations";

    private final OperationGraph graph;
    private final Explanation explanation;
    private final Map<Long, Call> calls = new LinkedHashMap<>();

    RecordedCalls(OperationGraph graph, Explanation explanation) {
        this.graph = graph;
        this.explanation = explanation;
        Map<Long, List<RecordedOperation>> operations = new LinkedHashMap<>();
        for (RecordedOperation each : graph.operations()) {
            if (each.call() != 0) {
                operations
                        .computeIfAbsent(each.call(), unused -> new ArrayList<>())
                        .add(each);
            }
        }
        operations.forEach((number, all) -> calls.put(number, call(number, all)));
    }

    /** Returns the calls, in the order of the first operations. */
    List<Call> all() {
        return List.copyOf(calls.values());
    }

    /** Returns the call of some operations. */
    Call call(long number, List<RecordedOperation> operations) {
        boolean inProgress = explanation.openCalls().contains(number);
        Known ended = inProgress ? Known.NO : graph.mayLackLater() ? Known.UNKNOWN : Known.YES;
        long begin = Long.MAX_VALUE;
        long end = inProgress ? graph.takenAt() : Long.MIN_VALUE;
        TreeMap<Long, int[]> changes = new TreeMap<>(); // by time: more or fewer operations in each part
        for (RecordedOperation each : operations) {
            Known one = graph.hasEnded(each);
            ended = one == Known.NO || ended == Known.NO ? Known.NO : one == Known.UNKNOWN ? Known.UNKNOWN : ended;
            long at = Math.min(each.submittedAt(), graph.endOrFailure(each));
            begin = Math.min(begin, at);
            end = Math.max(end, one == Known.NO ? underWay(each, changes, at) : ended(each, changes, at));
        }
        return new Call(
                number,
                operations.getFirst().function(),
                List.copyOf(operations),
                begin,
                end,
                parts(changes, begin, end),
                ended,
                before(number, operations));
    }

    private Known before(long number, List<RecordedOperation> operations) {
        if (explanation.openCalls().age(number) > graph.takenAt()) {
            return Known.YES;
        }
        Known before = Known.NO;
        for (RecordedOperation each : operations) {
            Known one = each.submitted.callBefore();
            if (one == Known.YES || each.before() == Known.YES) {
                return Known.YES;
            }
            before = one == Known.UNKNOWN ? one : before;
        }
        return before;
    }

    /** Adds the parts of the time of an operation from a time on; returns the end. */
    private long ended(RecordedOperation operation, TreeMap<Long, int[]> changes, long from) {
        Explanation.Times times = explanation.times(operation);
        if (explanation.states().isHeldForMemory(operation) == Known.UNKNOWN) {
            return change(changes, Part.UNKNOWN, from, times.total());
        }
        long at = change(changes, Part.WAITING, from, times.waiting());
        at = change(changes, Part.MEMORY, at, times.memory());
        at = change(changes, Part.QUEUE, at, times.queue());
        return change(changes, Part.RUNNING, at, times.running());
    }

    /** Adds the parts of the time of an open operation, up to the time of the recording; returns the end. */
    private long underWay(RecordedOperation operation, TreeMap<Long, int[]> changes, long from) {
        long submitted = operation.submittedAt();
        long taken = Math.max(submitted, graph.takenAt());
        OperationStates states = explanation.states();
        FlightEvent.Held hold =
                operation.issued != null || states.isHeldForMemory(operation) == Known.YES ? operation.held : null;
        long issued = operation.issued == null ? taken : Math.clamp(operation.issued.time(), submitted, taken);
        long held = hold == null ? issued : Math.clamp(hold.time(), submitted, issued);
        boolean isUnknown = states.isWaitingUnknown(operation);
        long at = change(changes, isUnknown ? Part.UNKNOWN : Part.WAITING, from, held - submitted);
        at = change(changes, Part.MEMORY, at, issued - held);
        return graph.isStream(operation.axis()) && operation.beganAt() == RecordedOperation.NEVER
                ? onStream(operation, changes, at, taken)
                : change(changes, Part.RUNNING, at, taken - issued);
    }

    /**
     * Adds the parts of the time of an operation on a stream, perhaps not begun: conditions not met by the time of the
     * recording last until then. Returns the end.
     */
    private long onStream(RecordedOperation operation, TreeMap<Long, int[]> changes, long from, long taken) {
        long waited = from;
        long memory = from;
        long queued = from;
        boolean mayWait = operation.moreWaits() > 0;
        for (Dependency each : graph.dependencies(operation)) {
            long until = Math.clamp(each.available(), from, taken);
            switch (each.kind()) {
                case WAIT -> waited = Math.max(waited, until);
                case MEMORY -> memory = Math.max(memory, until);
                case QUEUE -> queued = Math.max(queued, until);
                case SUBMISSION -> {}
            }
            mayWait |= each.missing();
        }
        long at = change(changes, Part.WAITING, from, waited - from);
        at = change(changes, Part.MEMORY, at, Math.max(0, memory - at));
        at = change(changes, Part.QUEUE, at, Math.max(0, queued - at));
        return change(changes, mayWait ? Part.UNKNOWN : Part.RUNNING, at, taken - at);
    }

    private static long change(TreeMap<Long, int[]> changes, Part part, long from, long nanos) {
        if (nanos > 0) {
            changes.computeIfAbsent(from, unused -> new int[Part.values().length])[part.ordinal()]++;
            changes.computeIfAbsent(from + nanos, unused -> new int[Part.values().length])[part.ordinal()]--;
        }
        return from + nanos;
    }

    private static long[] parts(TreeMap<Long, int[]> changes, long begin, long end) {
        long[] parts = new long[Part.values().length];
        int[] now = new int[parts.length];
        long since = begin;
        for (Map.Entry<Long, int[]> each : changes.entrySet()) {
            parts[partOf(now)] += each.getKey() - since;
            since = each.getKey();
            for (int i = 0; i < now.length; i++) {
                now[i] += each.getValue()[i];
            }
        }
        parts[partOf(now)] += end - since;
        return parts;
    }

    private static int partOf(int[] now) {
        int part = 0;
        while (part < Part.HOST.ordinal() && now[part] == 0) {
            part++;
        }
        return part;
    }

    // Texts.

    /** Returns lines about the functions, with the most time first: calls, percentiles, and the parts of all calls. */
    List<String> functions() {
        Map<String, List<Call>> functions = new LinkedHashMap<>();
        for (Call each : calls.values()) {
            functions
                    .computeIfAbsent(each.function(), unused -> new ArrayList<>())
                    .add(each);
        }
        if (functions.isEmpty()) {
            return List.of();
        }
        List<String> lines = new ArrayList<>(List.of(ENDS));
        addMissing(lines);
        functions.entrySet().stream()
                .sorted(Comparator.comparingLong((Map.Entry<String, List<Call>> each) -> -total(each.getValue())))
                .forEach(each -> lines.add(function(each.getKey(), each.getValue())));
        return lines;
    }

    private static long total(List<Call> calls) {
        return calls.stream().mapToLong(Call::duration).sum();
    }

    private static String function(String name, List<Call> all) {
        List<Call> ended = all.stream()
                .filter(Call::isMeasured)
                .sorted(Comparator.comparingLong(Call::duration))
                .toList();
        String left = count(all, each -> each.status() != StatusCode.OK, "failed")
                + count(all, each -> each.status() == StatusCode.OK && each.hasEnded() == Known.NO, "not ended")
                + count(
                        all,
                        each -> each.status() == StatusCode.OK && each.hasEnded() == Known.UNKNOWN,
                        "not known to have ended")
                + begunBefore(all);
        if (ended.isEmpty()) {
            return "%s: %s%s".formatted(name, count(all.size(), "call"), left);
        }
        long[] parts = new long[Part.values().length];
        ended.forEach(each -> {
            for (int i = 0; i < parts.length; i++) {
                parts[i] += each.parts()[i];
            }
        });
        return "%s: %s%s, %s, slowest call %d with %s; in all %s"
                .formatted(
                        name,
                        count(all.size(), "call"),
                        left,
                        Percentiles.of(ended.stream().mapToLong(Call::duration)),
                        ended.getLast().number(),
                        Explanation.duration(ended.getLast().duration()),
                        parts(parts));
    }

    private static String begunBefore(List<Call> calls) {
        List<Call> some =
                calls.stream().filter(each -> each.before() == Known.YES).toList();
        long longest = some.stream().mapToLong(Call::duration).max().orElse(0);
        return some.isEmpty()
                ? ""
                : ", %d of them begun before the recording with at least %s"
                        .formatted(some.size(), Explanation.duration(longest));
    }

    private static String count(List<Call> calls, Predicate<Call> which, String what) {
        long count = calls.stream().filter(which).count();
        return count == 0 ? "" : ", %d of them %s".formatted(count, what);
    }

    static String count(long count, String what) {
        return count == 1 ? "1 " + what : "%d %ss".formatted(count, what);
    }

    /**
     * Adds a line for each call whose operations have ended or failed, the slowest first.
     *
     * @param function the function of the calls; empty for all
     * @throws IreeException NOT_FOUND for a function without calls, with the functions of the recording
     */
    void slowest(String function, Lines lines) {
        if (!function.isEmpty()
                && calls.values().stream().noneMatch(each -> each.function().equals(function))) {
            StringJoiner known = new StringJoiner(", ");
            calls.values().stream()
                    .map(Call::function)
                    .distinct()
                    .sorted()
                    .limit(20)
                    .forEach(known::add);
            throw IreeException.of(
                    StatusCode.NOT_FOUND,
                    "the recording has no call of '%s'; it has calls of %s"
                            .formatted(function, known.length() == 0 ? "no function" : known));
        }
        of(function, Known.YES)
                .sorted(Comparator.comparingLong(Call::duration).reversed())
                .forEach(each -> lines.add(() -> line(each)));
    }

    private Stream<Call> of(String function, Known ended) {
        return calls.values().stream()
                .filter(each -> each.hasEnded() == ended
                        && (function.isEmpty() || each.function().equals(function)));
    }

    /** Returns lines about the calls missing in a list of the slowest calls. */
    List<String> leftOut(String function) {
        List<String> lines = new ArrayList<>();
        long unknown = of(function, Known.UNKNOWN).count();
        if (unknown > 0) {
            lines.add(count(unknown, "call") + " not known to have ended");
        }
        lines.add(ENDS);
        addMissing(lines);
        return lines;
    }

    private static String line(Call call) {
        String ended = switch (call.hasEnded()) {
            case YES -> call.status() == StatusCode.OK ? " that ended well" : "";
            case NO -> ", not ended";
            case UNKNOWN -> ", ended or not: records are missing";
        };
        String duration = Explanation.duration(call.duration());
        return "call %d of %s: %s = %s; %s%s%s"
                .formatted(
                        call.number(),
                        call.function(),
                        call.before() == Known.YES
                                ? "began before the recording; at least " + duration
                                : "%s from %s on".formatted(duration, Explanation.duration(call.begin())),
                        parts(call.parts()),
                        count(call.operations().size(), "operation"),
                        call.status() == StatusCode.OK ? "" : ", failed with " + call.status(),
                        ended);
    }

    private static String parts(long[] parts) {
        StringJoiner all = new StringJoiner(" + ");
        for (Part each : Part.values()) {
            if (parts[each.ordinal()] > 0) {
                all.add("%s %s".formatted(Explanation.duration(parts[each.ordinal()]), each.text));
            }
        }
        return all.length() == 0 ? "0" : all.toString();
    }

    /**
     * Returns lines about a call: the waits of a call in progress; the time, the critical path, the operations.
     *
     * @throws IreeException NOT_FOUND for a call without recorded operations that was not in progress
     */
    List<String> explain(long number) {
        Call call = calls.get(number);
        List<String> lines = explanation.openCalls().explainOne(graph, number);
        if (call == null) {
            if (lines.isEmpty()) {
                throw IreeException.of(
                        StatusCode.NOT_FOUND,
                        "the recording has no operations of call %d, and the call was not in progress"
                                .formatted(number));
            }
            return lines;
        }
        lines.add(line(call));
        if (call.hasEnded() == Known.YES && call.status() == StatusCode.OK) {
            lines.add("how the call ended for its caller is not recorded");
        }
        addMissing(lines);
        call.operations().stream()
                .filter(explanation::isEndKnown)
                .max(Comparator.comparingLong(graph::end))
                .ifPresent(last -> {
                    lines.add("critical path, from the last operation of another call or of the host on:");
                    explanation
                            .path(ofCall(CriticalPath.to(graph, last).steps(), call))
                            .forEach(line -> lines.add("  " + line));
                });
        lines.add("operations:");
        for (RecordedOperation each : call.operations()) {
            explanation.explain(each).forEach(line -> lines.add("  " + line));
        }
        return lines;
    }

    /** Returns the last steps of a path: the steps of the call, and the step before, awaited by the call. */
    private static List<CriticalPath.Step> ofCall(List<CriticalPath.Step> steps, Call call) {
        int first = steps.size();
        while (first > 0 && steps.get(first - 1).operation().call() == call.number()) {
            first--;
        }
        return steps.subList(Math.max(0, first - 1), steps.size());
    }

    private void addMissing(List<String> lines) {
        if (!missing().isEmpty()) {
            lines.add(missing());
        }
    }

    /** Returns a caveat about the calls, in words; empty where nothing is missing and there are no calls. */
    String caveat() {
        return calls.isEmpty() ? missing() : missing().isEmpty() ? ENDS : ENDS + "; " + missing();
    }

    /** Returns which operations of the calls may be missing, in words; empty if none. */
    private String missing() {
        StringJoiner all = new StringJoiner("; ");
        long from = graph.recording().header().completeFrom();
        if (from > 0) {
            all.add("records before number %d are missing: calls that began before may have taken longer, or failed"
                    .formatted(from));
        }
        if (calls.values().stream().anyMatch(each -> each.before() == Known.UNKNOWN)) {
            all.add(
                    "calls that began before the recording may have taken longer: a file up to version 5 does not name them");
        }
        if (graph.mayLackLater()) {
            all.add("later records are missing: calls may have taken longer, or failed");
        }
        return all.toString();
    }
}
