package io.github.iree4j.flight;

import io.github.iree4j.flight.FlightEvent.Decision;
import io.github.iree4j.hal.schedule.WaitDecision;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Repeats a recording on the scheduler, with operations that do nothing: each is submitted, and completes, when it is its turn in the order
 * that was recorded. The scheduler decides anew, so the frontiers and decisions are the same unless it has changed, or the recording lacks
 * something that it depended on. Time is that of a virtual clock: the host submits, and learns of ends, when it did then; the hardware begins
 * an operation as soon as it can, and ends it as long after that as it did.
 *
 * <pre>{@code
 * Replay replay = Replay.of(FlightRecording.read(Path.of("main.iree4j")));
 * assert replay.differences().isEmpty() : replay;
 * }</pre>
 *
 * <p>Two frontiers are the same also if only one has an entry for an operation whose end the host was just learning of.
 *
 * <p>Not in a recording, and so not repeated: what was submitted before it begins, which frontiers can name; the frontiers of host signals,
 * which are empty here; foreign work, for which the device waited; the choice of memory, which is taken as recorded. An operation whose
 * records are incomplete is left out.
 *
 * @param operations number of operations that were repeated
 * @param leftOut number of operations that were left out
 * @param waits number of waits whose decisions were compared
 * @param frontiers number of frontiers that were compared
 * @param behindGaps number of operations whose frontiers and decisions were not compared, since they depend on others that the recording
 *     lacks
 * @param ends number of ends that were compared
 * @param deviation by how much, in nanoseconds, an end on the virtual clock differs at most from the recorded one
 * @param reordered number of events that could not be repeated in the recorded order
 * @param differences what differs, at most {@link #MAXIMUM_DIFFERENCES}
 */
public record Replay(
        int operations,
        int leftOut,
        int waits,
        int frontiers,
        int behindGaps,
        int ends,
        long deviation,
        int reordered,
        List<Difference> differences) {
    /** The most differences that are reported. */
    public static final int MAXIMUM_DIFFERENCES = 100;

    /**
     * A difference.
     *
     * @param operation the recorded operation
     * @param what what differs
     * @param recorded as it was recorded
     * @param replayed as it is now
     */
    public record Difference(RecordedOperation operation, String what, String recorded, String replayed) {
        @Override
        public String toString() {
            return "%s: %s was %s, is %s".formatted(operation, what, recorded, replayed);
        }
    }

    /** Copies. */
    public Replay {
        differences = List.copyOf(differences);
    }

    /**
     * Repeats a recording.
     *
     * @param recording the recording
     * @return what was compared, and what differs
     * @throws IreeException RESOURCE_EXHAUSTED when the recording is too long for the heap
     */
    public static Replay of(FlightRecording recording) {
        OperationGraph graph = new OperationGraph(recording);
        graph.checkSizeOfReplay(Runtime.getRuntime().maxMemory());
        ReplayOrder order = new ReplayOrder(graph);
        try (ReplayRun run = new ReplayRun(graph, order)) {
            run.run();
            return compare(graph, order, run);
        }
    }

    private static Replay compare(OperationGraph graph, ReplayOrder order, ReplayRun run) {
        List<Difference> differences = new ArrayList<>();
        int waits = 0;
        int frontiers = 0;
        int behindGaps = 0;
        int ends = 0;
        long deviation = 0;
        FrontierComparison comparison = new FrontierComparison(graph, order);
        List<RecordedOperation> operations = new ArrayList<>(order.operations());
        operations.sort(Comparator.comparingLong(OperationGraph::issueNumber));
        for (RecordedOperation each : operations) {
            StandIn now = run.standIn(each);
            List<WaitDecision> before = decisions(each.decisions());
            List<WaitDecision> after = now.firstDecisions();
            after = ReplayOrder.isRefused(each) && !after.isEmpty() ? after.subList(0, after.size() - 1) : after;
            boolean behind = order.gaps().isBehind(each);
            behindGaps += behind ? 1 : 0;
            if (!before.isEmpty()
                    && !behind
                    && !order.gaps().hasUnknownWait(each)
                    && each.overAt() != RecordedOperation.NEVER) {
                waits += before.size();
                if (!before.equals(after)) {
                    add(differences, new Difference(each, "the decisions", before.toString(), after.toString()));
                }
            }
            if (graph.end(each) != RecordedOperation.NEVER && now.endedAt() != RecordedOperation.NEVER) {
                ends++;
                deviation = Math.max(deviation, Math.abs(now.endedAt() - graph.end(each)));
            }
            if (each.hasRun() && !behind) {
                RecordedFrontier expected = order.translated(each.frontier());
                RecordedFrontier actual = run.frontier(each);
                frontiers++;
                if (!comparison.isSame(expected, actual, each)) {
                    add(differences, new Difference(each, "the frontier", expected.toString(), actual.toString()));
                }
            }
        }
        return new Replay(
                order.operations().size(),
                order.leftOut(),
                waits,
                frontiers,
                behindGaps,
                ends,
                deviation,
                order.reordered() + run.late(),
                differences);
    }

    private static List<WaitDecision> decisions(List<Decision> decisions) {
        return decisions.stream().map(Decision::decision).toList();
    }

    private static void add(List<Difference> all, Difference difference) {
        if (all.size() < MAXIMUM_DIFFERENCES) {
            all.add(difference);
        }
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(
                "%d operations replayed, %d left out; %d decisions, %d frontiers and %d ends compared; ends differ by %s at most"
                        .formatted(operations, leftOut, waits, frontiers, ends, Explanation.duration(deviation)));
        if (behindGaps > 0) {
            text.append("; %d operations depend on some that the recording lacks".formatted(behindGaps));
        }
        if (reordered > 0) {
            text.append("; %d events could not be repeated in their order".formatted(reordered));
        }
        text.append("; ").append(differences.isEmpty() ? "no differences" : differences.size() + " differences:");
        differences.forEach(each -> text.append("\n  ").append(each));
        return text.toString();
    }
}
