package io.github.iree4j.hal;

/**
 * Counters of a queue's operations and of how their waits were resolved. Every wait of an issued operation is counted in exactly one of
 * {@link #reached} to {@link #covered}, by its first resolution.
 *
 * <p>The numbers of a snapshot are read one after the other while the queue runs.
 *
 * @param submitted operations submitted
 * @param retired operations that ran and finished, successfully or not
 * @param failed operations that failed or were cancelled, whether or not they ran
 * @param pending operations that wait to be issued now
 * @param inFlight operations that are issued and not finished now; never includes those that run on the submitting thread
 * @param reached waits that were reached already
 * @param elidedFifo waits for work that the same queue runs earlier
 * @param elidedFrontier waits for work that the queue's frontier proves to run earlier
 * @param deviceWaits waits performed by the device
 * @param deferred waits for which the host held the operation back
 * @param covered waits dropped because another wait of the same operation implies them
 * @param heldBackNanos total time that operations were held back, excluding those that still are
 */
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
     * Returns how many waits cost neither the device nor the host any waiting.
     *
     * @return all but the device waits and the deferred ones
     */
    public long elided() {
        return reached + elidedFifo + elidedFrontier + covered;
    }
}
