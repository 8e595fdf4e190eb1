package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.SignalRecord;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.Known;

/** Finds the redundant waits of an operation: waits implied by other waits of the operation. For streams: see {@link WaitPlan}. */
final class CoveredWaits {
    private CoveredWaits() {}

    /**
     * Clears every wait implied by another wait. The implying wait is reached, or the operation itself runs behind its
     * producer, and the promise of this producer names the producer of the implied wait.
     *
     * <p>Dropping a wait because of another dropped wait is sound, since "runs before" is transitive and acyclic. Of
     * several waits with the same producer a single wait stays: the first that the operation runs behind, so that none
     * holds the operation back.
     *
     * @param promises the knowledge about each wait
     * @param count number of waits
     * @param open waits with a cost; cleared for dropped waits
     * @param certain waits that the operation runs behind when issued now; excludes host waits, since a lower value may
     *     end a host wait before the promise is kept
     * @return number of dropped waits
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
                // A wait with an unknown place stays: the only cost is a wait.
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
