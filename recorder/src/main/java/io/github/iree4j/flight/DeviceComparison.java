package io.github.iree4j.flight;

import io.github.iree4j.flight.FlightEvent.Decision;
import io.github.iree4j.flight.RecordedFrontier.Entry;
import io.github.iree4j.hal.schedule.WaitDecision;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Compares a recording with the recording of its replay on devices, as far as the results do not depend on the times
 * when operations ended. Two frontiers are the same if each implies all entries of the other, except for operations
 * ended by then. Confined to one thread.
 */
final class DeviceComparison {
    private final OperationGraph was;
    private final OperationGraph now;
    private final SeenEnds seenThen;
    private final SeenEnds seenNow;
    private final ReplayOrder order;
    private final Map<RecordedOperation, RecordedOperation> standIns;
    private final Map<RecordedOperation, RecordedOperation> originals = new HashMap<>();
    // operations decided by time or by the recording's gaps
    private final Set<RecordedOperation> behind = new HashSet<>();
    private final Set<Long> streams = new HashSet<>(); // recorded axes of streams, there and here
    private final Set<Long> others = new HashSet<>(); // recorded axes of queues ordering more here
    private int notEnded;
    private int waits;
    private int frontiers;
    private int dependOnTime;

    DeviceComparison(OperationGraph was, ReplayOrder order, DeviceReplayRun run, OperationGraph now) {
        this.was = was;
        this.now = now;
        this.seenThen = new SeenEnds(was);
        this.seenNow = new SeenEnds(now);
        this.order = order;
        this.standIns = run.standIns(now);
        standIns.forEach((original, standIn) -> originals.put(standIn, original));
        for (RecordedQueue each : was.recording().queues()) {
            if (!run.isAlone(each) || run.isOnStream(each) && !each.stream()) {
                others.add(each.axis());
            } else if (run.isOnStream(each)) {
                streams.add(each.axis());
            }
        }
    }

    int notEnded() {
        return notEnded;
    }

    int waits() {
        return waits;
    }

    int frontiers() {
        return frontiers;
    }

    int dependOnTime() {
        return dependOnTime;
    }

    /** Compares everything, in the order in which operations were issued. */
    void compare(Consumer<Replay.Difference> differences) {
        List<RecordedOperation> operations = new ArrayList<>(order.operations());
        operations.sort(Comparator.comparingLong(OperationGraph::issueNumber));
        Set<RecordedOperation> displaced = displaced(operations);
        for (RecordedOperation each : operations) {
            RecordedOperation standIn = standIns.get(each);
            if (standIn == null || standIn.over == null) {
                notEnded += each.over == null || order.isCancelled(each) ? 0 : 1;
                behind.add(each);
                continue;
            }
            if (each.over != null && each.status() != standIn.status()) {
                differences.accept(new Replay.Difference(
                        each, "the status", each.status().toString(), standIn.status() + " " + standIn.failure()));
            }
            if (others.contains(each.axis())
                    || displaced.contains(each)
                    || order.gaps().isBehind(each)
                    || isBehind(each, standIn)) {
                behind.add(each);
            }
            boolean compared = compareDecisions(each, standIn, differences);
            if (each.hasRun() && standIn.hasRun()) {
                compared &= compareFrontiers(each, standIn, differences);
            }
            dependOnTime += compared ? 0 : 1;
        }
    }

    /** Returns the operations with other predecessors on the stream than recorded. */
    private Set<RecordedOperation> displaced(List<RecordedOperation> operations) {
        Map<Long, List<RecordedOperation>> byAxis = new HashMap<>();
        for (RecordedOperation each : operations) {
            if (streams.contains(each.axis()) && standIn(each).epoch() > 0) {
                byAxis.computeIfAbsent(each.axis(), axis -> new ArrayList<>()).add(each);
            }
        }
        Set<RecordedOperation> displaced = new HashSet<>();
        for (List<RecordedOperation> each : byAxis.values()) {
            each.sort(Comparator.comparingLong(RecordedOperation::epoch));
            List<RecordedOperation> here = new ArrayList<>(each);
            here.sort(Comparator.comparingLong(operation -> standIn(operation).epoch()));
            Map<RecordedOperation, Integer> places = new HashMap<>();
            here.forEach(operation -> places.put(operation, places.size()));
            int last = -1;
            for (int i = 0; i < each.size(); i++) {
                int place = places.getOrDefault(each.get(i), 0);
                if (place != i || last > place) {
                    displaced.add(each.get(i));
                }
                last = Math.max(last, place);
            }
        }
        return displaced;
    }

    private RecordedOperation standIn(RecordedOperation operation) {
        return standIns.getOrDefault(operation, operation);
    }

    /** Returns whether an operation follows an operation with a frontier decided by time, or has memory and follows the memory's users. */
    private boolean isBehind(RecordedOperation operation, RecordedOperation standIn) {
        if (followsUsers(operation) || followsUsers(standIn)) {
            return true;
        }
        for (RecordedOperation each : was.predecessors(operation)) {
            if (behind.contains(each)) {
                return true;
            }
        }
        for (RecordedOperation each : now.predecessors(standIn)) {
            RecordedOperation original = originals.get(each);
            if (original != null && behind.contains(original)) {
                return true;
            }
        }
        return false;
    }

    private static boolean followsUsers(RecordedOperation operation) {
        return operation.reserved != null && !operation.reserved.marks().isEmpty();
    }

