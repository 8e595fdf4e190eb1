package io.github.iree4j.flight;

import io.github.iree4j.flight.PendingWaits.Wait;
import io.github.iree4j.status.Known;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Finds the open work of a recording that cannot end unless the host acts. Any signal of a value or of a higher value
 * ends a wait, and work ends with the last wait: so ends are followed from the work without waits, and the rest hangs.
 * Work that only may wait, or may have ended, counts as ending. Immutable.
 */
final class Hangs {
    private final List<OpenWork>
            work; // the calls first, the oldest at the beginning; then the operations, as submitted
    private final List<Wait> unsignalled;
    private final List<Wait> signalled;
    private final String missing;

    Hangs(OperationGraph graph, Explanation explanation) {
        List<OpenWork> open = Stream.concat(
                        explanation.openCalls().all().stream().map(each -> OpenWork.of(explanation, each)),
                        explanation.open().stream().map(each -> OpenWork.of(explanation, each)))
                .toList();
        PendingWaits waits = new PendingWaits(waits(open));
        graph.operations().stream()
                .filter(each -> graph.hasEnded(each) != Known.NO)
                .flatMap(each -> each.submitted.signals().stream())
                .forEach(waits::release);
        work = waits.endAllOf(open);
        List<Wait> hanging = waits.remaining();
        PendingWaits bySignallers = new PendingWaits(hanging);
        work.forEach(bySignallers::release);
        unsignalled = bySignallers.remaining();
        missing = explanation.openCalls().missing();
        Set<Wait> without = new HashSet<>(unsignalled);
        signalled = hanging.stream().filter(each -> !without.contains(each)).toList();
    }

    private static List<Wait> waits(List<OpenWork> work) {
        List<Wait> waits = new ArrayList<>();
        work.forEach(waiter -> waiter.waits().forEach(point -> waits.add(new Wait(waiter, point))));
        return waits;
    }

    /** Returns the hanging work: calls, the oldest first, then operations in the order of submission. */
    List<OpenWork> work() {
        return work;
    }

    /** Says which signallers are not in the recording: then no work is known to hang. Empty if all are. */
    String missing() {
        return missing;
    }

    /** Returns the waits of this work for points without a signaller in the recording. */
    List<Wait> unsignalled() {
        return unsignalled;
    }

    /** Returns the waits of this work for points to be signalled by hanging work. */
    List<Wait> signalled() {
        return signalled;
    }
}
