package io.github.iree4j.hal.schedule;

import io.github.iree4j.hal.QueueCounters;
import java.util.concurrent.atomic.LongAdder;

/** The counts of a queue's waits and operations since the queue was created. */
final class WorkCounts {
    // Waits, by decision.
    final LongAdder reached = new LongAdder();
    final LongAdder elidedFifo = new LongAdder();
    final LongAdder elidedFrontier = new LongAdder();
    final LongAdder deviceWaits = new LongAdder();
    final LongAdder deferred = new LongAdder();
    final LongAdder covered = new LongAdder();

    final LongAdder heldBackNanos = new LongAdder();
    final LongAdder refused = new LongAdder(); // failed before issue
    final LongAdder failed = new LongAdder();
    final OperationParts.Totals inParts = new OperationParts.Totals();

    /**
     * Returns the counts now.
     *
     * @param retired completed operations that ran; read before the other arguments
     * @param inFlight operations issued and incomplete, without parts
     * @param pending operations waiting to be issued, with operations of which a part waits
     * @param pendingParts operations of which a part waits
     */
    QueueCounters snapshot(long retired, long inFlight, long pending, long pendingParts) {
        long inFlightNow = inFlight + Math.max(0, inParts.begun.sum() - inParts.over.sum() - pendingParts);
        return new QueueCounters(
                retired + inFlightNow + pending + refused.sum(),
                retired,
                failed.sum(),
                pending,
                inFlightNow,
                reached.sum(),
                elidedFifo.sum(),
                elidedFrontier.sum(),
                deviceWaits.sum(),
                deferred.sum(),
                covered.sum(),
                heldBackNanos.sum());
    }
}
