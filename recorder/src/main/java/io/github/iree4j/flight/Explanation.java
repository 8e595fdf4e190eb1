package io.github.iree4j.flight;

import io.github.iree4j.flight.Dependency.Kind;
import io.github.iree4j.flight.FlightEvent.Decision;
import io.github.iree4j.hal.schedule.WaitDecision;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import java.util.stream.Stream;

/** Explains the time spent by each operation of a recording, and the waits between operations. */
public final class Explanation {
    /** The most problems listed. */
    static final int MOST_PROBLEMS = 20;

    private final OperationGraph graph;
    private final OpenCalls calls;
    private final OperationStates states;
    private final RecordedDispatches dispatches;

    /**
     * The parts of an operation's time, in nanoseconds. The parts follow one another, and add up to the time from the
     * submission to the end.
     *
     * @param waiting until the timelines waited for had reached their values
     * @param memory more, until the operation had memory
     * @param queue more, until the previous operation on its stream had ended, or the backend began the operation
     * @param running until the end
     */
    public record Times(long waiting, long memory, long queue, long running) {
        /**
         * Returns the sum.
         *
         * @return nanoseconds
         */
        public long total() {
            return waiting + memory + queue + running;
        }
    }

    /**
     * Explains the operations of a recording.
     *
     * @param graph the operations
     */
    public Explanation(OperationGraph graph) {
        this.graph = graph;
        this.calls = new OpenCalls(graph.recording());
        this.states = new OperationStates(graph, calls);
        this.dispatches = new RecordedDispatches(graph, this);
    }

    /**
     * Returns the parts of an operation's time.
     *
     * @param operation an operation with a known end
     * @return the times, of a failed operation up to the failure; zeros when the end is not known; all of the time is
     *     waiting where the record of the issue is missing
     */
    public Times times(RecordedOperation operation) {
        long end = graph.endOrFailure(operation);
        if (end == RecordedOperation.NEVER) {
            return new Times(0, 0, 0, 0);
        }
        long submitted = Math.min(operation.submittedAt(), end);
        if (operation.issued == null) {
            FlightEvent.Held hold = states.isHeldForMemory(operation) == Known.YES ? operation.held : null;
            long held = hold == null ? end : Math.clamp(hold.time(), submitted, end);
            return new Times(held - submitted, end - held, 0, 0);
        }
        long waited = submitted;
        long memory = submitted;
        long queue = submitted;
        for (Dependency each : graph.dependencies(operation)) {
            switch (each.kind()) {
                case WAIT -> waited = Math.max(waited, each.available());
                case MEMORY -> memory = Math.max(memory, each.available());
                case QUEUE -> queue = Math.max(queue, each.available());
                case SUBMISSION -> {}
            }
        }
        if (operation.beganAt() != RecordedOperation.NEVER) {
            queue = Math.max(queue, operation.beganAt());
        }
        waited = Math.min(waited, end);
        memory = Math.clamp(memory, waited, end);
        queue = Math.clamp(queue, memory, end);
        return new Times(waited - submitted, memory - waited, queue - memory, end - queue);
    }

    /** Returns the time from when the operation could begin, and the host had decided so, to the end; includes the time threads took to wake up. */
    long readyToEnd(RecordedOperation operation) {
        Dependency last = graph.decisive(operation);
        long ready = last == null ? 0 : last.available();
        if (!operation.decided.isEmpty()) {
            ready = Math.max(ready, operation.decided.getLast().time());
        }
        return Math.max(0, graph.end(operation) - ready);
    }

    /** Returns the dispatches of the sampled operations. */
    RecordedDispatches dispatches() {
        return dispatches;
    }

    boolean isEndKnown(RecordedOperation operation) {
        return graph.end(operation) != RecordedOperation.NEVER;
    }

