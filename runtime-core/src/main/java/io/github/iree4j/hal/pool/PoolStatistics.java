package io.github.iree4j.hal.pool;

/**
 * What a pool has done, and what it has. All parts are of one moment.
 *
 * @param name its name
 * @param kind how it places blocks
 * @param budget how many bytes of slabs it may have
 * @param reserves reservations given out
 * @param releases reservations given back
 * @param fresh of the reserves those of memory that nobody had used
 * @param reusedWithoutWait of the reserves those of used memory where nobody had to wait
 * @param reusedAfterWait of the reserves those of used memory where the requester's hardware waits
 * @param refusedTainted requests that passed over a block because part of what must be over was lost in a join
 * @param refusedUncovered requests that passed over a block because its last user may not be over and there was no mark to wait for
 * @param waits requests that had to stand in line
 * @param waitedNanos how long they stood there, those included that still do
 * @param waiting requests that stand in line now
 * @param waitingForHost of those the ones that get nothing before the host frees some of what it keeps, whatever else ends
 * @param failures requests that failed: could never fit, or could not wait
 * @param bytesTransient bytes reserved for queue operations now
 * @param bytesPersistent bytes reserved for the host now
 * @param bytesPeak the most that both were together
 * @param bytesTransientPeak the most that was reserved for queue operations
 * @param bytesReserved bytes of slabs now
 * @param bytesReservedPeak the most that it had
 * @param largestFree bytes of the largest block that is free, whoever may use it
 */
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
        long bytesTransient,
        long bytesPersistent,
        long bytesPeak,
        long bytesTransientPeak,
        long bytesReserved,
        long bytesReservedPeak,
        long largestFree) {

    /**
     * Returns what is in use.
     *
     * @return bytes reserved now
     */
    public long bytesLive() {
        return bytesTransient + bytesPersistent;
    }

    /**
     * Returns what is kept for later.
     *
     * @return bytes of slabs that are not reserved
     */
    public long bytesCached() {
        return bytesReserved - bytesLive();
    }
}
