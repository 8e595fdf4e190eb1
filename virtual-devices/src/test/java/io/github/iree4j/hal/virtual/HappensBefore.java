package io.github.iree4j.hal.virtual;

import static org.assertj.core.api.Assertions.fail;

import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.virtual.RandomProgram.Lookup;
import io.github.iree4j.hal.virtual.RandomProgram.Point;
import io.github.iree4j.hal.virtual.RandomProgram.Reuse;
import io.github.iree4j.hal.virtual.RandomProgram.Step;
import io.github.iree4j.status.Known;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/** Checks all observations of a finished program against its {@link EventOrder}. */
final class HappensBefore {
    private final RandomProgram program;
    private final EventOrder order;

    HappensBefore(RandomProgram program) {
        this.program = program;
        this.order = new EventOrder(program);
    }

    void check() {
        new OutcomeChecks(program, order.signals).check();
        checkWaits();
        order.find();
        for (Event event : order.over) {
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

    // ---- Order of execution.

    /** Nothing started before its waits were reached. */
    private void checkWaits() {
        for (Event event : order.over) {
            if (event.epoch() == 0) {
                fail("ran without an epoch: " + event);
            }
            if (!event.ran) {
                continue; // lost before its turn
            }
            Step step = order.firstOf.get(event);
            if (step != null) {
                for (Point wait : step.waits) {
                    if (!endedBefore(wait, event.started)) {
                        fail("started before " + wait + " was reached: " + step);
                    }
                }
            }
            for (Event before : order.partsBefore(event)) {
                if (!before.isComplete() || before.ended > event.started) {
                    fail("%s%n  started before the end of%n  %s".formatted(event, before));
                }
            }
        }
    }

    private boolean endedBefore(Point wait, long started) {
        for (List<Step> together :
                order.signals.get(wait.timeline()).tailMap(wait.value(), true).values()) {
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

    // ---- Claims of frontiers.

    /** Everything asserted by the frontier happens before the event's end. */
    private void checkClaims(Event event) {
        for (int i = 0; i < event.frontier.size(); i++) {
            TreeMap<Long, Event> timeline = order.byAxis.get(event.frontier.axis(i));
            long epoch = event.frontier.epoch(i);
            if (timeline == null || timeline.lastKey() < epoch) {
                fail("claims epoch %d, never reached by its axis: %s".formatted(epoch, event));
                return;
            }
            for (Event claimed : timeline.headMap(epoch, true).values()) {
                if (!order.runsAfter(event, claimed)) {
                    fail("%s%n  claims to run after%n  %s".formatted(event, claimed));
                }
            }
        }
    }

    /** An event reported as complete has ended, with all predecessors. */
    private void checkCompletion(Event event) {
        if (event.completedBy == 0 || order.isVague()) {
            return;
        }
        long told = program.sequences.get(event.completedBy);
        BitSet before = order.beforeEnd[event.index];
        for (int i = before.nextSetBit(0); i >= 0; i = before.nextSetBit(i + 1)) {
            Event other = program.events.get(i);
            if (!other.isComplete() || other.ended > told) {
                fail("%s%n  had completed before%n  %s".formatted(event, other));
            }
        }
    }

    /**
     * Memory last used by another event was reusable without waiting exactly when the other event had completed, or
     * happens before.
     */
    private void checkReuse(Event event) {
        for (int i = event.covered.nextSetBit(0); i >= 0; i = event.covered.nextSetBit(i + 1)) {
            Event other = program.events.get(i);
            boolean completed = other.completedBy > 0 && other.completedBy <= event.issuedBy;
            if (!completed && !order.runsAfter(event, other)) {
                fail("%s%n  would reuse the memory of%n  %s".formatted(event, other));
            }
        }
        if (program.options.areTight()) {
            for (int i = event.notCovered.nextSetBit(0); i >= 0; i = event.notCovered.nextSetBit(i + 1)) {
                Event other = program.events.get(i);
                if (order.declaredBeforeEnd[event.index].get(i) && !order.isKnownToBeOver(other, event.issuedBy)) {
                    fail("%s%n  would not reuse the memory of%n  %s".formatted(event, other));
                }
            }
        }
    }

    /** Memory with several last users: no taint, no eviction and no completion frees memory too early. */
    private void checkReuse(Reuse reuse) {
        if (!reuse.covered() && !reuse.over()) {
            return;
        }
        Event event = reuse.by();
        if (reuse.unknown()) {
            fail("%s%n would reuse memory with a possible unknown user: %s".formatted(event, reuse.death()));
        }
        for (int i = reuse.users().nextSetBit(0); i >= 0; i = reuse.users().nextSetBit(i + 1)) {
            Event user = program.events.get(i);
            boolean completed = user.completedBy > 0 && user.completedBy <= event.issuedBy;
            if (!completed && (reuse.over() || !order.runsAfter(event, user))) {
                fail("%s%n  would reuse memory because of %s although used by%n  %s"
                        .formatted(event, reuse.death(), user));
            }
        }
    }

    /** A frontier without taint is complete: everything declared and incomplete is known. */
    private void checkTaint(Event event) {
        BitSet declared = order.declaredBeforeEnd[event.index];
        for (int other = declared.nextSetBit(0); other >= 0; other = declared.nextSetBit(other + 1)) {
            Event before = program.events.get(other);
            if (event.frontier.reaches(before.axis(), before.epoch()) == Known.NO
                    && !order.isKnownToBeOver(before, event.knewBy)) {
                fail("%s%n does not know its predecessor%n %s".formatted(event, before));
            }
        }
    }

    /** With sufficient capacity, taint comes from outside only, through a declared dependency: not from neighbours on a queue. */
    private void checkReasonForTaint(Event event) {
        if (!event.frontier.isTainted()
                || order.hearsFromOutside(event)
                || order.behindUnseenTaint.get(event.index)
                || order.beforeEnd[event.index].intersects(order.behindUnseenTaint)) {
            return;
        }
        BitSet declared = order.declaredBeforeEnd[event.index];
        for (int i = declared.nextSetBit(0); i >= 0; i = declared.nextSetBit(i + 1)) {
            if (order.hearsFromOutside(program.events.get(i))) {
                return;
            }
        }
        fail("tainted without reason: " + event);
    }

    /** With sufficient capacity nothing else is known. */
    private void checkTightness(Event event) {
        BitSet declared = order.declaredBeforeEnd[event.index];
        for (int i = 0; i < event.frontier.size(); i++) {
            Event claimed = order.byAxis.get(event.frontier.axis(i)).get(event.frontier.epoch(i));
            if (claimed == null) {
                fail("%s%n knows epoch %d of no event".formatted(event, event.frontier.epoch(i)));
            } else if (claimed != event && !declared.get(claimed.index)) {
                fail("%s%n  knows without a dependency%n  %s".formatted(event, claimed));
            }
        }
    }

    // ---- Lookups of late waiters.

    /**
     * A value gets the frontier of the earliest known signal at or above the value; a short history, or a history of
     * exclusive use by one queue, may have forgotten some reached values.
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
                order.signals.get(point.timeline()).tailMap(point.value(), true).entrySet()) {
            if (reached && each.getKey() > lookup.reached()) {
                break;
            }
            if (lookup.frontier().equals(frontier(each.getValue()))) {
                return;
            }
            if (each.getKey() < first && first < Long.MAX_VALUE) {
                continue; // passed; returned only if the passing event ran after it
            }
            boolean known = reached
                    || each.getValue().size() == 1
                            && isPromisedBy(each.getValue().getFirst(), lookup.action());
            if (known && !mayForget && !isPassed(lookup, each.getValue())) {
                fail("%s of %s, reached %d, is not the frontier of the first signaller: %s"
                        .formatted(lookup.frontier(), point, lookup.reached(), each.getValue()));
            }
        }
        fail("%s of %s, reached %d, is the frontier of no signaller: %s"
                .formatted(lookup.frontier(), point, lookup.reached(), order.signals.get(point.timeline())));
    }

    /**
     * Whether the signal may be unknown: other values of this timeline are reached by hand, signallers never ran, or
     * the timeline had failed before being asked for more than the last promise of a lone queue.
     */
    private boolean isPassed(Lookup lookup, List<Step> together) {
        return program.options.external()
                || lookup.failed()
                || together.stream().anyMatch(step -> step.own.failure() != null);
    }

    private static boolean isPromisedBy(Step step, int action) {
        return step.last.fifo && step.last.issuedBy > 0 && step.last.issuedBy <= action;
    }

    /** At the end each value has the frontier of its signallers. */
    private void checkHistories() {
        for (int i = 0; i < order.signals.size(); i++) {
            TimelineSemaphore timeline = program.timelines.get(i);
            Map<Long, Frontier> expected = new LinkedHashMap<>();
            order.signals.get(i).forEach((value, together) -> expected.put(value, frontier(together)));
            for (Map.Entry<Long, Frontier> each : expected.entrySet()) {
                Frontier found = timeline.frontierAt(each.getKey());
                if (!each.getValue().equals(found)) {
                    fail("value %d of timeline %d has %s instead of %s"
                            .formatted(each.getKey(), i, found, each.getValue()));
                }
            }
        }
    }

    /** The frontier of a point with these signallers: the join of all; of ordered signallers, the later frontier. */
    private Frontier frontier(List<Step> together) {
        Frontier joined = Frontier.EMPTY;
        for (Step step : together) {
            Frontier one = step.last.frontier;
            boolean subsumed = together.stream()
                    .anyMatch(other -> other.last != step.last
                            && other.last.frontier.reaches(one.producerAxis(), one.producerEpoch()) == Known.YES);
            if (!subsumed) {
                joined = joined.size() == 0 || joined.equals(one) ? one : joined.merge(one, Frontier.MAXIMUM_CAPACITY);
            }
        }
        return joined.isTainted() && !joined.hasProducer() ? Frontier.EMPTY : joined;
    }
}
