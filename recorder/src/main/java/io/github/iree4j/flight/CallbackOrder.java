package io.github.iree4j.flight;

import io.github.iree4j.flight.FlightEvent.Decided;
import io.github.iree4j.flight.FlightEvent.Decision;
import io.github.iree4j.flight.FlightEvent.Point;
import io.github.iree4j.flight.FlightEvent.WaitOver;
import io.github.iree4j.flight.ReplayOrder.Action;
import io.github.iree4j.hal.schedule.WaitDecision;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The places of the application's signals and submissions among the callbacks of the scheduler.
 *
 * <p>A thread runs callbacks first in, first out. A callback of the scheduler resumes an operation, or ends an
 * operation already run: the operation's turn. The cause of a queued turn is either recorded, the promise or signal
 * waited for, or an unrecorded signal of the host. Suppose a turn caused by the host came before a turn already queued
 * by an operation. Then the host had signalled before this operation queued the turn. A replay signals immediately
 * before, or as soon as the earlier turns are queued. Nothing else is queued meanwhile, and no decision about the value
 * is made, so every time in between is equally good. A submission is recorded at the time of the call: if a later turn
 * was queued at this time, the submission was made in a callback before the next turn. Where no such turn waited, the
 * signal or submission came after all other work of the thread, and is a separate action.
 *
 * <p>Exact for a single thread. Records do not distinguish threads: with several threads, a signal may come in another
 * thread's turn. Immutable.
 */
final class CallbackOrder {
    /**
     * A signal of the host, repeated in the middle of another action.
     *
     * @param action the signal
     * @param after the sequence number of an event that must come first: the signal's value was found open, or an
     *     earlier turn was queued; 0 for none
     */
    record Signal(Action action, long after) {}

    /**
     * The turn of a resuming or ending operation.
     *
     * @param sequence the sequence number of the first event
     * @param signal the signal of the host that queued the turn; null for an operation
     * @param point the wait that has ended
     * @param cause the cause that queued the turn; UNKNOWN for the host
     */
    private record Turn(long sequence, @Nullable Action signal, Point point, Cause cause) {}

    /**
     * The cause of a queued turn: an operation's promise, following the issue, or an operation's signals, between the
     * completion, or a late end, and the recorded end.
     *
     * @param from the sequence number of the event before
     * @param done the sequence number of the event after; for a promise the event before
     */
    private record Cause(long from, long done) {}

    private static final Cause UNKNOWN = new Cause(Long.MAX_VALUE, 0);

    private final OperationGraph graph;
    // for each operation ended in a separate turn, the wait
    private final Map<RecordedOperation, Integer> late = new HashMap<>();
    private final Map<Long, List<Signal>> signals = new HashMap<>(); // by event before
    private final Map<Action, Deque<Action>> before = new HashMap<>(); // signals given before others
    private final Map<Long, List<Action>> submits = new HashMap<>(); // by event before

    CallbackOrder(
            OperationGraph graph,
            List<RecordedOperation> operations,
            Map<Point, Action> hostSignals,
            Iterable<Action> submissions) {
        this.graph = graph;
        Map<Long, TreeMap<Long, Action>> given = firstFrom(hostSignals);
        List<Turn> all = new ArrayList<>();
        for (RecordedOperation each : operations) {
            int wait = graph.lateWait(each);
            if (wait >= 0) {
                late.put(each, wait);
            }
        }
        late.forEach((each, wait) -> {
            RecordedOperation producer = graph.producer(each, wait);
            if (each.over != null && producer != null) {
                all.add(new Turn(each.over.sequence(), null, each.waits().get(wait), ended(producer)));
            }
        });
        // by timeline and value: the last time when the value was found open
        Map<Long, TreeMap<Long, Long>> open = new HashMap<>();
        for (RecordedOperation each : operations) {
            for (WaitOver over : each.waitsOver) {
                Point point = each.waits().get((int) over.index());
                Map.Entry<Long, Action> first = hostSignals.containsKey(point)
                        ? given.getOrDefault(point.timeline(), new TreeMap<>()).ceilingEntry(point.value())
                        : null;
                // a signal planned after the end of the wait did not end the wait: a promise did
                Action signal = first == null || first.getValue().key > 2 * over.sequence() ? null : first.getValue();
                all.add(new Turn(over.sequence(), signal, point, signal == null ? cause(each, over) : UNKNOWN));
            }
            each.decided.forEach(decided -> noteOpen(each, decided, open));
        }
        open.values().forEach(CallbackOrder::accumulate);
        all.sort(Comparator.comparingLong(Turn::sequence));
        placeSignals(all, open);
        long[] queuedBy = queuedBy(all);
        for (Action each : submissions) {
            placeSubmission(each, all, queuedBy);
        }
        signals.values().forEach(each -> each.sort(Comparator.comparingLong(signal -> signal.action().key)));
        submits.values().forEach(each -> each.sort(Comparator.comparingLong(action -> action.key)));
    }

    /** Returns the signals of the host by timeline and value: the first of the signals for the value and for higher values. */
    private static Map<Long, TreeMap<Long, Action>> firstFrom(Map<Point, Action> hostSignals) {
        Map<Long, TreeMap<Long, Action>> all = new HashMap<>();
        hostSignals.forEach((point, action) ->
                all.computeIfAbsent(point.timeline(), unused -> new TreeMap<>()).put(point.value(), action));
        for (TreeMap<Long, Action> each : all.values()) {
            Action first = null;
            for (Map.Entry<Long, Action> next : each.descendingMap().entrySet()) {
                first = first == null || next.getValue().key < first.key ? next.getValue() : first;
                next.setValue(first);
            }
        }
        return all;
    }