    /** Returns whether all decisions could be compared. */
    private boolean compareDecisions(
            RecordedOperation operation, RecordedOperation standIn, Consumer<Replay.Difference> differences) {
        List<Decision> before = operation.lastDecisions();
        List<Decision> after = standIn.decisions();
        boolean all = true;
        boolean alike =
                areReachedAlike(before, after) && !mayLackEntries(was, operation) && !mayLackEntries(now, standIn);
        for (int i = 0; i < before.size() && i < after.size(); i++) {
            WaitDecision recorded = before.get(i).decision();
            WaitDecision here = after.get(i).decision();
            boolean unknown = isUnknown(operation, i);
            boolean comparable = recorded == WaitDecision.REACHED
                    ? !unknown
                    : alike
                            && here != WaitDecision.REACHED
                            && isWithHardware(recorded)
                            && isWithHardware(here)
                            && streams.contains(operation.axis())
                            && !unknown
                            && !behind.contains(operation)
                            && !isSeenToEnd(operation, standIn, i);
            all &= comparable;
            waits += comparable ? 1 : 0;
            if (comparable && recorded != here) {
                differences.accept(new Replay.Difference(
                        operation, "the decision about wait " + i, recorded.toString(), here.toString()));
            }
        }
        return all;
    }

    /** Returns whether the same waits were reached: an unreached wait may imply another wait, a reached wait may not. */
    private static boolean areReachedAlike(List<Decision> before, List<Decision> after) {
        for (int i = 0; i < before.size() && i < after.size(); i++) {
            if ((before.get(i).decision() == WaitDecision.REACHED)
                    != (after.get(i).decision() == WaitDecision.REACHED)) {
                return false;
            }
        }
        return true;
    }

    /** Returns whether the cause ending a wait is not repeated, or was not seen to end. */
    private boolean isUnknown(RecordedOperation operation, int wait) {
        RecordedOperation producer = was.producer(operation, wait);
        return order.gaps().isUnknown(operation, wait) || producer != null && !producer.hasRun();
    }

    /**
     * Returns whether a decision may rely on a frontier without room for all queues. The lost entries depend on the
     * operations ended by then.
     */
    private static boolean mayLackEntries(OperationGraph graph, RecordedOperation operation) {
        FlightRecording recording = graph.recording();
        return recording.header().frontierCapacity() < recording.queues().size()
                && graph.predecessors(operation).stream()
                        .anyMatch(each -> each.frontier().tainted());
    }

    /**
     * Returns whether the host may have known, there or here, that the awaited operation had ended. A wait is then
     * dropped before the signal, and frontiers no longer name the operation.
     */
    private boolean isSeenToEnd(RecordedOperation operation, RecordedOperation standIn, int wait) {
        RecordedOperation then = was.producer(operation, wait);
        RecordedOperation here = now.producer(standIn, wait);
        return then != null && seenThen.isBefore(then, operation.decided.getLast())
                || here != null && seenNow.isBefore(here, standIn.decided.getFirst());
    }

    /** Returns whether a decision is about work already given to the hardware. */
    private static boolean isWithHardware(WaitDecision decision) {
        return decision.compareTo(WaitDecision.DEVICE_WAIT) <= 0;
    }

    /** Returns whether the frontiers could be compared. */
    private boolean compareFrontiers(
            RecordedOperation operation, RecordedOperation standIn, Consumer<Replay.Difference> differences) {
        if (behind.contains(operation)
                || operation.frontier().tainted()
                || standIn.frontier().tainted()) {
            return false;
        }
        frontiers++;
        RecordedOperation missing = notImplied(was, operation, now, standIn);
        RecordedOperation more = notImplied(now, standIn, was, operation);
        if (missing != null || more != null) {
            differences.accept(
                    new Replay.Difference(operation, "the frontier", named(operation, missing), named(standIn, more)));
        }
        return true;
    }

    private String named(RecordedOperation operation, @Nullable RecordedOperation only) {
        RecordedOperation original = only == null ? null : originals.getOrDefault(only, only);
        return operation.frontier() + (original == null ? "" : ", only there " + original);
    }

    /** Returns an operation named by the first frontier, neither implied by the second nor ended there; null for none. */
    private @Nullable RecordedOperation notImplied(
            OperationGraph one, RecordedOperation operation, OperationGraph other, RecordedOperation counterpart) {
        for (Entry each : operation.frontier().entries()) {
            RecordedOperation named = one.at(each.axis(), each.epoch());
            RecordedOperation there = one == was ? standIns.get(named) : originals.get(named);
            if (named == null || there == null || there.equals(counterpart)) {
                continue; // in a gap, or the operation itself
            }
            boolean implied = there.epoch() > 0 && counterpart.frontier().epochOf(there.axis()) >= there.epoch();
            if (!implied && !hadEnded(there, counterpart, other)) {
                return named;
            }
        }
        return null;
    }

    /**
     * Returns whether the host may have known of the end of an operation before another obtained its frontier: with the
     * place on a stream, or at the end.
     */
    private boolean hadEnded(RecordedOperation ended, RecordedOperation operation, OperationGraph graph) {
        RecordedQueue queue = graph.queue(operation.axis());
        FlightEvent placed = queue != null && queue.stream() ? operation.issued : operation.over;
        return placed != null && (graph == was ? seenThen : seenNow).isBefore(ended, placed);
    }
}
