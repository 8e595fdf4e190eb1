package io.github.iree4j.hal.virtual;

import static org.assertj.core.api.Assertions.fail;

import io.github.iree4j.hal.virtual.RandomProgram.Meeting;
import io.github.iree4j.hal.virtual.RandomProgram.Point;
import io.github.iree4j.hal.virtual.RandomProgram.Step;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Happens-before of a finished program, by reachability.
 *
 * <p>Before the end of an event come, of a stream, the end of the previous event; on any other axis the completion of
 * the previous event (epochs are handed out at completion); the end of the signaller of an awaited point; for a
 * collective the ends of its participants' earlier work; and the end of all work known to the host as complete at the
 * issue. All but the second and the last are declared: a frontier must know these.
 *
 * <p>Where several events signal a timeline independently, a wait was ended by an event that signals the value or a
 * higher value and had ended when the event started, up to the lowest value then known to the host as reached. Claims
 * must follow from these.
 */
final class EventOrder {
    private final RandomProgram program;
    final List<Event> over = new ArrayList<>();
    final Map<Long, TreeMap<Long, Event>> byAxis = new HashMap<>();
    final Map<Event, Step> firstOf = new HashMap<>();
    private final Map<Event, Step> tailOf = new HashMap<>();
    private final Map<Event, Meeting> meetingOf = new HashMap<>();
    /** The signallers, by timeline and value. */
    final List<TreeMap<Long, List<Step>>> signals = new ArrayList<>();
    /** The events before each event's end: the indices of events. */
    final BitSet[] beforeEnd;
    /** The same without accidental knowledge of the host. */
    final BitSet[] declaredBeforeEnd;

    /** The direct predecessors of each: the declared events, and the events known to the host or the hardware. */
    private final List<List<Event>> declaredBefore = new ArrayList<>();

    private final List<List<Event>> knownBefore = new ArrayList<>();

    /**
     * Events that ended with their device and were possibly on a stream behind an unobserved first part of a
     * collective.
     */
    private final BitSet behindUnseen = new BitSet();

    /** The events before these first parts. */
    private final BitSet beforeUnseen = new BitSet();

    /** The events on a stream behind a first part that waited, directly or not, for an external signal. */
    final BitSet behindUnseenTaint = new BitSet();

    EventOrder(RandomProgram program) {
        this.program = program;
        int count = program.events.size();
        beforeEnd = new BitSet[count];
        declaredBeforeEnd = new BitSet[count];
        program.timelines.forEach(timeline -> signals.add(new TreeMap<>()));
        for (Step step : program.steps) {
            firstOf.put(step.first, step);
            if (step.meeting != null) {
                meetingOf.put(step.meeting.event, step.meeting);
            }
            if (step.hasTail()) {
                tailOf.put(step.last, step);
            }
            for (Point point : step.signals) {
                signals.get(point.timeline())
                        .computeIfAbsent(point.value(), value -> new ArrayList<>())
                        .add(step);
            }
        }
        for (Event event : program.events) {
            if (event.isComplete()) {
                over.add(event);
                byAxis.computeIfAbsent(event.axis(), axis -> new TreeMap<>()).put(event.epoch(), event);
            }
        }
    }

    /** The events that a collective or a tail follows without a wait on a shared timeline. */
    List<Event> partsBefore(Event event) {
        Meeting meeting = meetingOf.get(event);
        if (meeting != null) {
            return meeting.parts.stream().map(step -> step.first).toList();
        }
        Step tail = tailOf.get(event);
        return tail == null || tail.meeting == null ? List.of() : List.of(tail.meeting.event);
    }

    /** Finds the order. Once all events are known to have begun after their waits. */
    void find() {
        findPredecessors();
        findUnseen();
    }

    /** Collects the direct predecessors of each event, and derives all predecessors. */
    private void findPredecessors() {
        for (Event event : program.events) {
            List<Event> declared = new ArrayList<>(partsBefore(event));
            List<Event> known = new ArrayList<>();
            declaredBefore.add(declared);
            knownBefore.add(known);
            beforeEnd[event.index] = new BitSet();
            declaredBeforeEnd[event.index] = new BitSet();
            if (!event.isComplete()) {
                continue;
            }
            Map.Entry<Long, Event> previous = byAxis.get(event.axis()).lowerEntry(event.epoch());
            if (previous != null) {
                (event.fifo ? declared : known).add(previous.getValue());
            }
            Step step = firstOf.get(event);
            if (step != null) {
                step.waits.forEach(wait -> declared.addAll(endedWait(wait, event)));
            }
            for (Event other : over) {
                if (other.completedBy > 0 && other.completedBy <= event.knewBy && other.ended < event.started) {
                    known.add(other);
                }
            }
        }
        // An event that ended with its device may precede an earlier end elsewhere, so one pass may not suffice.
        List<Event> inOrder = new ArrayList<>(over);
        inOrder.sort(Comparator.comparingLong(event -> event.ended));
        for (boolean changed = true; changed; ) {
            changed = false;
            for (Event event : inOrder) {
                BitSet declared = declaredBeforeEnd[event.index];
                BitSet all = beforeEnd[event.index];
                int before = declared.cardinality() + all.cardinality();
                for (Event other : declaredBefore.get(event.index)) {
                    add(declared, declaredBeforeEnd[other.index], other);
                    add(all, beforeEnd[other.index], other);
                }
                knownBefore.get(event.index).forEach(other -> add(all, beforeEnd[other.index], other));
                changed |= declared.cardinality() + all.cardinality() > before;
            }
        }
        for (Event event : over) {
            if (!isVague() && beforeEnd[event.index].get(event.index)) {
                fail("happens before itself: " + event);
            }
        }
    }

