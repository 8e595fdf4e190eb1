package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;

/**
 * Statistics of an allocator.
 *
 * @param bytesLive bytes in use by buffers now, as taken from the system (rounding included)
 * @param bytesPeak the peak of {@code bytesLive}
 * @param bytesReserved bytes taken from the system now, in use or kept for the next buffer
 * @param bytesLimit limit of {@code bytesLive}
 * @param allocationCount allocations since the device was opened
 * @param freeCount frees since the device was opened
 */
@NotForApplications
public record AllocatorStatistics(
        long bytesLive, long bytesPeak, long bytesReserved, long bytesLimit, long allocationCount, long freeCount) {}
