package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;

/**
 * Counters of a queue's operations and of the resolutions of their waits. Every wait of an issued operation is counted
 * in exactly one of {@link #reached} to {@link #covered}, by the first resolution.
 *
 * <p>The numbers of a snapshot are read one after the other while the queue runs.
 *
 * @param submitted operations submitted
 * @param retired operations that ran and finished, successfully or not
 * @param failed operations that failed or were cancelled, run or not
 * @param pending operations waiting to be issued now
 * @param inFlight issued and unfinished operations now; never includes operations run on the submitting thread
 * @param reached waits already reached
 * @param elidedFifo waits for earlier work of the same queue
 * @param elidedFrontier waits for earlier work, as proved by the queue's frontier
 * @param deviceWaits waits performed by the device
 * @param deferred waits with the operation held back by the host
 * @param covered waits dropped because of another, implying wait of the same operation
 * @param heldBackNanos total time of operations held back, excluding operations still held back
 */
@NotForApplications
public record QueueCounters(
        long submitted,
        long retired,
        long failed,
        long pending,
        long inFlight,
        long reached,
        long elidedFifo,
        long elidedFrontier,
        long deviceWaits,
        long deferred,
        long covered,
        long heldBackNanos) {

    /**
     * Returns the total number of waits.
     *
     * @return the sum of the decisions
     */
    public long waits() {
        return reached + elidedFifo + elidedFrontier + deviceWaits + deferred + covered;
    }

    /**
     * Returns the number of waits without any waiting by the device or the host.
     *
     * @return all but device waits and deferred waits
     */
    public long elided() {
        return reached + elidedFifo + elidedFrontier + covered;
    }
}