    private static void noteOpen(RecordedOperation operation, Decided decided, Map<Long, TreeMap<Long, Long>> open) {
        for (int i = 0; i < decided.decisions().size(); i++) {
            if (decided.decisions().get(i).decision().compareTo(WaitDecision.DEVICE_WAIT) > 0) {
                Point point = operation.waits().get(i);
                open.computeIfAbsent(point.timeline(), unused -> new TreeMap<>())
                        .merge(point.value(), decided.sequence(), Math::max);
            }
        }
    }

    /** Extends openness to higher values: a value is open as long as a lower value is. */
    private static void accumulate(TreeMap<Long, Long> lastOpen) {
        long last = 0;
        for (Map.Entry<Long, Long> each : lastOpen.entrySet()) {
            last = Math.max(last, each.getValue());
            each.setValue(last);
        }
    }

    private Cause cause(RecordedOperation operation, WaitOver over) {
        Decided before = null;
        Decided after = null;
        for (Decided each : operation.decided) {
            before = each.sequence() < over.sequence() ? each : before;
            after = after == null && each.sequence() > over.sequence() ? each : after;
        }
        if (before == null || after == null) {
            return UNKNOWN;
        }
        Decision found = after.decisions().get((int) over.index());
        RecordedOperation producer = graph.signaller(found);
        if (producer == null) {
            return UNKNOWN;
        }
        RecordedQueue queue = graph.queue(operation.axis());
        RecordedQueue other = graph.queue(producer.axis());
        boolean promised = before.decisions().get((int) over.index()).decision() == WaitDecision.DEFERRED_UNKNOWN
                && queue != null
                && queue.stream()
                && other != null
                && other.stream();
        if (promised && producer.issued != null) {
            return new Cause(producer.issued.sequence(), producer.issued.sequence());
        }
        return ended(producer);
    }

    private Cause ended(RecordedOperation producer) {
        if (producer.completed == null || producer.over == null) {
            return UNKNOWN;
        }
        long over = producer.over.sequence();
        return new Cause(late.containsKey(producer) ? over : producer.completed.sequence(), over);
    }

    private void placeSignals(List<Turn> all, Map<Long, TreeMap<Long, Long>> open) {
        Map<Action, Turn> first = new HashMap<>();
        Map<Action, Long> done = new HashMap<>();
        long last = 0;
        for (Turn each : all) {
            if (each.signal == null) {
                last = Math.max(last, each.cause.done);
            } else if (first.putIfAbsent(each.signal, each) == null) {
                done.put(each.signal, last);
            }
        }
        Turn next = null; // the next turn queued by an operation
        Action given = null; // the signal of the host with the smallest key for a turn before the next turn
        for (int i = all.size() - 1; i >= 0; i--) {
            Turn each = all.get(i);
            Action signal = each.signal;
            if (signal == null) {
                next = each.cause.equals(UNKNOWN) ? next : each;
                given = each.cause.equals(UNKNOWN) ? given : null;
                continue;
            }
            if (!each.equals(first.get(signal))) {
                continue;
            }
            Action behind = given;
            given = given == null || signal.key <= given.key ? signal : given; // of equal keys the earlier turn
            if (behind != null && behind.key < 2 * each.sequence() - 1) {
                before.computeIfAbsent(behind, unused -> new ArrayDeque<>()).addFirst(signal);
                continue;
            }
            if (next == null || next.cause.from >= each.sequence()) {
                continue;
            }
            Map.Entry<Long, Long> lastOpen =
                    open.getOrDefault(each.point.timeline(), new TreeMap<>()).floorEntry(each.point.value());
            long after = Math.max(done.getOrDefault(signal, 0L), lastOpen == null ? 0 : lastOpen.getValue());
            signals.computeIfAbsent(next.cause.from, unused -> new ArrayList<>())
                    .add(new Signal(signal, after));
        }
    }

    /**
     * Returns for each turn the smallest key by which this turn or a turn behind had been queued, up to the first turn
     * queued by an operation: turns behind came later.
     */
    private static long[] queuedBy(List<Turn> all) {
        long[] keys = new long[all.size() + 1];
        keys[all.size()] = Long.MAX_VALUE;
        for (int i = all.size() - 1; i >= 0; i--) {
            Turn each = all.get(i);
            keys[i] = each.signal != null
                    ? Math.min(each.signal.key, keys[i + 1])
                    : each.cause.equals(UNKNOWN) ? keys[i + 1] : 2 * each.cause.from;
        }
        return keys;
    }

    private void placeSubmission(Action submission, List<Turn> all, long[] queuedBy) {
        int low = 0;
        for (int high = all.size(); low < high; ) {
            int middle = (low + high) >>> 1;
            if (2 * all.get(middle).sequence() > submission.key) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        if (queuedBy[low] < submission.key) {
            submits.computeIfAbsent(all.get(low).sequence(), unused -> new ArrayList<>())
                    .add(submission);
        }
    }

    /** Returns the signals given before the next operation was queued, at the event with this number or later. */
    List<Signal> signalsFrom(long sequence) {
        return signals.getOrDefault(sequence, List.of());
    }

    /** Returns the signals of the host given before another signal. */
    Iterable<Action> signalsBefore(Action signal) {
        Deque<Action> all = before.get(signal);
        return all == null ? List.of() : all;
    }

    /** Returns the operations submitted before the end of a wait, reported by the event with this number. */
    List<Action> submissionsBefore(long sequence) {
        return submits.getOrDefault(sequence, List.of());
    }
}
