package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;

/**
 * The cost of merging the frontiers of the operations of a queue.
 *
 * @param merges merges of incomplete frontiers of waits
 * @param evictions entries dropped for lack of room, tainting later frontiers until the entries have completed
 */
@NotForApplications
public record FrontierCounters(long merges, long evictions) {
    /** No merges. */
    public static final FrontierCounters NONE = new FrontierCounters(0, 0);
}
