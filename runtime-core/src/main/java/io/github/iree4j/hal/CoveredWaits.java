package io.github.iree4j.hal;

import io.github.iree4j.async.SignalRecord;
import io.github.iree4j.frontier.Frontier;

/** Finds the waits of one operation that others of its waits imply. */
final class CoveredWaits {
    private CoveredWaits() {}

    /**
     * Closes every wait whose producer runs before the producer of another that stays open: that one's promise mentions it. What is left
     * is the least to wait for.
     *
     * <p>Dropping on the word of a wait that is dropped itself is sound, since "runs before" is transitive and never circular; of several
     * with one producer the first stays.
     *
     * @param promises what is known of each wait
     * @param open those to look at; cleared for the ones dropped
     * @return how many were dropped
     */
    static int drop(SignalRecord[] promises, boolean[] open) {
        int dropped = 0;
        for (int i = 0; i < open.length; i++) {
            long axis = promises[i].producerAxis();
            long epoch = promises[i].producerEpoch();
            if (!open[i] || epoch == 0) {
                continue;
            }
            for (int j = 0; j < open.length; j++) {
                Frontier other = promises[j].frontier();
                if (j == i || !open[j] || promises[j].isTainted() || !other.reaches(axis, epoch)) {
                    continue;
                }
                boolean same = promises[j].producerAxis() == axis && promises[j].producerEpoch() == epoch;
                if (!same || j < i) {
                    open[i] = false;
                    dropped++;
                    break;
                }
            }
        }
        return dropped;
    }
}
