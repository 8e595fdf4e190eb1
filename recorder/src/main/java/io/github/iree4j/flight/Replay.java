package io.github.iree4j.flight;

import io.github.iree4j.flight.FlightEvent.Decision;
import io.github.iree4j.hal.schedule.WaitDecision;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Repeats a recording on the scheduler, with operations that do nothing: each is submitted, and completes, at its turn
 * in the recorded order. The scheduler decides anew, so the frontiers and decisions are the same unless the scheduler
 * has changed, or the recording lacks a dependency. Time is the time of a virtual clock: the host submits, and observes
 * ends, at the recorded times; the hardware begins an operation as soon as possible, and ends the operation after the
 * recorded running time.
 *
 * <pre>{@code
 * Replay replay = Replay.of(FlightRecording.read(Path.of("main.iree4j")));
 * assert replay.differences().isEmpty() : replay;
 * }</pre>
 *
 * <p>Two frontiers are also the same if only one has an entry for an operation whose end the host was just observing.
 *
 * <p>Not in a recording, and so not repeated: submissions before the recording begins, possibly named by frontiers; the
 * frontiers of host signals, empty here; foreign work awaited by the device; the choice of memory, taken as recorded.
 * An operation with incomplete records is left out.
 *
 * @param operations number of operations repeated
 * @param leftOut number of operations left out
 * @param waits number of waits with compared decisions
 * @param frontiers number of frontiers compared
 * @param behindGaps number of operations without comparison of frontiers and decisions, since these depend on
 *     operations missing in the recording
 * @param ends number of ends compared
 * @param deviation the largest difference, in nanoseconds, between an end on the virtual clock and the recorded end
 * @param reordered number of events not repeatable in the recorded order
 * @param differences the differences, at most {@link #MAXIMUM_DIFFERENCES}
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
    /** The most differences reported. */
    public static final int MAXIMUM_DIFFERENCES = 100;

    /**
     * A difference.
     *
     * @param operation the recorded operation
     * @param what the subject of the difference
     * @param recorded the recorded state
     * @param replayed the state in the replay
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
     * @return the extent of the comparison, and the differences
     * @throws IreeException RESOURCE_EXHAUSTED when the recording is too long for the heap
     */
    public static Replay of(FlightRecording recording) {
        OperationGraph graph = new OperationGraph(recording);
        ReplaySize.check(graph, Runtime.getRuntime().maxMemory());
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
