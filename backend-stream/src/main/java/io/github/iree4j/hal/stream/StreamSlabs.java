package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.pool.PoolOptions;
import io.github.iree4j.hal.pool.Slab;
import io.github.iree4j.hal.pool.SlabProvider;
import io.github.iree4j.lifetime.UseGuard;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/** Allocation of device memory within the driver's limits. */
final class StreamSlabs implements SlabProvider {
    /** Minimum alignment, keeping memory of different queues and of the host apart. */
    private static final long MINIMUM_ALIGNMENT = 256;

    private final StreamDriver driver;
    private final MemoryKinds memory;
    private final long alignment;
    private final long largest;
    private final long countLimit;
    private final AtomicLong count = new AtomicLong();
    private final UseGuard calls;

    /** Creates a provider of the driver's memory; {@code calls} keeps the driver alive during calls. */
    StreamSlabs(StreamDriver driver, UseGuard calls) {
        this.driver = driver;
        this.calls = calls;
        this.memory = driver.memoryKinds();
        DriverLimits limits = driver.limits();
        this.alignment = Math.max(MINIMUM_ALIGNMENT, limits.alignment());
        this.largest = limits.largestAllocation();
        this.countLimit = limits.allocationCount();
    }

    @Override
    public long alignment() {
        return alignment;
    }

    @Override
    public long capacity() {
        long sum = 0;
        Set<Integer> heaps = new HashSet<>();
        for (MemoryKind kind : memory.kinds()) {
            if (heaps.add(kind.heap())) {
                sum += Math.min(kind.heapSize(), Long.MAX_VALUE - sum);
            }
        }
        return sum;
    }

    /** Returns the maximum size of one allocation, bytes. */
    long largest() {
        return largest;
    }

    @Override
    public Slab acquire(long size, long alignment) {
        return acquire(memory.device(), size, alignment);
    }

    @Override
    public Slab acquire(PoolOptions pool, long size, long alignment) {
        for (MemoryKind kind : memory.kinds()) {
            if (kind.halType() == pool.memoryType()) {
                return acquire(kind, size, alignment);
            }
        }
        throw IreeException.of(StatusCode.INTERNAL, "pool '%s' has no memory type".formatted(pool.name()));
    }

    private Slab acquire(MemoryKind kind, long size, long alignment) {
        if (size > largest) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "%d bytes are more than maxMemoryAllocationSize %d of the device; use smaller buffers"
                            .formatted(size, largest));
        }
        DriverMemory allocation = allocate(size, kind);
        if ((StreamSlab.start(allocation) & alignment - 1) == 0) {
            return new StreamSlab(allocation, size);
        }
        // The driver chooses the mapped address: over-allocate, and align the start.
        allocation.close();
        returned();
        allocation = allocate(size + alignment, kind);
        return new StreamSlab(allocation, -StreamSlab.start(allocation) & alignment - 1, size);
    }

    /**
     * Allocates memory from the driver. The allocation counts until {@link #returned}.
     *
     * @throws IreeException RESOURCE_EXHAUSTED when the driver's memory is exhausted, or the number of allocations is
     *     reached
     */
    private DriverMemory allocate(long size, MemoryKind kind) {
        return counted(() -> driver.allocate(size, kind, false), size, kind);
    }

    /** Performs an allocation. */
    interface Allocating {
        DriverMemory allocate();
    }

    DriverMemory counted(Allocating allocating, long size, MemoryKind kind) {
        long counted = count.incrementAndGet();
        if (countLimit > 0 && counted > countLimit) {
            count.decrementAndGet();
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "%d allocations of the driver are in use, which is its maxMemoryAllocationCount; close buffers, or trim the allocator"
                            .formatted(countLimit));
        }
        try {
            calls.enter(); // the calling thread may hold nothing else of the device
            try {
                return allocating.allocate();
            } finally {
                calls.exit();
            }
        } catch (IreeException e) {
            count.decrementAndGet();
            if (e.code() != StatusCode.RESOURCE_EXHAUSTED) {
                throw e;
            }
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "device has no %d bytes of memory type %d left, %d allocations are in use: %s; close buffers, trim the allocator, or set a memory limit"
                            .formatted(size, kind.type(), count.get(), e.getMessage()),
                    e);
        } catch (RuntimeException | Error e) {
            count.decrementAndGet();
            throw e;
        }
    }

    /** Reports an allocation returned to the driver. */
    void returned() {
        count.decrementAndGet();
    }

    @Override
    public void release(Slab slab) {
        ((StreamSlab) slab).close();
        returned();
    }
}
