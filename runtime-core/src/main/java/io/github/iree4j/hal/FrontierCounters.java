package io.github.iree4j.hal;

/**
 * The cost of merging the frontiers of a queue's operations.
 *
 * @param merges frontiers of waits that were merged because they had not completed
 * @param evictions entries that were dropped for lack of room, which taints later frontiers until the entries have completed
 */
public record FrontierCounters(long merges, long evictions) {
    /** No merges. */
    public static final FrontierCounters NONE = new FrontierCounters(0, 0);
}