    /**
     * Explains an operation.
     *
     * @param operation the operation
     * @return lines of text
     */
    public List<String> explain(RecordedOperation operation) {
        List<String> lines = new ArrayList<>();
        String state = state(operation);
        lines.add("%s: %s".formatted(title(operation), state));
        if (operation.moreWaits() > 0) {
            lines.add("  waits for %s without a record: not known whether signalled"
                    .formatted(RecordedCalls.count(operation.moreWaits(), "point")));
        }
        for (int i = 0; i < operation.waits().size(); i++) {
            lines.add("  waits for " + wait(operation, i));
        }
        operation.submitted.signals().stream()
                .filter(point -> calls.isNamed(point, operation.function()) && !operation.isRefused(point))
                .forEach(point -> lines.add("  signals " + calls.describe(point)));
        operation.refusals().forEach(each -> lines.add("  " + states.refusal(each)));
        for (Dependency each : graph.dependencies(operation)) {
            if (each.kind() == Kind.MEMORY) {
                lines.add("  waits for memory%s%s, there at %s"
                        .formatted(
                                each.memory() == 0 ? "" : " of " + memory(each.memory()),
                                each.before() == null ? "" : ", after " + each.before(),
                                duration(each.available())));
            }
        }
        FlightEvent.Reserved reserved = operation.reserved();
        if (reserved != null) {
            lines.add("  has %s: %s".formatted(memory(reserved.reservation()), reuse(reserved)));
        }
        if (!operation.frontier().entries().isEmpty()) {
            lines.add("  runs after " + operation.frontier());
        }
        dispatches.explain(operation).forEach(line -> lines.add("  " + line));
        return lines;
    }

    private String state(RecordedOperation operation) {
        String remark = states.remark(operation);
        if (graph.endOrFailure(operation) == RecordedOperation.NEVER || graph.hasEnded(operation) != Known.YES) {
            return "submitted %s and %s%s".formatted(states.submission(operation), remark, states.age(operation));
        }
        Times times = times(operation);
        StringJoiner parts = new StringJoiner(" + ");
        boolean isUnknown = states.isHeldForMemory(operation) == Known.UNKNOWN;
        part(parts, times.waiting(), isUnknown ? "not known" : "waiting");
        part(parts, times.memory(), "for memory");
        part(parts, times.queue(), "in its queue");
        part(parts, times.running(), "running");
        return "%s from %s on = %s%s"
                .formatted(
                        duration(times.total()),
                        duration(operation.submittedAt()),
                        parts,
                        remark.isEmpty() ? "" : "; " + remark);
    }

    /** Returns how an operation failed, or the state of an operation not known to have ended; empty after success. */
    String remark(RecordedOperation operation) {
        return states.remark(operation);
    }

    /** Returns the known states of failed and open operations. */
    OperationStates states() {
        return states;
    }

    /**
     * Finds the conditions keeping work from advancing when the recording was taken: missing signals, operations
     * waiting for each other, and waiting requests for memory.
     *
     * @return the problems, the oldest first, at most 20
     */
    public List<RecordedProblem> problems() {
        return first(allProblems());
    }

    /** Returns the first problems, at most 20. */
    static List<RecordedProblem> first(List<RecordedProblem> problems) {
        return problems.subList(0, Math.min(problems.size(), MOST_PROBLEMS));
    }

    /** Returns the problems, the oldest first. */
    List<RecordedProblem> allProblems() {
        Hangs hangs = new Hangs(graph, this);
        return Stream.of(
                        new MissingSignals(hangs).find(),
                        new Deadlocks(hangs).find(),
                        UnexplainedHolds.find(graph, this),
                        new MemoryShortages(graph, this).find())
                .flatMap(found -> found)
                .sorted(Comparator.comparingLong(RecordedProblem::age).reversed())
                .toList();
    }

    /** Returns the operations known to be open when the recording was taken, in the order of submission. */
    List<RecordedOperation> open() {
        return graph.operations().stream()
                .filter(each -> graph.hasEnded(each) == Known.NO)
                .toList();
    }

    /** Returns the nanoseconds from a time until the recording was taken. */
    long age(long since) {
        return Math.max(0, graph.takenAt() - since);
    }

    /** Returns an operation in words, with the queue and the call. */
    String title(RecordedOperation operation) {
        return "%s on %s%s".formatted(operation, queue(operation), call(operation));
    }

    /** Returns the calls in progress when the recording was taken, and the names of timelines. */
    OpenCalls openCalls() {
        return calls;
    }

    private static void part(StringJoiner parts, long nanos, String what) {
        if (nanos > 0) {
            parts.add(duration(nanos) + " " + what);
        }
    }

    private String wait(RecordedOperation operation, int index) {
        return calls.describe(operation.waits().get(index)) + ", " + waitState(operation, index);
    }

