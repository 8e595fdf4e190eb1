package io.github.iree4j.hal.pool;

import java.util.List;

/**
 * What the pools of a device have done, and what they have. All parts are of one moment.
 *
 * @param budget how many bytes of slabs all pools may have together
 * @param bytesTransient bytes reserved for queue operations now
 * @param bytesPersistent bytes reserved for the host now
 * @param bytesPeak the most that both were together
 * @param bytesReserved bytes of slabs now
 * @param bytesReservedPeak the most that there were
 * @param waiting requests that stand in line now
 * @param pools each pool
 * @param consumers everybody who has, or had, memory
 */
public record PoolSetStatistics(
        long budget,
        long bytesTransient,
        long bytesPersistent,
        long bytesPeak,
        long bytesReserved,
        long bytesReservedPeak,
        long waiting,
        List<PoolStatistics> pools,
        List<ConsumerStatistics> consumers) {

    /** Copies. */
    public PoolSetStatistics {
        pools = List.copyOf(pools);
        consumers = List.copyOf(consumers);
    }

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
