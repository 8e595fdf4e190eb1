package io.github.iree4j.spring.problems;

import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.spring.problems.WaitGraph.Edge;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Ways over a graph of waiting work, in words: work and awaited points in turn. Confined to one thread.
 *
 * @param graph the graph
 * @param works the work, by the graph's numbers
 */
record ProblemLinks(WaitGraph graph, WaitingWork works) {

    /** The most points of a way. */
    private static final int MOST = 5;

    /** The most operations of a cycle with links. */
    private static final int MOST_IN_CYCLE = 10;

    /** Returns the way from the work that waits last to a point that nothing signals, at last this point. */
    List<String> toMissing(PendingOperation.Wait missing, BitSet waiting) {
        List<Edge> open = new ArrayList<>();
        for (int work = waiting.nextSetBit(0); work >= 0; work = waiting.nextSetBit(work + 1)) {
            int number = work;
            works.waits(work).stream()
                    .filter(wait -> wait.semaphore() == missing.semaphore())
                    .findFirst()
                    .ifPresent(wait -> open.add(new Edge(number, wait)));
        }
        LinkedList<String> links = new LinkedList<>();
        BitSet passed = new BitSet();
        Edge next = best(open, passed);
        for (int i = 0; next != null && i < MOST; i++) {
            links.addFirst(point(next));
            links.addFirst(works.title(next.waiter()));
            passed.set(next.waiter());
            next = best(graph.waiting(next.waiter()), passed);
        }
        return links;
    }

    /** Returns the first work with other work behind, since such work tells more; otherwise the first; null for none. */
    private @Nullable Edge best(List<Edge> edges, BitSet passed) {
        List<Edge> left = edges.stream()
                .filter(each -> each.awaited() != null && !passed.get(each.waiter()))
                .toList();
        return left.stream()
                .filter(each -> graph.waiting(each.waiter()).stream()
                        .anyMatch(behind -> behind.awaited() != null && !passed.get(behind.waiter())))
                .findFirst()
                .orElse(left.isEmpty() ? null : left.getFirst());
    }

    /** Returns the way round a cycle; empty for a long cycle. */
    List<String> round(List<Edge> cycle) {
        List<String> links = new ArrayList<>();
        if (cycle.size() <= MOST_IN_CYCLE) {
            for (Edge each : cycle) {
                links.add(works.title(each.waiter()));
                links.add(point(each));
            }
            links.add("the first operation");
        }
        return links;
    }

    private static String point(Edge edge) {
        PendingOperation.Wait wait = Objects.requireNonNull(edge.awaited());
        return "%s at %d".formatted(PendingOperation.nameOf(wait.semaphore(), wait.timeline()), wait.value());
    }
}