    /** Names the signaller of an awaited point, and says how the wait ended or is to end. */
    String waitState(RecordedOperation operation, int index) {
        RecordedOperation producer = states.producer(operation, index);
        Known ended = states.isEndedWait(operation, index);
        if (producer == null && ended == Known.UNKNOWN) {
            return "not known whether signalled: records are missing";
        }
        boolean mayBeReached = ended == Known.UNKNOWN && producer != null && graph.hasEnded(producer) == Known.NO;
        String who = producer != null
                ? "%s by %s%s"
                        .formatted(
                                states.signals(operation, index, producer),
                                title(producer),
                                mayBeReached ? ", if not signalled before" : "")
                : ended != Known.YES
                        ? calls.signaller(operation.waits().get(index))
                        : graph.isProducerMissing(operation, index)
                                ? "signalled by " + Dependency.MISSING
                                : states.isSignallerUnknown(operation, index)
                                        ? "signalled by the host, or by another operation"
                                        : "signalled by the host, or before the recording";
        return "%s: %s".formatted(who, how(operation, index));
    }

    private String how(RecordedOperation operation, int index) {
        if (index < operation.decisions().size()) {
            return decision(operation.decisions().get(index));
        }
        return !states.mayLackRecords(operation)
                ? "not decided"
                : states.isReachedAsListed(operation, index) == Known.YES ? "reached" : "the decision is missing";
    }

    private static String decision(Decision decision) {
        return switch (decision.decision()) {
            case REACHED -> "reached at submission";
            case ELIDED_FIFO -> "elided, its producer is earlier on the stream";
            case ELIDED_FRONTIER -> "elided, the stream runs after its producer";
            case COVERED -> "elided, another wait implies it";
            case DEVICE_WAIT -> "the device waits";
            case DEFERRED_UNKNOWN -> "held back by the host until there is a promise";
            case DEFERRED_UNREACHED -> "held back by the host until it is reached";
        };
    }

    /** Returns the queue of an operation, for example {@code local/0}. */
    String queue(RecordedOperation operation) {
        RecordedQueue queue = graph.queue(operation.axis());
        return queue == null ? "an unknown queue" : queue.device() + "/" + queue.index();
    }

    private String call(RecordedOperation operation) {
        if (operation.call() == 0) {
            return "";
        }
        String program = calls.program(operation.call());
        return " by call %d of %s%s"
                .formatted(
                        operation.call(),
                        operation.function(),
                        program.isEmpty() ? "" : " of program '" + program + "'");
    }

    private String memory(long reservation) {
        FlightEvent.Reserved found = graph.memory().reservation(reservation);
        return found == null
                ? "memory " + reservation
                : "memory %d (%d bytes of pool '%s'%s)"
                        .formatted(
                                reservation,
                                found.size(),
                                graph.recording().pools().get(found.pool()).name(),
                                found.consumer().isEmpty() ? "" : " for " + found.consumer());
    }

    private String reuse(FlightEvent.Reserved reserved) {
        FlightEvent.Released before = graph.memory().earlierUse(reserved.reservation());
        String earlier = before == null ? "" : " of memory " + before.reservation();
        return switch (reserved.reuse()) {
            case UNUSED -> before == null ? "no earlier use is recorded" : "its users%s were done".formatted(earlier);
            case COMPLETED -> "its last users%s had completed".formatted(earlier);
            case KNOWN_BEFORE -> "the operation runs after its last users" + earlier;
            case AFTER_WAIT -> "the device waits for its last users" + earlier;
        };
    }

    /**
     * Explains an operation.
     *
     * @param number the operation's number
     * @param most the most lines; the number of further lines is one more line
     * @return lines of text
     * @throws IreeException NOT_FOUND for an operation that is not recorded
     */
    public List<String> operation(long number, int most) {
        RecordedOperation found = graph.operation(number);
        if (found == null) {
            throw IreeException.of(StatusCode.NOT_FOUND, "the recording has no operation " + number);
        }
        Lines lines = new Lines(most);
        explain(found).forEach(lines::add);
        return lines.all();
    }

