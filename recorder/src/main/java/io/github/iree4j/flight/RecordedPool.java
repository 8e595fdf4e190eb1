package io.github.iree4j.flight;

/**
 * A recorded pool.
 *
 * @param set number of the set of pools sharing a limit, a set for each device and kind of memory
 * @param name of the pool
 */
public record RecordedPool(int set, String name) {}
