package io.github.iree4j.lab;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.lab.LabRun.Queue;
import io.github.iree4j.lab.LabRun.Work;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;

/**
 * Checks the rules of every run: an operation starts only when everything in its frontier has ended; every operation
 * ends; the failed operations are exactly the operations hit by a fault and their successors.
 */
final class Invariants {
    /** The most violations reported. */
    private static final int LIMIT = 100;

    private final LabRun run;
    private final Map<Long, Queue> byAxis;
    private final List<String> violations = new ArrayList<>();
    private final List<String> collateral = new ArrayList<>();

    Invariants(LabRun run, Map<Long, Queue> byAxis) {
        this.run = run;
        this.byAxis = byAxis;
        for (Work each : run.works) {
            if (each.end < 0) {
                violated("operation '%s' has not ended".formatted(each.operation.id()));
            } else if (each.start >= 0) {
                checkStart(each);
            }
        }
        checkFailures();
    }

    List<String> violations() {
        return violations;
    }

    List<String> collateral() {
        return collateral;
    }

    private void violated(String what) {
        if (violations.size() < LIMIT) {
            violations.add(what);
        }
    }

    private void checkStart(Work work) {
        Frontier frontier = work.frontier();
        for (int i = 0; i < frontier.size(); i++) {
            Queue queue = byAxis.get(frontier.axis(i));
            if (queue == null) {
                violated("the frontier of operation '%s' has an entry of an unknown queue"
                        .formatted(work.operation.id()));
                continue;
            }
            int epoch = (int) frontier.epoch(i);
            boolean own = epoch == work.epoch && work.equals(queue.issued.get(epoch));
            Map.Entry<Integer, Work> last = queue.issued.floorEntry(own ? epoch - 1 : epoch);
            if (last != null) { // earlier operations of the queue ended before the last
                checkOver(work, last.getValue());
            }
        }
        work.operation.waits().forEach((semaphore, value) -> {
            if (run.isReached(semaphore, value)) { // else the hardware passes the failed wait, and the operation fails
                checkOver(work, run.works.get(run.graph.producer(semaphore, value)));
            }
        });
    }

    private void checkOver(Work work, Work before) {
        boolean neverRan =
                before.start < 0 && before.cause != null; // the place in the order is free; successors fail too
        if (!neverRan && (before.end < 0 || before.end > work.start)) {
            violated("operation '%s' started at tick %d, but the predecessor '%s' ended at %d"
                    .formatted(work.operation.id(), work.start, before.operation.id(), before.end));
        }
    }

    private void checkFailures() {
        BitSet hit = new BitSet();
        BitSet failed = new BitSet();
        for (Work each : run.works) {
            hit.set(each.index, each.faulted);
            failed.set(each.index, each.cause != null);
        }
        for (Work each : run.works) {
            boolean follows = each.faulted || run.graph.before(each.index).intersects(hit);
            if (follows && !failed.get(each.index)) {
                violated("operation '%s' ended well although a fault hit the operation or a predecessor"
                        .formatted(each.operation.id()));
            }
            if (!follows && failed.get(each.index)) {
                if (waitsForFailedTimeline(each, failed)) {
                    collateral.add(each.operation.id());
                } else {
                    violated("operation '%s' failed although no fault hit the operation or a predecessor: %s"
                            .formatted(each.operation.id(), each.cause));
                }
            }
        }
    }

    /** Returns whether a failed operation was to signal a timeline awaited by the operation or a failed predecessor. */
    private boolean waitsForFailedTimeline(Work work, BitSet failed) {
        BitSet path = (BitSet) run.graph.before(work.index).clone();
        path.set(work.index);
        return path.stream()
                .filter(failed::get)
                .anyMatch(each -> run.works.get(each).operation.waits().keySet().stream()
                        .anyMatch(semaphore -> run.graph.signallers(semaphore).values().stream()
                                .anyMatch(failed::get)));
    }
}