    /**
     * Explains a call: for a call in progress, the state, the age and the missing signals; the parts of the time, the
     * critical path, and the operations.
     *
     * @param number the call's number
     * @param most the most lines; the number of further lines is one more line
     * @return lines of text
     * @throws IreeException NOT_FOUND for a call without recorded operations that was not in progress
     */
    public List<String> call(long number, int most) {
        Lines lines = new Lines(most);
        new RecordedCalls(graph, this).explain(number).forEach(lines::add);
        return lines.all();
    }

    /**
     * Lists the slowest calls whose operations have ended or failed, each with the parts of the time.
     *
     * @param function the function of the calls; empty for all
     * @param most the most lines; the number of further lines is one more line
     * @return lines of text
     * @throws IreeException NOT_FOUND for a function without calls, with the functions that have calls
     */
    public List<String> slowest(String function, int most) {
        RecordedCalls recorded = new RecordedCalls(graph, this);
        List<String> leftOut = recorded.leftOut(function);
        if (calls.size() > 0) {
            leftOut.addFirst("%d more in progress: see the summary".formatted(calls.size()));
        }
        Lines lines = new Lines(
                most, Math.min(most, Math.max(1, most - leftOut.size()))); // caveats belong to a long list too
        recorded.slowest(function, lines);
        leftOut.forEach(lines::appendix);
        return lines.all();
    }

    /**
     * Explains the whole recording: the calls in progress, the failures, the open operations, the critical path, the
     * functions, and the waits between kinds of operations, with durations.
     *
     * @param most the most lines, a quarter for each part; the number of further lines is one more line
     * @return lines of text
     */
    public List<String> summary(int most) {
        Lines lines = new Lines(most);
        summarize(lines);
        return lines.all();
    }

    /**
     * Explains the whole recording as {@link #summary}, in half of the lines, and then each operation, in the order of
     * submission.
     *
     * @param most the most lines; the number of further lines is one more line
     * @return lines of text
     */
    public List<String> everything(int most) {
        Lines lines = new Lines(most, most / 2);
        summarize(lines);
        lines.appendix("operations:");
        graph.operations().forEach(each -> explain(each).forEach(lines::add));
        return lines.all();
    }

    private void summarize(Lines lines) {
        List<RecordedOperation> operations = graph.operations();
        totals(operations, lines);
        if (calls.size() > 0) {
            lines.part(
                    calls.size() == 1
                            ? "1 call was in progress:"
                            : "%d calls were in progress:".formatted(calls.size()));
            lines.indented(calls.explain(graph));
        }
        operations("failed:", states.failed(), lines);
        operations("not ended:", open(), lines);
        criticalPath(lines);
        List<String> functions = new RecordedCalls(graph, this).functions();
        if (!functions.isEmpty()) {
            lines.part("calls by function:");
            lines.indented(functions);
        }
        whoWaited(operations, lines);
        dispatches.exports(lines);
        lines.part("waits: " + decisions(operations));
    }

    private void totals(List<RecordedOperation> operations, Lines lines) {
        long over = operations.stream()
                .filter(each -> graph.hasEnded(each) == Known.YES)
                .count();
        long failed = states.failed().size();
        lines.add("%d operations, %d ended%s, on %d queues; %d reservations of memory"
                .formatted(
                        operations.size(),
                        over,
                        failed == 0 ? "" : ", %d of them with a failure".formatted(failed),
                        graph.recording().queues().size(),
                        graph.memory().reservations().size()));
        FlightRecording.Header header = graph.recording().header();
        if (!graph.recording().damage().isEmpty()) {
            lines.add(graph.recording().damage());
        } else if (header.completeFrom() > 0 || header.dropped() > 0) {
            StringJoiner missing = new StringJoiner(", and ");
            if (header.completeFrom() > 0) {
                missing.add("records before number %d are incomplete".formatted(header.completeFrom()));
            }
            if (header.dropped() > 0) {
                missing.add("%d later records are missing: ends of operations, and later operations, may be among these"
                        .formatted(header.dropped()));
            }
            lines.add(missing.toString());
        }
        if (!calls.missing().isEmpty()) {
            lines.add(calls.missing());
        }
        long unknown = operations.stream()
                .filter(each -> graph.hasEnded(each) == Known.UNKNOWN)
                .count();
        if (unknown > 0) {
            lines.add("%d operations may have ended: their records are missing".formatted(unknown));
        }
    }

