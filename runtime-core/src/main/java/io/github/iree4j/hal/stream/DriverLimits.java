package io.github.iree4j.hal.stream;

/**
 * What a device takes.
 *
 * @param alignment what every allocation must be aligned to for code of the device, bytes; a power of two
 * @param largestAllocation bytes of one allocation; {@link Long#MAX_VALUE} for any
 * @param allocationCount how many allocations there may be at a time; 0 for any number
 * @param hostAlignment what imported memory of the host is aligned to, bytes; a power of two, or 0 where the driver imports none
 */
public record DriverLimits(long alignment, long largestAllocation, long allocationCount, long hostAlignment) {}
