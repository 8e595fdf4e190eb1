package io.github.iree4j.hal.virtual;

import static org.assertj.core.api.Assertions.fail;

import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.virtual.RandomProgram.Event;
import io.github.iree4j.hal.virtual.RandomProgram.Group;
import io.github.iree4j.hal.virtual.RandomProgram.Lookup;
import io.github.iree4j.hal.virtual.RandomProgram.Meeting;
import io.github.iree4j.hal.virtual.RandomProgram.Point;
import io.github.iree4j.hal.virtual.RandomProgram.Reuse;
import io.github.iree4j.hal.virtual.RandomProgram.Step;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

/**
 * Happens-before of one program that has run, by reachability, and checks that all observations agree.
 *
 * <p>Before the end of an event come, of a stream, the end of the one before it; on any other axis the completion of the one
 * before it (epochs are handed out at completion); the end of the signaller of a point that it waits for; for a collective the
 * ends of what its participants did before; and the end of what the host knew to be complete when it was issued. All but the
 * second and the last are declared: a frontier must know them.
 *
 * <p>Where several events signal one timeline independently, a wait was ended by one of those that signal the value or a higher
 * one and had ended when the event started, up to the lowest value that the host then knew to be reached. Claims must follow from
 * these.
 */
final class HappensBefore {
    private final RandomProgram program;
    private final List<Event> over = new ArrayList<>();
    private final Map<Long, TreeMap<Long, Event>> byAxis = new HashMap<>();
    private final Map<Event, Step> firstOf = new HashMap<>();
    private final Map<Event, Step> tailOf = new HashMap<>();
    private final Map<Event, Meeting> meetingOf = new HashMap<>();
    /** The signallers, by timeline and value. */
    private final List<TreeMap<Long, List<Step>>> signals = new ArrayList<>();
    /** The events before each event's end: the indices of events. */
    private final BitSet[] beforeEnd;
    /** The same without what the host knew by chance. */
    private final BitSet[] declaredBeforeEnd;

    /** The direct predecessors of each: those declared, and those that the host or the hardware knew. */
    private final List<List<Event>> declaredBefore = new ArrayList<>();

    private final List<List<Event>> knownBefore = new ArrayList<>();

    /** Events that ended with their device and were possibly on a stream behind an unobserved first part of a collective. */
    private final BitSet behindUnseen = new BitSet();

    /** The events before those first parts. */
    private final BitSet beforeUnseen = new BitSet();

    /** Those of them on a stream behind a first part that waited, directly or not, for an external signal. */
    private final BitSet behindUnseenTaint = new BitSet();

