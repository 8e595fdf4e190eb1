package io.github.iree4j.flight;

/**
 * A pool that a recording is of.
 *
 * @param set number of the set of pools that share a limit, one for each device and kind of memory
 * @param name of the pool
 */
public record RecordedPool(int set, String name) {}
