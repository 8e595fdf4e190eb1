package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.pool.PoolSetStatistics;
import io.github.iree4j.hal.pool.PoolStatistics;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * The memory of a device, in bytes.
 *
 * @param device the device's name
 * @param budget the upper limit
 * @param live memory in use
 * @param reserved memory taken from the system
 * @param cached free memory kept for reuse
 * @param peak the peak of memory in use
 * @param waiters number of requests waiting for memory
 * @param pools the individual pools
 * @param consumers usage by consumer
 */
public record PoolDescriptor(
        String device,
        long budget,
        long live,
        long reserved,
        long cached,
        long peak,
        long waiters,
        List<Part> pools,
        List<Consumer> consumers)
        implements OperationResponseBody {

    /**
     * A pool for one kind of request.
     *
     * @param name of the pool
     * @param live bytes in use
     * @param reserved bytes taken from the system
     * @param cached free bytes kept for reuse
     * @param peak the peak of bytes in use
     * @param largestFree size of the largest free block in bytes
     * @param reservations number of reservations
     * @param fresh number of reservations with memory without a known user before
     * @param reusedWithoutWait number of reservations with reused memory and no wait
     * @param reusedAfterWait number of reservations with reused memory and a wait by the device
     * @param refusals numbers of free blocks not reused, by reason
     * @param waits number of requests that had to wait
     * @param waited total waiting time of these requests
     * @param failures number of failed requests: requests that could never fit, could not wait, or were refused after a wait
     */
    public record Part(
            String name,
            long live,
            long reserved,
            long cached,
            long peak,
            long largestFree,
            long reservations,
            long fresh,
            long reusedWithoutWait,
            long reusedAfterWait,
            Refusals refusals,
            long waits,
            Duration waited,
            long failures) {}

    /**
     * Reasons for not reusing free blocks.
     *
     * @param tainted the block's frontier is incomplete: a merge dropped entries
     * @param uncovered the last user may not have completed
     */
    public record Refusals(long tainted, long uncovered) {}

    /**
     * A consumer of memory.
     *
     * @param name a program's name; empty for memory not belonging to a program
     * @param quota the consumer's limit in bytes; null for none
     * @param live bytes in use
     * @param peak the peak of bytes in use
     */
    public record Consumer(String name, @Nullable Long quota, long live, long peak) {}

    /**
     * The memory of all devices.
     *
     * @param pools by device
     */
    public record All(List<PoolDescriptor> pools) implements OperationResponseBody {}

    static PoolDescriptor of(IreeRuntime runtime, Device device) {
        PoolSetStatistics set = device.allocator().poolStatistics();
        return new PoolDescriptor(
                runtime.monitor().devices().nameOf(device),
                set.budget(),
                set.bytesLive(),
                set.bytesReserved(),
                set.bytesCached(),
                set.bytesPeak(),
                set.waiting(),
                set.pools().stream().map(PoolDescriptor::part).toList(),
                set.consumers().stream()
                        .map(each -> new Consumer(
                                each.consumer(),
                                each.quota() == Long.MAX_VALUE ? null : each.quota(),
                                each.bytesTransient() + each.bytesPersistent(),
                                each.bytesPeak()))
                        .toList());
    }

    private static Part part(PoolStatistics pool) {
        return new Part(
                pool.name(),
                pool.bytesLive(),
                pool.bytesReserved(),
                pool.bytesCached(),
                pool.bytesPeak(),
                pool.largestFree(),
                pool.reserves(),
                pool.fresh(),
                pool.reusedWithoutWait(),
                pool.reusedAfterWait(),
                new Refusals(pool.refusedTainted(), pool.refusedUncovered()),
                pool.waits(),
                Duration.ofNanos(pool.waitedNanos()),
                pool.failures());
    }
}
