package io.github.iree4j.hal.stream;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.pool.NativeTimepoints;
import io.github.iree4j.hal.pool.PoolSet;
import io.github.iree4j.hal.pool.ReservationRequest;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.DevicePools;
import io.github.iree4j.lifetime.UseGuard;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Memory of a device: pools for each kind of memory, as in {@code hal.local}, with a common budget and line. Blocks
 * outlive {@link #close} until released. Safe from any thread.
 */
public final class StreamMemory {
    private static final int MAPPED = BufferUsage.MAPPING_SCOPED | BufferUsage.MAPPING_PERSISTENT;

    private final StreamDriver driver;
    private final MemoryKinds kinds;
    private final StreamSlabs provider;
    private final PoolSet pools;
    private final boolean poison;

    /**
     * Creates the pools; allocates no memory yet.
     *
     * @param id the device's id, for messages
     * @param driver allocates the memory, borrowed
     * @param options limits
     * @param busy whether work is in flight
     * @param growth runs possibly long driver calls
     * @param poison whether freed memory is overwritten
     * @param calls guards calls of the driver; the driver stays until their end
     */
    StreamMemory(
            Supplier<String> id,
            StreamDriver driver,
            DeviceOptions options,
            BooleanSupplier busy,
            Executor growth,
            boolean poison,
            UseGuard calls) {
        this.driver = driver;
        this.kinds = driver.memoryKinds();
        this.provider = new StreamSlabs(driver, calls);
        this.poison = poison;
        DevicePools builder =
                new DevicePools(id, provider, provider.largest(), options, provider.capacity(), busy, growth);
        for (MemoryKind kind : kinds.kinds()) {
            builder.add(
                    kinds.kinds().size() == 1 ? "" : "-" + kind.name(),
                    pool -> pool.withMemory(kind.halType(), 0).withBudget(kind.heapSize()));
        }
        this.pools = builder.build();
    }

    /** Returns the pools for memory in queue order. */
    PoolSet pools() {
        return pools;
    }

    StreamSlabs provider() {
        return provider;
    }

    /**
     * Allocates driver memory outside the pools, trimming the pools if need be.
     *
     * @param taking performs the allocation
     * @param size bytes
     * @param kind kind of memory
     * @throws IreeException RESOURCE_EXHAUSTED when the memory is exhausted
     */
    DriverMemory takeOutside(StreamSlabs.Allocating taking, long size, MemoryKind kind) {
        try {
            return provider.counted(taking, size, kind);
        } catch (IreeException e) {
            if (e.code() != StatusCode.RESOURCE_EXHAUSTED || pools.trim() == 0) {
                throw e;
            }
            return provider.counted(taking, size, kind);
        }
    }

    /** Allocates driver memory outside the pools, trimming the pools if need be; optionally shared memory. */
    DriverMemory takeOutside(long size, MemoryKind kind, boolean shared) {
        return takeOutside(() -> driver.allocate(size, kind, shared), size, kind);
    }

    /**
     * A block of memory outside the pools.
     *
     * @param storage the bytes
     * @param giveBack frees the bytes; run once
     */
    public record Block(StreamStorage storage, Runnable giveBack) {}

    /**
     * Allocates driver memory outside the pools: the pools' budget belongs to the users.
     *
     * @param size bytes
     * @param kind a kind of {@link #kinds}
     * @return the memory
     * @throws IreeException RESOURCE_EXHAUSTED when the memory is exhausted
     */
    public Block takeBlock(long size, MemoryKind kind) {
        StreamSlab slab = new StreamSlab(takeOutside(size, kind, false), size);
        return new Block(
                new StreamStorage(null, slab.generation(), slab.handle(), 0, size, slab.deviceAddress(), slab.host()),
                () -> provider.release(slab));
    }

    /** Returns the kind of memory for readback, where the host cannot read device memory. */
    MemoryKind readback() {
        return kinds.readback();
    }

    /**
     * Returns the device's kinds of memory.
     *
     * @return as reported by the driver
     */
    public MemoryKinds kinds() {
        return kinds;
    }

    boolean poisons() {
        return poison;
    }

    /**
     * Chooses the kind of memory for an allocation. Required mapping yields mappable memory; optional mapping yields
     * mappable memory only at no cost for the device.
     */
    MemoryKind kind(BufferParams params) {
        int type = params.memoryType();
        boolean host = (type & MemoryType.HOST_VISIBLE) != 0 || (params.usage() & MAPPED) != 0;
        boolean local = (type & MemoryType.DEVICE_LOCAL & ~MemoryType.DEVICE_VISIBLE) != 0;
        MemoryKind shared = kinds.shared();
        if ((type & MemoryType.HOST_LOCAL) == MemoryType.HOST_LOCAL && !local || host && !local) {
            boolean written = (params.usage() & BufferUsage.MAPPING_ACCESS_SEQUENTIAL_WRITE) != 0
                    && (type & MemoryType.HOST_CACHED) == 0;
            return written ? kinds.upload() : kinds.readback();
        }
        if (!host) {
            return kinds.device();
        }
        if (isWish(params)) {
            // A small window onto device memory is left to allocations with required mapping.
            return shared != null && shared.heap() == kinds.device().heap() ? shared : kinds.device();
        }
        return shared != null ? shared : kinds.readback();
    }

    /**
     * Chooses a kind for memory to be exported. NVIDIA's driver refuses to export a window onto device memory, so a mapping
     * that is only a wish is not granted.
     */
    MemoryKind exportedKind(BufferParams params) {
        MemoryKind wanted = kind(params);
        return isWish(params) && wanted.equals(kinds.shared()) ? kinds.device() : wanted;
    }

    /** Returns whether unmapped memory will do. */
    private static boolean isWish(BufferParams params) {
        return (params.memoryType() & MemoryType.OPTIMAL) != 0 || (params.usage() & BufferUsage.MAPPING_OPTIONAL) != 0;
    }

    /**
     * Creates a request to the pools.
     *
     * @throws IreeException RESOURCE_EXHAUSTED when a single allocation cannot be so large
     */
    ReservationRequest request(BufferParams params, MemoryKind kind, long size) {
        if (size > provider.largest()) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "buffer of %d bytes is larger than maxMemoryAllocationSize %d of the device; use several"
                            .formatted(size, provider.largest()));
        }
        return new ReservationRequest(
                size,
                params.minimumAlignment(),
                kind.halType(),
                0,
                params.consumer(),
                false,
                false,
                Frontier.EMPTY,
                NativeTimepoints.NONE);
    }

    /**
     * Allocates memory with undefined contents, until the host releases the storage.
     *
     * @throws IreeException RESOURCE_EXHAUSTED over the limit or when the device's memory is exhausted,
     *     FAILED_PRECONDITION when closed
     */
    StreamStorage acquire(BufferParams params, MemoryKind kind, long size) {
        ReservationRequest request = request(params, kind, size).asPersistent();
        return StreamStorage.of(pools.reserveNow(request));
    }

    /**
     * Allocates memory written by the host and read by device code, for the commands' own needs.
     *
     * @param size bytes
     * @return memory with undefined contents, to be released by the caller
     * @throws IreeException RESOURCE_EXHAUSTED over the limit or when the device's memory is exhausted,
     *     FAILED_PRECONDITION when closed
     */
    public StreamStorage upload(long size) {
        return acquire(BufferParams.DEFAULT, kinds.upload(), size);
    }

    /** Returns unused memory to the driver. */
    void trim() {
        pools.trim();
    }

    /**
     * Ends allocation; memory is returned to the driver as blocks are released.
     *
     * @param whenReturned run once everything given up by the pools is back at the driver
     */
    void close(Runnable whenReturned) {
        pools.close(whenReturned);
    }
}
