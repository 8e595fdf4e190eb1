package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.SignalRecord;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.Known;

/** Finds the redundant waits of one operation: those that its other waits imply. For streams: see {@link WaitPlan}. */
final class CoveredWaits {
    private CoveredWaits() {}

    /**
     * Clears every wait whose producer runs before the producer of another wait that is reached, or that the operation itself
     * runs behind: that producer's promise mentions it.
     *
     * <p>Dropping a wait because of one that is itself dropped is sound, since "runs before" is transitive and acyclic. Of
     * several waits with one producer one stays: the first that the operation runs behind, so that none holds the operation back.
     *
     * @param promises what is known of each wait
     * @param count how many waits there are
     * @param open waits that cost something; cleared for those dropped
     * @param certain waits that the operation runs behind when it is issued now; a host wait is not one, since a lower value may
     * end it before the promise is kept
     * @return how many were dropped
     */
    static int drop(SignalRecord[] promises, int count, boolean[] open, boolean[] certain) {
        int dropped = 0;
        for (int i = 0; i < count; i++) {
            long axis = promises[i].producerAxis();
            long epoch = promises[i].producerEpoch();
            if (!open[i] || epoch == 0) {
                continue;
            }
            for (int j = 0; j < count; j++) {
                Frontier other = promises[j].frontier();
                // A wait whose place is unknown stays: that costs a wait, no more.
                if (j == i || !certain[j] || promises[j].isTainted() || other.reaches(axis, epoch) != Known.YES) {
                    continue;
                }
                boolean same = promises[j].producerAxis() == axis && promises[j].producerEpoch() == epoch;
                if (!same || j < i || !open[j] || !certain[i]) {
                    open[i] = false;
                    dropped++;
                    break;
                }
            }
        }
        return dropped;
    }
}
