package io.github.iree4j.flight;

import io.github.iree4j.flight.OpenCalls.Awaited;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * Finds the open operations of a recording that wait for each other. Confined to one thread.
 *
 * <p>Operations not waiting for an open operation are removed, then operations waiting only for removed operations, and
 * so on. Each remaining operation waits for a remaining operation, and the way along the first of these waits ends in a
 * cycle. Each operation is removed or passed once: the time is proportional to the number of waits.
 */
final class Deadlocks {
    private final Explanation explanation;
    private final Map<RecordedOperation, Awaited> next = new LinkedHashMap<>(); // of the remaining, as submitted
    private final Map<RecordedOperation, Cycle> cycles = new HashMap<>(); // of the remaining

    /** A call behind a cycle. */
    private record Caller(FlightEvent.Call call, Awaited first) {}

    /** Operations that wait for each other, and the calls, the oldest first, and operations that wait for one of the operations. */
    private record Cycle(List<RecordedOperation> operations, List<Caller> callers, List<RecordedOperation> behind) {}

    Deadlocks(Explanation explanation) {
        this.explanation = explanation;
    }

    /** Returns a problem for each cycle. */
    Stream<RecordedProblem> find() {
        keepWhatCannotEnd();
        List<Cycle> found = new ArrayList<>();
        for (RecordedOperation each : next.keySet()) {
            follow(each, found);
        }
        if (found.isEmpty()) {
            return Stream.empty();
        }
        for (OpenCalls.Waiting each : explanation.inProgress(OpenRecords.MAXIMUM)) {
            each.waits().stream()
                    .filter(wait -> cycles.containsKey(wait.signaller()))
                    .findFirst()
                    .ifPresent(wait -> Objects.requireNonNull(cycles.get(wait.signaller()))
                            .callers()
                            .add(new Caller(each.call(), wait)));
        }
        return found.stream().map(this::problem);
    }

    private void keepWhatCannotEnd() {
        List<RecordedOperation> open = explanation.open();
        Set<RecordedOperation> remaining = new HashSet<>(open);
        Map<RecordedOperation, List<Awaited>> waits = new HashMap<>();
        Map<RecordedOperation, List<RecordedOperation>> waiters = new HashMap<>();
        Map<RecordedOperation, Integer> left = new HashMap<>(); // waits for remaining operations
        Deque<RecordedOperation> removed = new ArrayDeque<>();
        for (RecordedOperation each : open) {
            List<Awaited> forOpen = explanation.states().awaited(each).stream()
                    .filter(wait -> remaining.contains(wait.signaller()))
                    .toList();
            waits.put(each, forOpen);
            forOpen.forEach(wait -> waiters.computeIfAbsent(wait.signaller(), unused -> new ArrayList<>())
                    .add(each));
            left.put(each, forOpen.size());
            if (forOpen.isEmpty()) {
                removed.add(each);
            }
        }
        while (!removed.isEmpty()) {
            RecordedOperation each = removed.remove();
            remaining.remove(each);
            for (RecordedOperation waiter : waiters.getOrDefault(each, List.of())) {
                if (left.merge(waiter, -1, Integer::sum) == 0) {
                    removed.add(waiter);
                }
            }
        }
        for (RecordedOperation each : open) {
            if (remaining.contains(each)) {
                waits.getOrDefault(each, List.of()).stream()
                        .filter(wait -> remaining.contains(wait.signaller()))
                        .findFirst()
                        .ifPresent(wait -> next.put(each, wait));
            }
        }
    }

    /** Goes from an operation to a cycle, and counts the operations of the way among the cycle's. */
    private void follow(RecordedOperation from, List<Cycle> found) {
        Map<RecordedOperation, Integer> positions = new LinkedHashMap<>();
        RecordedOperation at = from;
        while (!cycles.containsKey(at) && positions.putIfAbsent(at, positions.size()) == null) {
            at = signaller(at);
        }
        List<RecordedOperation> way = List.copyOf(positions.keySet());
        Cycle cycle = cycles.get(at);
        int behind = way.size();
        if (cycle == null) {
            behind = positions.getOrDefault(at, 0);
            cycle = new Cycle(way.subList(behind, way.size()), new ArrayList<>(), new ArrayList<>());
            found.add(cycle);
        }
        cycle.behind().addAll(way.subList(0, behind));
        for (RecordedOperation each : way) {
            cycles.put(each, cycle);
        }
    }

    private Awaited wait(RecordedOperation operation) {
        return Objects.requireNonNull(next.get(operation));
    }

    private RecordedOperation signaller(RecordedOperation operation) {
        return Objects.requireNonNull(wait(operation).signaller());
    }

    private RecordedProblem problem(Cycle cycle) {
        int calls = cycle.callers().size();
        int behind = cycle.behind().size();
        OperationStates states = explanation.states();
        List<RecordedOperation> operations = Stream.concat(cycle.operations().stream(), cycle.behind().stream())
                .toList();
        List<String> chain = new ArrayList<>();
        long age = 0;
        for (Caller each : cycle.callers()) {
            age = Math.max(age, each.call().age());
            chain.add(line(
                    OpenCalls.title(each.call()),
                    Explanation.duration(each.call().age()),
                    each.first()));
        }
        for (RecordedOperation each : operations) {
            age = Math.max(age, states.waited(each));
            chain.add(line(explanation.title(each), states.waiting(each), wait(each)));
        }
        return new RecordedProblem(
                "deadlock",
                "%d operations wait for each other%s"
                        .formatted(
                                cycle.operations().size(),
                                calls + behind == 0
                                        ? ""
                                        : "; waiting for the end of the cycle: "
                                                + RecordedProblem.count(calls, behind)),
                age,
                RecordedProblem.calls(LongStream.concat(
                        cycle.callers().stream().mapToLong(each -> each.call().call()),
                        operations.stream().mapToLong(RecordedOperation::call))),
                links(cycle),
                RecordedProblem.listed(chain),
                "fail one of the awaited timelines, or signal the awaited value from the host; let no operation wait for"
                        + " an operation that waits for its signal");
    }

    private static String line(String who, String waited, Awaited wait) {
        return "%s, has waited %s for %s".formatted(who, waited, wait.point());
    }

    /** Returns the way from the oldest waiting call, or else from the cycle's first operation, once round the cycle. */
    private List<String> links(Cycle cycle) {
        List<String> links = new ArrayList<>();
        RecordedOperation at = cycle.operations().getFirst();
        if (!cycle.callers().isEmpty()) {
            Caller oldest = cycle.callers().getFirst();
            links.add(OpenCalls.title(oldest.call()));
            links.add(oldest.first().point());
            at = Objects.requireNonNull(oldest.first().signaller());
        }
        Set<RecordedOperation> passed = new HashSet<>();
        links.add(explanation.title(at));
        while (passed.add(at)) {
            links.add(wait(at).point());
            at = signaller(at);
            links.add(explanation.title(at));
        }
        return RecordedProblem.shortened(links);
    }
}