    HappensBefore(RandomProgram program) {
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

    void check() {
        checkOutcomes();
        checkLoss();
        checkRefusals();
        checkWaits();
        findOrder();
        findUnseen();
        for (Event event : over) {
            checkClaims(event);
            checkCompletion(event);
            checkReuse(event);
            if (program.options.arePlain()) {
                checkTaint(event);
            }
            if (program.options.capacity() == 64) {
                checkReasonForTaint(event);
            }
            if (program.options.areFrugal()) {
                checkTightness(event);
            }
        }
        program.reuses.forEach(this::checkReuse);
        program.lookups.forEach(this::checkLookup);
        if (program.options.areTight() && program.whole) {
            checkHistories();
        }
    }

    // ---- Outcomes of the steps.

    /** Everything ended; failures come from waits, the group, the device, or the step itself. */
    private void checkOutcomes() {
        Map<Group, Set<IreeException>> ofGroups = new HashMap<>();
        for (Step step : program.steps) {
            if (step.meeting != null) {
                ofGroups.computeIfAbsent(step.meeting.group, group -> new HashSet<>())
                        .addAll(causes(step));
            }
        }
        for (Step step : program.steps) {
            IreeException outcome = step.own.failure();
            if (outcome == null && !step.own.isReached(1)) {
                fail("never ended: " + step);
            }
            if (outcome == null) {
                if (hasFailedWait(step)) {
                    fail("a wait failed and it did not: " + step);
                }
                if (step.hasFailed()) {
                    fail("failed without failing its signals: " + step);
                }
                if (!step.last.isComplete()) {
                    fail("signalled and never completed: " + step);
                }
            } else {
                Set<IreeException> causes =
                        step.meeting == null ? causes(step) : ofGroups.getOrDefault(step.meeting.group, Set.of());
                if (!causes.contains(outcome)) {
                    fail("failed for no cause of its own or of its waits (" + outcome + "): " + step);
                }
            }
        }
    }

    private Set<IreeException> causes(Step step) {
        Set<IreeException> causes = new HashSet<>();
        for (Point wait : step.waits) {
            IreeException failure = program.timelines.get(wait.timeline()).failure();
            if (failure != null) {
                causes.add(failure);
            }
        }
        if (step.hasFailed() && step.failure != null) {
            causes.add(step.failure);
        }
        boolean onLost = step.device != null && step.device == program.lost;
        boolean withLost = step.meeting != null
                && step.meeting.group.members().stream().anyMatch(member -> member.device() == program.lost);
        if (onLost || withLost && program.lost != null) {
            causes.add(program.loss);
        }
        return causes;
    }

    private boolean hasFailedWait(Step step) {
        for (Point wait : step.waits) {
            TimelineSemaphore timeline = program.timelines.get(wait.timeline());
            if (timeline.failure() != null && timeline.value() < wait.value()) {
                return true;
            }
        }
        return false;
    }

    /** The axes of a lost device have failed with the cause, those of others have not; timelines fail with a root cause. */
    private void checkLoss() {
        for (VirtualDevice device : program.devices) {
            for (int q = 0; q < device.queueCount(); q++) {
                IreeException failure = program.tracker.failure(device.queue(q).axis());
                if (failure != (device == program.lost ? program.loss : null)) {
                    fail("queue %d of %s has failed with %s".formatted(q, device.id(), failure));
                }
            }
        }
        boolean refusals = anyRefused();
        for (TimelineSemaphore timeline : program.timelines) {
            IreeException failure = timeline.failure();
            boolean root = failure == null
                    || failure == program.loss && program.lost != null
                    || failure == program.deadline
                    || refusals && failure.code() == StatusCode.INVALID_ARGUMENT;
            for (Step step : program.steps) {
                root |= step.hasFailed() && step.failure == failure;
            }
            if (!root) {
                fail("timeline failed with a cause that is not a root cause: " + failure);
            }
        }
    }

    /** A late signal, below the value of its timeline, failed the timeline; no other signal is refused. */
    private void checkRefusals() {
        for (int t = 0; t < signals.size(); t++) {
            TimelineSemaphore timeline = program.timelines.get(t);
            for (Map.Entry<Long, List<Step>> each : signals.get(t).entrySet()) {
                if (isRefused(t, each.getKey(), each.getValue()) && timeline.failure() == null) {
                    fail("value %d of timeline %d, which was at %s, was refused without a failure: %s"
                            .formatted(each.getKey(), t, program.reached.get(t).keySet(), each.getValue()));
                }
            }
        }
    }

    private boolean isRefused(int timeline, long value, List<Step> together) {
        return !program.reached.get(timeline).containsKey(value)
                && together.stream().allMatch(step -> step.own.isReached(1));
    }

    private boolean anyRefused() {
        for (int t = 0; t < signals.size(); t++) {
            for (Map.Entry<Long, List<Step>> each : signals.get(t).entrySet()) {
                // Of several signals of one value the first may be refused, and others never come.
                if (!program.reached.get(t).containsKey(each.getKey())
                        && each.getValue().stream().anyMatch(step -> step.own.isReached(1))) {
                    return true;
                }
            }
        }
        return false;
    }

    // ---- Order of execution.

    /** Nothing started before its waits were reached. */
    private void checkWaits() {
        for (Event event : over) {
            if (event.epoch() == 0) {
                fail("ran without an epoch: " + event);
            }
            if (!event.ran) {
                continue; // lost before its turn
            }
            Step step = firstOf.get(event);
            if (step != null) {
                for (Point wait : step.waits) {
                    if (!endedBefore(wait, event.started)) {
                        fail("started before " + wait + " was reached: " + step);
                    }
                }
            }
            for (Event before : partsBefore(event)) {
                if (!before.isComplete() || before.ended > event.started) {
                    fail("%s%n  started before the end of%n  %s".formatted(event, before));
                }
            }
        }
    }

    /** The events that a collective or a tail follows without a wait on a shared timeline. */
    private List<Event> partsBefore(Event event) {
        Meeting meeting = meetingOf.get(event);
        if (meeting != null) {
            return meeting.parts.stream().map(step -> step.first).toList();
        }
        Step tail = tailOf.get(event);
        return tail == null || tail.meeting == null ? List.of() : List.of(tail.meeting.event);
    }

    private boolean endedBefore(Point wait, long started) {
        for (List<Step> together :
                signals.get(wait.timeline()).tailMap(wait.value(), true).values()) {
            if (together.stream().allMatch(step -> step.last.isComplete() && step.last.ended < started)) {
                return true;
            }
        }
        for (Map.Entry<Point, Long> each : program.outside.entrySet()) {
            if (each.getKey().timeline() == wait.timeline()
                    && each.getKey().value() >= wait.value()
                    && each.getValue() < started) {
                return true;
            }
        }
        return false;
    }

    // ---- The truth.

    /** Collects the direct predecessors of each event, and derives all predecessors. */
    private void findOrder() {
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
        // An event that ended with its device may precede one that ended earlier elsewhere, so one pass may not
        // suffice.
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
    private boolean isVague() {
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

    /** The lowest value at or above the one waited for that the host knew to be reached, or promised, when the event was issued. */
    private long knownLimit(Point wait, Event event) {
        Step waiting = firstOf.get(event);
        if (waiting == null || waiting.meeting != null && event.fifo) {
            return Long.MAX_VALUE; // of those only the execution is observed
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

    /** The events that reach a point: the signallers of the smallest value at or above it all of whose signallers ran. */
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

    /** A collective's first part is observed when it runs. One that was lost before may nevertheless have been issued, and inherited. */
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

    private boolean runsAfter(Event event, Event claimed) {
        if (claimed == event || beforeEnd[event.index].get(claimed.index)) {
            return true;
        }
        return beforeUnseen.get(claimed.index)
                && (behindUnseen.get(event.index) || beforeEnd[event.index].intersects(behindUnseen));
    }

    // ---- Claims of frontiers.

    /** Everything that the frontier asserts happens before the event's end. */
    private void checkClaims(Event event) {
        for (int i = 0; i < event.frontier.size(); i++) {
            TreeMap<Long, Event> timeline = byAxis.get(event.frontier.axis(i));
            long epoch = event.frontier.epoch(i);
            if (timeline == null || timeline.lastKey() < epoch) {
                fail("claims epoch %d, which its axis has not reached: %s".formatted(epoch, event));
                return;
            }
            for (Event claimed : timeline.headMap(epoch, true).values()) {
                if (!runsAfter(event, claimed)) {
                    fail("%s%n  claims to run after%n  %s".formatted(event, claimed));
                }
            }
        }
    }

    /** An event reported as complete has ended, with all its predecessors. */
    private void checkCompletion(Event event) {
        if (event.completedBy == 0 || isVague()) {
            return;
        }
        long told = program.sequences.get(event.completedBy);
        BitSet before = beforeEnd[event.index];
        for (int i = before.nextSetBit(0); i >= 0; i = before.nextSetBit(i + 1)) {
            Event other = program.events.get(i);
            if (!other.isComplete() || other.ended > told) {
                fail("%s%n  had completed before%n  %s".formatted(event, other));
            }
        }
    }

    /** Memory last used by another event was reusable without waiting exactly when that had completed, or happens before. */
    private void checkReuse(Event event) {
        for (int i = event.covered.nextSetBit(0); i >= 0; i = event.covered.nextSetBit(i + 1)) {
            Event other = program.events.get(i);
            boolean completed = other.completedBy > 0 && other.completedBy <= event.issuedBy;
            if (!completed && !runsAfter(event, other)) {
                fail("%s%n  would reuse the memory of%n  %s".formatted(event, other));
            }
        }
        if (program.options.areTight()) {
            for (int i = event.notCovered.nextSetBit(0); i >= 0; i = event.notCovered.nextSetBit(i + 1)) {
                Event other = program.events.get(i);
                if (declaredBeforeEnd[event.index].get(i) && !isKnownToBeOver(other, event.issuedBy)) {
                    fail("%s%n  would not reuse the memory of%n  %s".formatted(event, other));
                }
            }
        }
    }

    /** Whether the host could know that it was complete: it, or an event that runs after it, had completed. */
    private boolean isKnownToBeOver(Event event, int action) {
        for (Event other : over) {
            if (other.completedBy > 0
                    && other.completedBy <= action
                    && (other == event || beforeEnd[other.index].get(event.index))) {
                return true;
            }
        }
        return false;
    }

    /** Memory with several last users: no taint, no eviction and no completion makes it free too early. */
    private void checkReuse(Reuse reuse) {
        if (!reuse.covered() && !reuse.over()) {
            return;
        }
        Event event = reuse.by();
        if (reuse.unknown()) {
            fail("%s%n  would reuse memory that may have an unknown user: %s".formatted(event, reuse.death()));
        }
        for (int i = reuse.users().nextSetBit(0); i >= 0; i = reuse.users().nextSetBit(i + 1)) {
            Event user = program.events.get(i);
            boolean completed = user.completedBy > 0 && user.completedBy <= event.issuedBy;
            if (!completed && (reuse.over() || !runsAfter(event, user))) {
                fail("%s%n  would reuse memory because of %s although used by%n  %s"
                        .formatted(event, reuse.death(), user));
            }
        }
    }

    /** A frontier without taint is complete: it knows everything declared and not complete already. */
    private void checkTaint(Event event) {
        if (event.frontier.isTainted()) {
            return;
        }
        BitSet declared = declaredBeforeEnd[event.index];
        for (int other = declared.nextSetBit(0); other >= 0; other = declared.nextSetBit(other + 1)) {
            Event before = program.events.get(other);
            if (!event.frontier.reaches(before.axis(), before.epoch()) && !isKnownToBeOver(before, event.knewBy)) {
                fail("%s%n  does not know that it runs after%n  %s".formatted(event, before));
            }
        }
    }

    /** With sufficient capacity, taint comes from outside only, through a declared dependency: not from neighbours on a queue. */
    private void checkReasonForTaint(Event event) {
        if (!event.frontier.isTainted()
                || hearsFromOutside(event)
                || behindUnseenTaint.get(event.index)
                || beforeEnd[event.index].intersects(behindUnseenTaint)) {
            return;
        }
        BitSet declared = declaredBeforeEnd[event.index];
        for (int i = declared.nextSetBit(0); i >= 0; i = declared.nextSetBit(i + 1)) {
            if (hearsFromOutside(program.events.get(i))) {
                return;
            }
        }
        fail("tainted without reason: " + event);
    }

    /** Whether it waits for an externally signalled timeline. */
    private boolean hearsFromOutside(Event event) {
        Step step = firstOf.get(event);
        return step != null && waitsForOutside(step);
    }

    private boolean waitsForOutside(Step step) {
        return step.waits.stream()
                .anyMatch(wait ->
                        program.fromOutside.stream().anyMatch(outside -> outside.timeline() == wait.timeline()));
    }

    /** With sufficient capacity it knows nothing else. */
    private void checkTightness(Event event) {
        BitSet declared = declaredBeforeEnd[event.index];
        for (int i = 0; i < event.frontier.size(); i++) {
            Event claimed = byAxis.get(event.frontier.axis(i)).get(event.frontier.epoch(i));
            if (claimed == null) {
                fail("%s%n  knows epoch %d, which is not an event".formatted(event, event.frontier.epoch(i)));
            } else if (claimed != event && !declared.get(claimed.index)) {
                fail("%s%n  knows without a dependency%n  %s".formatted(event, claimed));
            }
        }
    }

    // ---- Lookups of late waiters.

    /**
     * A value gets the frontier of the earliest signal at or above it that the timeline knew of; a short history, or one that one queue
     * used alone, may have forgotten some of those that are reached.
     */
    private void checkLookup(Lookup lookup) {
        Point point = lookup.point();
        boolean reached = lookup.reached() >= point.value();
        boolean mayForget = reached && !program.whole;
        if (lookup.frontier().size() == 0) {
            return; // claims nothing
        }
        NavigableMap<Long, Integer> had = program.reached.get(point.timeline()).tailMap(point.value(), true);
        long first = reached && !had.isEmpty() ? had.firstKey() : Long.MAX_VALUE;
        for (Map.Entry<Long, List<Step>> each :
                signals.get(point.timeline()).tailMap(point.value(), true).entrySet()) {
            if (reached && each.getKey() > lookup.reached()) {
                break;
            }
            if (lookup.frontier().equals(frontier(each.getValue()))) {
                return;
            }
            if (each.getKey() < first && first < Long.MAX_VALUE) {
                continue; // passed; returned only if the event that passed it ran after it
            }
            boolean known = reached
                    || each.getValue().size() == 1
                            && isPromisedBy(each.getValue().getFirst(), lookup.action());
            if (known && !mayForget && !isPassed(point.timeline(), each.getValue())) {
                fail("%s of %s, reached %d, is not the frontier of the first to signal it: %s"
                        .formatted(lookup.frontier(), point, lookup.reached(), each.getValue()));
            }
        }
        fail("%s of %s, reached %d, is that of none of its signallers: %s"
                .formatted(lookup.frontier(), point, lookup.reached(), signals.get(point.timeline())));
    }

    /** Whether the signal may be unknown: other values of this timeline are reached by hand, or signallers never ran. */
    private boolean isPassed(int timeline, List<Step> together) {
        return program.options.external()
                || program.options.independent()
                        && program.timelines.get(timeline).failure() != null
                || together.stream().anyMatch(step -> step.own.failure() != null);
    }

    private static boolean isPromisedBy(Step step, int action) {
        return step.last.fifo && step.last.issuedBy > 0 && step.last.issuedBy <= action;
    }

    /** At the end each value has the frontier of its signallers. */
    private void checkHistories() {
        for (int i = 0; i < signals.size(); i++) {
            TimelineSemaphore timeline = program.timelines.get(i);
            Map<Long, Frontier> expected = new LinkedHashMap<>();
            signals.get(i).forEach((value, together) -> expected.put(value, frontier(together)));
            for (Map.Entry<Long, Frontier> each : expected.entrySet()) {
                Frontier found = timeline.frontierAt(each.getKey());
                if (!each.getValue().equals(found)) {
                    fail("value %d of timeline %d has %s instead of %s"
                            .formatted(each.getKey(), i, found, each.getValue()));
                }
            }
        }
    }

    /** The frontier of a point with these signallers: the join of all; of ordered ones, that of the later. */
    private Frontier frontier(List<Step> together) {
        Frontier joined = Frontier.EMPTY;
        for (Step step : together) {
            Frontier one = step.last.frontier;
            boolean subsumed = together.stream()
                    .anyMatch(other -> other.last != step.last
                            && other.last.frontier.reaches(one.producerAxis(), one.producerEpoch()));
            if (!subsumed) {
                joined = joined.size() == 0 || joined.equals(one) ? one : joined.merge(one, Frontier.MAXIMUM_CAPACITY);
            }
        }
        return joined.isTainted() && !joined.hasProducer() ? Frontier.EMPTY : joined;
    }
}
