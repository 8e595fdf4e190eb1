package io.github.iree4j.hal;

import io.github.iree4j.async.SignalRecord;
import io.github.iree4j.frontier.Frontier;

/** Finds the waits of one operation that others of its waits imply. */
final class CoveredWaits {
    private CoveredWaits() {}

    /**
     * Closes every wait whose producer runs before the producer of another that is waited for, or known, in any case: that one's promise
     * mentions it. What is left is the least to wait for.
     *
     * <p>Dropping on the word of a wait that is dropped itself is sound, since "runs before" is transitive and never circular; of several
     * with one producer the first stays.
     *
     * @param promises what is known of each wait
     * @param count how many waits there are
     * @param open those that cost something; cleared for the ones dropped
     * @param certain those that the operation runs behind in any case
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
                if (j == i || !certain[j] || promises[j].isTainted() || !other.reaches(axis, epoch)) {
                    continue;
                }
                boolean same = promises[j].producerAxis() == axis && promises[j].producerEpoch() == epoch;
                if (!same || j < i || !open[j]) {
                    open[i] = false;
                    dropped++;
                    break;
                }
            }
        }
        return dropped;
    }
}
