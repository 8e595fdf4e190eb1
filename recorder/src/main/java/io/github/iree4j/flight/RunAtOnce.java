package io.github.iree4j.flight;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.PriorityQueue;
import java.util.TreeMap;

/**
 * The operations run at once on a queue without order.
 *
 * @param most the most operations that ran at once, at least 1
 * @param isLimit whether the recording shows that the queue runs no more at once; otherwise, memory, waits or the host may
 *     have held the others back
 */
record RunAtOnce(int most, boolean isLimit) {
    /**
     * The shortest notable wait of an issued operation, in nanoseconds: far above the time of a hand-off. A guess, not
     * measured.
     */
    private static final long NOTABLE = 1_000_000;

    /** A queue without operations of a known end. */
    static final RunAtOnce ONE = new RunAtOnce(1, false);

    /**
     * Returns the operations run at once on each queue without order, by the axis of the queue; none for {@link #ONE}.
     */
    static Map<Long, RunAtOnce> of(OperationGraph graph, Explanation explanation) {
        Map<Long, List<RecordedOperation>> byQueue = new HashMap<>();
        for (RecordedOperation each : graph.operations()) {
            RecordedQueue queue = graph.queue(each.axis());
            if (queue != null && !queue.stream() && explanation.isEndKnown(each)) {
                byQueue.computeIfAbsent(each.axis(), unused -> new ArrayList<>())
                        .add(each);
            }
        }
        Map<Long, RunAtOnce> all = new HashMap<>();
        byQueue.forEach((axis, operations) -> all.put(axis, of(graph, explanation, operations)));
        return all;
    }

    private static RunAtOnce of(OperationGraph graph, Explanation explanation, List<RecordedOperation> ended) {
        NavigableMap<Long, Integer> running = running(graph, explanation, ended);
        int most = most(graph, explanation, ended);
        int full = running.values().stream().mapToInt(each -> each).reduce(1, Math::max); // with a duration
        boolean isLimit = ended.stream()
                .filter(each -> each.issued != null)
                .anyMatch(each -> waits(each, begin(graph, explanation, each), running, full));
        return new RunAtOnce(most, isLimit);
    }

    /**
     * Returns the most operations that ran at once. An operation of no duration ran beside all operations begun before,
     * or at the same time if issued earlier: on one lane, the operation would have had to wait for these.
     */
    private static int most(OperationGraph graph, Explanation explanation, List<RecordedOperation> ended) {
        List<RecordedOperation> begun = ended.stream()
                .sorted(Comparator.comparingLong((RecordedOperation each) -> begin(graph, explanation, each))
                        .thenComparingLong(OperationGraph::issueNumber))
                .toList();
        PriorityQueue<Long> ends = new PriorityQueue<>(); // of running operations
        int most = 1;
        for (RecordedOperation each : begun) {
            long begin = begin(graph, explanation, each);
            while (!ends.isEmpty() && ends.peek() <= begin) {
                ends.remove();
            }
            ends.add(graph.end(each));
            most = Math.max(most, ends.size());
        }
        return most;
    }

    private static long begin(OperationGraph graph, Explanation explanation, RecordedOperation operation) {
        return graph.end(operation) - explanation.times(operation).running();
    }

    /** Returns how many operations ran from each change of the number on. */
    private static NavigableMap<Long, Integer> running(
            OperationGraph graph, Explanation explanation, List<RecordedOperation> ended) {
        NavigableMap<Long, Integer> running = new TreeMap<>();
        for (RecordedOperation each : ended) {
            running.merge(begin(graph, explanation, each), 1, Integer::sum);
            running.merge(graph.end(each), -1, Integer::sum);
        }
        int now = 0;
        for (Map.Entry<Long, Integer> each : running.entrySet()) {
            now += each.getValue();
            each.setValue(now);
        }
        return running;
    }

    /** Whether an issued operation waits notably while the most operations run. */
    private static boolean waits(
            RecordedOperation operation, long begin, NavigableMap<Long, Integer> running, int most) {
        long issued = operation.issued == null ? begin : operation.issued.time();
        if (begin - issued < NOTABLE) {
            return false;
        }
        Map.Entry<Long, Integer> first = running.floorEntry(issued);
        boolean isFull = first != null && first.getValue() == most;
        long since = issued;
        for (Map.Entry<Long, Integer> each :
                running.subMap(issued, false, begin, true).entrySet()) {
            if (isFull && each.getKey() - since >= NOTABLE) {
                return true;
            }
            since = isFull ? since : each.getKey();
            isFull = each.getValue() == most;
        }
        return false;
    }
}