    private void operations(String heading, List<RecordedOperation> some, Lines lines) {
        if (!some.isEmpty()) {
            lines.part(heading);
            some.forEach(each -> lines.indented(explain(each)));
        }
    }

    private void criticalPath(Lines lines) {
        CriticalPath path = CriticalPath.of(graph);
        int steps = path.steps().size();
        StringJoiner missing = new StringJoiner(" and ", ", and perhaps ", " ones: the records are missing");
        missing.setEmptyValue("");
        if (path.mayBeginEarlier(graph)) {
            missing.add("earlier");
        }
        if (graph.mayLackLater()) {
            missing.add("later");
        }
        lines.part("critical path: %s, %d operations%s".formatted(duration(path.duration()), steps, missing));
        int skipped = lines.room() == 0 || steps <= lines.room() ? 0 : steps - lines.room() + 1;
        if (skipped > 0) {
            lines.add("  (%d earlier ones)".formatted(skipped));
        }
        lines.indented(path(path.steps().subList(skipped, steps)));
    }

    private void whoWaited(List<RecordedOperation> operations, Lines lines) {
        Map<String, long[]> waited = new LinkedHashMap<>();
        for (RecordedOperation each : operations) {
            Dependency last = graph.decisive(each);
            if (last != null && last.before() != null && graph.end(each) != RecordedOperation.NEVER) {
                String key = "%s waited for %s%s"
                        .formatted(who(each), who(last.before()), last.kind() == Kind.MEMORY ? "'s memory" : "");
                long[] sum = waited.computeIfAbsent(key, unused -> new long[2]);
                sum[0] += Math.max(0, last.available() - each.submittedAt());
                sum[1]++;
            }
        }
        if (!waited.isEmpty()) {
            lines.part("who waited for whom:");
        }
        waited.entrySet().stream()
                .sorted((left, right) -> Long.compare(right.getValue()[0], left.getValue()[0]))
                .forEach(each -> lines.add(() -> "  %s  %s, %d times"
                        .formatted(duration(each.getValue()[0]), each.getKey(), each.getValue()[1])));
    }

    /** Returns a line for each step of a path. */
    List<String> path(List<CriticalPath.Step> steps) {
        return steps.stream()
                .map(step -> "%s  %s on %s%s, %s"
                        .formatted(
                                duration(step.end() - step.begin()),
                                step.operation(),
                                queue(step.operation()),
                                call(step.operation()),
                                after(step.after())))
                .toList();
    }

    private static String who(RecordedOperation operation) {
        return operation.function().isEmpty()
                ? operation.name()
                : "%s of %s".formatted(operation.name(), operation.function());
    }

    private String after(Dependency after) {
        String before = after.missing() ? Dependency.MISSING : after.before() == null ? "" : after.before() + "";
        return switch (after.kind()) {
            case SUBMISSION -> "when it was submitted";
            case WAIT ->
                "after %s %s"
                        .formatted(
                                before.isEmpty() ? "the host's signal of" : before + " signalled",
                                calls.describe(after.point()));
            case QUEUE -> "behind " + before + " in its queue";
            case MEMORY -> "when there was memory" + (before.isEmpty() ? "" : " of " + before);
        };
    }

    private static String decisions(List<RecordedOperation> operations) {
        long[] counts = new long[WaitDecision.values().length];
        for (RecordedOperation each : operations) {
            each.decisions().forEach(decision -> counts[decision.decision().ordinal()]++);
        }
        StringJoiner all = new StringJoiner(", ");
        for (WaitDecision decision : WaitDecision.values()) {
            if (counts[decision.ordinal()] > 0) {
                all.add("%d %s"
                        .formatted(
                                counts[decision.ordinal()],
                                decision.name().toLowerCase(Locale.ROOT).replace('_', ' ')));
            }
        }
        return all.length() == 0 ? "none" : all.toString();
    }

    /**
     * Writes a duration for people.
     *
     * @param nanos nanoseconds
     * @return for example {@code 1.250 ms}
     */
    public static String duration(long nanos) {
        return nanos < 1_000_000
                ? String.format(Locale.ROOT, "%.3f us", nanos / 1e3)
                : nanos < 1_000_000_000
                        ? String.format(Locale.ROOT, "%.3f ms", nanos / 1e6)
                        : String.format(Locale.ROOT, "%.3f s", nanos / 1e9);
    }
}
