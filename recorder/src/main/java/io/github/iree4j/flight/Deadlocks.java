package io.github.iree4j.flight;

import io.github.iree4j.flight.FlightEvent.Point;
import io.github.iree4j.flight.PendingWaits.Wait;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Finds cycles in the hanging work of a recording: operations and calls waiting for each other. Confined to one thread.
 *
 * <p>Work that would end with the missing signals is removed. Each remaining work has a wait with remaining signallers
 * alone, and the way along these waits ends in a cycle.
 */
final class Deadlocks {
    private final Hangs hangs;
    private final Map<OpenWork, Edge> next = new HashMap<>(); // of the remaining work
    private final Map<OpenWork, Cycle> cycles = new HashMap<>(); // of the remaining work

    /** The work behind a wait. */
    private record Edge(Point point, OpenWork signaller) {}

    /** Work waiting for each other, and the work behind, waiting for some of this work. */
    private record Cycle(List<OpenWork> members, List<OpenWork> behind) {}

    Deadlocks(Hangs hangs) {
        this.hangs = hangs;
    }

    /** Returns a problem for each cycle. */
    Stream<RecordedProblem> find() {
        PendingWaits waits = new PendingWaits(hangs.signalled());
        List<OpenWork> remaining = waits.endAllOf(hangs.work());
        addEdges(remaining, waits.remaining());
        List<Cycle> found = new ArrayList<>();
        // Operations first: a cycle with operations begins with an operation.
        remaining.stream().filter(each -> !each.isCall()).forEach(each -> follow(each, found));
        remaining.stream().filter(OpenWork::isCall).forEach(each -> follow(each, found));
        return found.stream().map(this::problem);
    }

    /** Finds the first wait of each work, and the remaining signaller of the lowest value ending the wait. */
    private void addEdges(List<OpenWork> remaining, List<Wait> waits) {
        Map<OpenWork, Wait> first = new LinkedHashMap<>();
        waits.forEach(each -> first.putIfAbsent(each.waiter(), each));
        PendingWaits pending = new PendingWaits(List.copyOf(first.values()));
        List<Wait> signals = new ArrayList<>(); // of the remaining work
        remaining.forEach(each -> each.signals().forEach(point -> signals.add(new Wait(each, point))));
        signals.sort(Comparator.comparingLong(each -> each.point().value()));
        for (Wait signal : signals) {
            for (Wait each : pending.release(signal.waiter(), signal.point())) {
                next.put(each.waiter(), new Edge(each.point(), signal.waiter()));
            }
        }
    }

    /** Goes from work to a cycle, and counts the work of the way among the cycle's. */
    private void follow(OpenWork from, List<Cycle> found) {
        Map<OpenWork, Integer> positions = new LinkedHashMap<>();
        OpenWork at = from;
        while (!cycles.containsKey(at) && positions.putIfAbsent(at, positions.size()) == null) {
            at = edge(at).signaller();
        }
        List<OpenWork> way = List.copyOf(positions.keySet());
        Cycle cycle = cycles.get(at);
        int behind = way.size();
        if (cycle == null) {
            behind = positions.getOrDefault(at, 0);
            cycle = new Cycle(way.subList(behind, way.size()), new ArrayList<>());
            found.add(cycle);
        }
        cycle.behind().addAll(way.subList(0, behind));
        for (OpenWork each : way) {
            cycles.put(each, cycle);
        }
    }

    private Edge edge(OpenWork work) {
        return Objects.requireNonNull(next.get(work));
    }

    private RecordedProblem problem(Cycle cycle) {
        List<OpenWork> callers =
                cycle.behind().stream().filter(OpenWork::isCall).toList();
        List<OpenWork> all = Stream.of(
                        callers.stream(),
                        cycle.members().stream(),
                        cycle.behind().stream().filter(each -> !each.isCall()))
                .flatMap(each -> each)
                .toList();
        boolean isKnown = hangs.missing().isEmpty();
        return new RecordedProblem(
                isKnown ? "deadlock" : RecordedProblem.UNKNOWN,
                "%s wait for each other%s%s"
                        .formatted(
                                RecordedProblem.count(cycle.members()),
                                isKnown ? "" : "; not known whether others signal: " + hangs.missing(),
                                cycle.behind().isEmpty()
                                        ? ""
                                        : "; waiting for the end of the cycle: "
                                                + RecordedProblem.count(cycle.behind())),
                RecordedProblem.oldest(all),
                RecordedProblem.calls(all),
                links(callers.isEmpty() ? cycle.members().getFirst() : callers.getFirst()),
                RecordedProblem.listed(
                        all.stream().map(each -> each.line(edge(each).point())).toList()),
                "fail one of the awaited timelines, or signal the awaited value from the host; let no operation wait for"
                        + " an operation that waits for its signal");
    }

    /** Returns the way from some work to the cycle and once round the cycle. */
    private List<String> links(OpenWork from) {
        List<String> links = new ArrayList<>(List.of(from.title()));
        Set<OpenWork> passed = new HashSet<>();
        OpenWork at = from;
        while (passed.add(at)) {
            Edge edge = edge(at);
            links.add(at.describe(edge.point()));
            at = edge.signaller();
            links.add(at.title());
        }
        return RecordedProblem.shortened(links);
    }
}
