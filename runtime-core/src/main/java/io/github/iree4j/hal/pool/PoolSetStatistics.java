package io.github.iree4j.hal.pool;

import io.github.iree4j.api.NotForApplications;
import java.util.List;

/**
 * Statistics of the pools of a device. All values are of the same moment.
 *
 * @param budget most bytes of slabs of all pools together
 * @param bytesTransient bytes reserved for queue operations now
 * @param bytesPersistent bytes reserved for the host now
 * @param bytesPeak the peak of transient and persistent bytes together
 * @param bytesReserved bytes of slabs now
 * @param bytesReservedPeak the peak of bytes of slabs
 * @param bytesCommitted bytes that admitted calls may come to hold, held already or not
 * @param waiting calls waiting to be admitted, and requests in line now
 * @param pools each pool
 * @param consumers each consumer that has or had memory
 */
@NotForApplications
public record PoolSetStatistics(
        long budget,
        long bytesTransient,
        long bytesPersistent,
        long bytesPeak,
        long bytesReserved,
        long bytesReservedPeak,
        long bytesCommitted,
        long waiting,
        List<PoolStatistics> pools,
        List<ConsumerStatistics> consumers) {

    /** Copies the lists. */
    public PoolSetStatistics {
        pools = List.copyOf(pools);
        consumers = List.copyOf(consumers);
    }

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
