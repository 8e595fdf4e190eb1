package io.github.iree4j.flight;

import io.github.iree4j.flight.FlightEvent.Decided;
import io.github.iree4j.flight.FlightEvent.Decision;
import io.github.iree4j.flight.FlightEvent.Point;
import io.github.iree4j.flight.FlightEvent.WaitOver;
import io.github.iree4j.flight.ReplayOrder.Action;
import io.github.iree4j.flight.ReplayOrder.Kind;
import io.github.iree4j.hal.schedule.WaitDecision;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The host's unrecorded signals. Values found reached without a signalling operation were signalled by the host, before
 * the decision or before the end of a wait for the value. A wait that ended before any operation could have signalled
 * the value was ended by the host too, even if the operation failed instead of deciding again.
 */
final class ReplayHostSignals {
    private final OperationGraph graph;
    private final ReplayGaps gaps;
    private final Map<Point, Action> planned = new HashMap<>();
    private final List<Overtaking> overtaking = new ArrayList<>();
    // by timeline and value: the number of the first promise, or completion, of an operation signalling the value or
    // more
    private final Map<Long, NavigableMap<Long, Long>> promises = new HashMap<>();
    private final Map<Long, NavigableMap<Long, Long>> completions = new HashMap<>();

    /**
     * A signal of a promised value.
     *
     * @param found the point
     * @param promised the number of the record of a decision that found the promise
     * @param resumed the number of the record of the resumption that found the value reached
     */
    private record Overtaking(Point found, long promised, long resumed) {}

    ReplayHostSignals(OperationGraph graph, ReplayGaps gaps, List<RecordedOperation> operations) {
        this.graph = graph;
        this.gaps = gaps;
        operations.forEach(this::noteSignals); // an unrepeated operation signals nothing
        promises.values().forEach(ReplayHostSignals::accumulate);
        completions.values().forEach(ReplayHostSignals::accumulate);
        operations.forEach(this::plan);
    }

    /** Returns the signals. */
    Map<Point, Action> planned() {
        return planned;
    }

    private void noteSignals(RecordedOperation operation) {
        for (Point each : operation.attemptedSignals()) {
            FlightEvent completed = operation.isRefused(each) ? null : operation.completed;
            FlightEvent promise = graph.isPromising(operation) ? operation.issued : completed;
            if (completed != null) {
                note(completions, each, completed);
            }
            if (promise != null) {
                note(promises, each, promise);
            }
        }
    }

    private static void note(Map<Long, NavigableMap<Long, Long>> all, Point point, FlightEvent event) {
        all.computeIfAbsent(point.timeline(), unused -> new TreeMap<>())
                .merge(point.value(), event.sequence(), Math::min);
    }

    private static void accumulate(NavigableMap<Long, Long> first) {
        long last = Long.MAX_VALUE;
        for (Map.Entry<Long, Long> each : first.descendingMap().entrySet()) {
            last = Math.min(last, each.getValue());
            each.setValue(last);
        }
    }

    private void plan(RecordedOperation operation) {
        for (int i = 0; i < operation.waits().size(); i++) {
            FlightEvent end = gaps.isUnknown(operation, i) ? endOfWait(operation, i) : null;
            if (end != null) {
                plan(ReplayOrder.unknown(operation, i), end);
            }
        }
        Decided before = null;
        for (Decided decided : operation.decided) {
            for (int i = 0; i < decided.decisions().size(); i++) {
                if (isFoundWithoutProducer(operation, i, decided)) {
                    planFound(operation, i, decided, before);
                }
            }
            before = decided;
        }
        for (WaitOver each : operation.waitsOver) {
            int wait = (int) each.index();
            if (!gaps.isUnknown(operation, wait) && isEndedByHost(operation, each)) {
                plan(operation.waits().get(wait), each);
            }
        }
    }

    private boolean isFoundWithoutProducer(RecordedOperation operation, int wait, Decided decided) {
        Decision decision = decided.decisions().get(wait);
        return decision.decision() == WaitDecision.REACHED
                && decision.value() > 0
                && !gaps.isUnknown(operation, wait)
                && graph.producer(operation, wait) == null;
    }