    /** The order of issue of lost, independent signallers is unknown: the predecessors are a superset. */
    boolean isVague() {
        return program.options.loss() && program.options.independent();
    }

    private static void add(BitSet target, BitSet before, Event other) {
        target.or(before);
        target.set(other.index);
    }

    /** The events that ended a wait; where unknown, all candidates. */
    private List<Event> endedWait(Point wait, Event event) {
        if (!program.options.independent()) {
            return firstAtOrAbove(wait);
        }
        long limit = knownLimit(wait, event);
        List<Event> found = new ArrayList<>();
        for (Map.Entry<Long, List<Step>> each :
                signals.get(wait.timeline()).tailMap(wait.value(), true).entrySet()) {
            if (each.getKey() > limit) {
                break;
            }
            List<Event> together =
                    each.getValue().stream().map(step -> step.last).toList();
            boolean promised = together.size() == 1 && together.getFirst().fifo;
            Integer reachedBy = program.reached.get(wait.timeline()).get(each.getKey());
            if (!promised && (reachedBy == null || reachedBy > Math.max(event.knewBy, event.issuedBy))) {
                continue; // unknown before the value is reached
            }
            // An event lost before its turn was issued behind others that may also be lost.
            if (together.stream()
                    .allMatch(other -> other != event
                            && other.isComplete()
                            && (other.ended < event.started || !event.ran && other.issuedBy <= event.issuedBy))) {
                found.addAll(together);
            }
        }
        return found;
    }

    /**
     * The lowest value at or above the awaited value known to the host as reached, or promised, when the event was
     * issued.
     */
    private long knownLimit(Point wait, Event event) {
        Step waiting = firstOf.get(event);
        if (waiting == null || waiting.meeting != null && event.fifo) {
            return Long.MAX_VALUE; // only the execution is observed
        }
        boolean reached = false;
        for (Map.Entry<Long, Integer> each :
                program.reached.get(wait.timeline()).tailMap(wait.value(), true).entrySet()) {
            if (each.getValue() < event.knewBy && program.options.history() == 64) {
                return each.getKey();
            }
            reached |= each.getValue() <= event.knewBy;
        }
        if (!reached && event.fifo) {
            for (Map.Entry<Long, List<Step>> each :
                    signals.get(wait.timeline()).tailMap(wait.value(), true).entrySet()) {
                Event promising = each.getValue().getFirst().last;
                if (each.getValue().size() == 1
                        && promising.fifo
                        && promising.issuedBy > 0
                        && promising.issuedBy < event.issuedBy) {
                    return each.getKey();
                }
            }
        }
        return Long.MAX_VALUE;
    }

    /**
     * The events that reach a point: the signallers of the smallest value at or above the point with all signallers
     * run.
     */
    private List<Event> firstAtOrAbove(Point wait) {
        for (Map.Entry<Long, List<Step>> each :
                signals.get(wait.timeline()).tailMap(wait.value(), true).entrySet()) {
            List<Step> together = each.getValue();
            if (together.stream().allMatch(step -> step.last.isComplete())) {
                for (Point point : program.outside.keySet()) {
                    if (point.timeline() == wait.timeline()
                            && point.value() >= wait.value()
                            && point.value() < each.getKey()) {
                        return List.of();
                    }
                }
                return together.stream().map(step -> step.last).toList();
            }
        }
        return List.of();
    }

    /**
     * A collective's first part is observed at its run. A part lost before may nevertheless have been issued, and
     * inherited.
     */
    private void findUnseen() {
        for (Step step : program.steps) {
            if (step.meeting == null || step.device != program.lost || !step.first.fifo || step.first.isComplete()) {
                continue;
            }
            for (Point wait : step.waits) {
                for (Event producer : program.options.independent() ? allAtOrAbove(wait) : firstAtOrAbove(wait)) {
                    add(beforeUnseen, beforeEnd[producer.index], producer);
                }
            }
            for (Event event : over) {
                if (!event.ran
                        && step.device != null
                        && event.axis() == step.device.queue(step.queue).axis()) {
                    behindUnseen.set(event.index);
                    if (waitsForOutside(step)
                            || beforeUnseen.stream().anyMatch(each -> hearsFromOutside(program.events.get(each)))) {
                        behindUnseenTaint.set(event.index);
                    }
                }
            }
        }
    }

    private List<Event> allAtOrAbove(Point wait) {
        return signals.get(wait.timeline()).tailMap(wait.value(), true).values().stream()
                .flatMap(List::stream)
                .map(step -> step.last)
                .filter(Event::isComplete)
                .toList();
    }

    boolean runsAfter(Event event, Event claimed) {
        if (claimed == event || beforeEnd[event.index].get(claimed.index)) {
            return true;
        }
        return beforeUnseen.get(claimed.index)
                && (behindUnseen.get(event.index) || beforeEnd[event.index].intersects(behindUnseen));
    }

    /** Whether the host could know the event complete: the event, or a later event, had completed. */
    boolean isKnownToBeOver(Event event, int action) {
        for (Event other : over) {
            if (other.completedBy > 0
                    && other.completedBy <= action
                    && (other == event || beforeEnd[other.index].get(event.index))) {
                return true;
            }
        }
        return false;
    }

    /** Whether an event waits for an externally signalled timeline. */
    boolean hearsFromOutside(Event event) {
        Step step = firstOf.get(event);
        return step != null && waitsForOutside(step);
    }

    private boolean waitsForOutside(Step step) {
        return step.waits.stream()
                .anyMatch(wait ->
                        program.fromOutside.stream().anyMatch(outside -> outside.timeline() == wait.timeline()));
    }
}
