package io.github.iree4j.hal;

/**
 * What a queue has done to gather the frontiers of its operations.
 *
 * @param merges frontiers of waits that were joined because they had not completed
 * @param evictions entries that were lost for want of room, which taints what follows until they have completed
 */
public record FrontierCounters(long merges, long evictions) {
    /** Nothing was gathered. */
    public static final FrontierCounters NONE = new FrontierCounters(0, 0);
}