    /**
     * Plans the signal of a value found reached: before the end of the wait, before the resumption for the decision, or
     * before the first decision.
     *
     * @param before the decision before; null for the first
     */
    private void planFound(RecordedOperation operation, int wait, Decided decided, @Nullable Decided before) {
        Point awaited = operation.waits().get(wait);
        Point found =
                new Point(awaited.timeline(), decided.decisions().get(wait).value());
        WaitOver over = operation.waitOver(wait, decided);
        if (over != null) {
            plan(awaited, over);
            plan(found, decided);
            return;
        }
        WaitOver resumption = resumption(operation, decided);
        plan(found, resumption == null ? decided : resumption);
        if (resumption != null && before != null && before.decisions().get(wait).decision() != WaitDecision.REACHED) {
            overtaking.add(new Overtaking(found, before.sequence(), resumption.sequence()));
        }
    }

    /** Returns whether no operation could have ended a wait, without a decision about the wait afterwards. */
    private boolean isEndedByHost(RecordedOperation operation, WaitOver over) {
        Decided last = operation.decided.isEmpty() ? null : operation.decided.getLast();
        if (last == null || last.sequence() > over.sequence()) {
            return false;
        }
        boolean forPromise = last.decisions().get((int) over.index()).decision() == WaitDecision.DEFERRED_UNKNOWN;
        Point point = operation.waits().get((int) over.index());
        Map.Entry<Long, Long> first = (forPromise ? promises : completions)
                .getOrDefault(point.timeline(), new TreeMap<>())
                .ceilingEntry(point.value());
        return first == null || first.getValue() > over.sequence();
    }

    /**
     * Returns the end of the wait resuming an operation for a decision; null for the first decision. A value found
     * then, without a recorded end of the value's own wait, was promised before: the host signalled before the
     * operation was resumed.
     */
    private static @Nullable WaitOver resumption(RecordedOperation operation, Decided decided) {
        WaitOver last = null;
        for (WaitOver each : operation.waitsOver) {
            boolean isLater = last == null || each.sequence() > last.sequence();
            last = isLater && each.sequence() < decided.sequence() ? each : last;
        }
        return last;
    }

    /**
     * Puts signals overtaking a promise before the actions that resumed the operations finding the values.
     *
     * @param all the actions
     */
    void order(List<Action> all) {
        if (overtaking.isEmpty()) {
            return;
        }
        NavigableMap<Long, List<Action>> byKey = new TreeMap<>();
        all.forEach(each ->
                byKey.computeIfAbsent(each.key, unused -> new ArrayList<>(1)).add(each));
        for (Overtaking each : overtaking) {
            Action signal = planned.get(each.found);
            if (signal != null) {
                byKey.subMap(2 * each.promised, false, 2 * each.resumed, false).descendingMap().values().stream()
                        .filter(some -> some.size() > 1 || some.getFirst() != signal)
                        .findFirst()
                        .ifPresent(causes -> causes.forEach(signal::before));
            }
        }
    }

    /** Returns the first event at which a wait did not hold an operation back; null when the wait always did. */
    private static @Nullable FlightEvent endOfWait(RecordedOperation operation, int wait) {
        for (Decided decided : operation.decided) {
            if (decided.decisions().get(wait).decision().compareTo(WaitDecision.DEVICE_WAIT) <= 0) {
                WaitOver over = operation.waitOver(wait, decided);
                return over == null ? decided : over;
            }
        }
        return operation.waitsOver.stream()
                .filter(over -> over.index() == wait)
                .findFirst()
                .orElse(null);
    }

    /** Plans a signal by the host at a point before an event, if not earlier. */
    private void plan(Point point, FlightEvent before) {
        Action known = planned.get(point);
        long key = 2 * before.sequence() - 1;
        if (known == null || known.key > key) {
            planned.put(point, new Action(Kind.SIGNAL, null, point, key, before.time()));
        }
    }
}
