package io.github.iree4j.hal.stream;

/**
 * The limits of a device.
 *
 * @param alignment alignment that device code requires of every allocation, bytes; a power of two
 * @param largestAllocation bytes of one allocation; {@link Long#MAX_VALUE} for any
 * @param allocationCount maximum number of live allocations; 0 for no limit
 * @param hostAlignment required alignment of imported host memory, bytes; a power of two, or 0 where the driver imports none
 */
public record DriverLimits(long alignment, long largestAllocation, long allocationCount, long hostAlignment) {}
