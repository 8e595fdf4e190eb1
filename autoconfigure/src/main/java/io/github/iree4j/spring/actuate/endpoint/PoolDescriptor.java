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
 * @param budget the most that there may be
 * @param live what is in use
 * @param reserved what was taken from the system
 * @param cached what is kept for later
 * @param peak the most that was in use
 * @param waiters requests that wait for memory
 * @param pools its parts
 * @param consumers who has how much
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
     * @param name its name
     * @param live bytes in use
     * @param reserved bytes taken from the system
     * @param cached bytes kept for later
     * @param peak the most bytes in use
     * @param largestFree bytes of the largest block that is free
     * @param reservations how often it gave out memory
     * @param fresh of those, memory that nobody had used
     * @param reusedWithoutWait of those, used memory where nobody had to wait
     * @param reusedAfterWait of those, used memory where the device waits
     * @param refusals how often a free block was passed over, by reason
     * @param waits requests that had to stand in line
     * @param waited how long they did together
     * @param failures requests that could never fit
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
     * Why free blocks were passed over.
     *
     * @param tainted part of what must be over was lost in a join
     * @param uncovered the last user may not be over
     */
    public record Refusals(long tainted, long uncovered) {}

    /**
     * Somebody who has memory.
     *
     * @param name a program's name; empty for what belongs to no program
     * @param quota bytes that it may have; null without a limit
     * @param live bytes that it has
     * @param peak the most bytes that it had
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
                runtime.nameOf(device),
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
