package io.github.iree4j.hal.pool;

import io.github.iree4j.api.NotForApplications;

/**
 * Statistics of a pool. All values are of the same moment.
 *
 * @param name the name of the pool
 * @param kind the placement of blocks
 * @param budget most bytes of slabs
 * @param reserves reservations granted
 * @param releases reservations released
 * @param fresh reserves of memory that was unused before
 * @param reusedWithoutWait reserves of reused memory without a wait
 * @param reusedAfterWait reserves of reused memory with a wait of the requester's hardware
 * @param refusedTainted requests that passed over a block because part of its death frontier was lost in a join
 * @param refusedUncovered requests that passed over a block because its last user might not have finished and there was
 *     no mark to wait for
 * @param waits requests that had to stand in line
 * @param waitedNanos total time of requests in line, including requests still in line
 * @param waiting requests in line now
 * @param waitingForHost requests in line that cannot be granted, whatever else ends, before the host frees memory kept
 *     by the host
 * @param failures failed requests: requests that could never fit, could not wait, or were refused after a wait
 * @param shortages failed requests for memory held by others: requests that could not wait, or were refused after a wait
 * @param shortBytes bytes of the latest of these requests; 0 for none
 * @param bytesTransient bytes reserved for queue operations now
 * @param bytesPersistent bytes reserved for the host now
 * @param bytesPeak the peak of transient and persistent bytes together
 * @param bytesTransientPeak the peak of bytes reserved for queue operations
 * @param bytesReserved bytes of slabs now
 * @param bytesReservedPeak the peak of bytes of slabs
 * @param largestFree bytes of the largest free block, whatever its death frontier
 */
@NotForApplications
public record PoolStatistics(
        String name,
        PoolKind kind,
        long budget,
        long reserves,
        long releases,
        long fresh,
        long reusedWithoutWait,
        long reusedAfterWait,
        long refusedTainted,
        long refusedUncovered,
        long waits,
        long waitedNanos,
        long waiting,
        long waitingForHost,
        long failures,
        long shortages,
        long shortBytes,
        long bytesTransient,
        long bytesPersistent,
        long bytesPeak,
        long bytesTransientPeak,
        long bytesReserved,
        long bytesReservedPeak,
        long largestFree) {

    /**
     * Returns the bytes in use.
     *
     * @return bytes reserved now
     */
    public long bytesLive() {
        return bytesTransient + bytesPersistent;
    }

    /**
     * Returns the bytes kept for later.
     *
     * @return bytes of slabs that are not reserved
     */
    public long bytesCached() {
        return bytesReserved - bytesLive();
    }
}
