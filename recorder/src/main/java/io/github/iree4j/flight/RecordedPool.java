package io.github.iree4j.flight;

/**
 * A recorded pool.
 *
 * @param set number of the set of pools sharing a limit, a set for each device and kind of memory; 0 for all pools beyond
 *     the limit of a recording, of any device
 * @param name of the pool
 */
public record RecordedPool(int set, String name) {
    /** The number in place of an unknown set. */
    static final int UNKNOWN_SET = 0;

    /** All pools beyond the limit. */
    static final RecordedPool OTHER = new RecordedPool(UNKNOWN_SET, "(more pools than a recording keeps)");
}
