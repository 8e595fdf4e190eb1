package io.github.iree4j.hal;

/**
 * What a queue has done so far, and how each wait of its operations was resolved. Every wait of an operation that was issued is in
 * exactly one of {@link #reached} to {@link #covered}, by what was decided about it first.
 *
 * <p>The numbers of one snapshot are read one after the other while the queue goes on.
 *
 * @param submitted operations that were submitted
 * @param retired operations that ran and are over, whatever became of them
 * @param failed operations that failed or were cancelled, before or after they ran
 * @param pending operations that wait to be issued, now
 * @param inFlight operations that were issued and are not over, now; those that ran on the thread that submitted them never are
 * @param reached waits for what was reached already
 * @param elidedFifo waits for what the same queue runs before
 * @param elidedFrontier waits for what the queue's frontier proves to run before
 * @param deviceWaits waits that the device was given
 * @param deferred waits that the operation was held back for, on the host
 * @param covered waits dropped because another wait of the same operation implies them
 * @param heldBackNanos how long operations were held back together, those that are over
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
     * Returns how many waits there were in all.
     *
     * @return the sum of the decisions
     */
    public long waits() {
        return reached + elidedFifo + elidedFrontier + deviceWaits + deferred + covered;
    }

    /**
     * Returns how many waits cost neither the device nor the host anything.
     *
     * @return all but those given to the device or held back for
     */
    public long elided() {
        return reached + elidedFifo + elidedFrontier + covered;
    }
}
