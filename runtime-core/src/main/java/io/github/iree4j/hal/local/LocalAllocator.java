package io.github.iree4j.hal.local;

import io.github.iree4j.hal.Allocator;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.ViewedConstant;
import io.github.iree4j.hal.pool.AdmissionGate;
import io.github.iree4j.hal.pool.MemoryMap;
import io.github.iree4j.hal.pool.PoolSetStatistics;
import io.github.iree4j.hal.schedule.ConstantViews;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.nativeaccess.SystemCapability;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Synchronous allocation of host memory. */
final class LocalAllocator implements Allocator {
    private final HostDevice device;
    private final HostMemory memory;

    LocalAllocator(HostDevice device, HostMemory memory) {
        this.device = device;
        this.memory = memory;
    }

    @Override
    public Device device() {
        return device;
    }

    @Override
    public Buffer allocate(BufferParams params, long size) {
        return LocalBuffer.allocated(memory, params, size);
    }

    @Override
    public Buffer allocate(BufferParams params, MemorySegment contents) {
        return LocalBuffer.copyOf(memory, params, contents);
    }

    @Override
    public Buffer importHost(BufferParams params, MemorySegment bytes, @Nullable RefCounted owner) {
        device.checkOpen();
        if (!bytes.isNative()) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "memory of %d bytes on the Java heap cannot be imported; copy it or allocate it natively"
                            .formatted(bytes.byteSize()));
        }
        if ((bytes.address() & (HostMemory.ALIGNMENT - 1)) != 0) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "imported memory of %d bytes at 0x%x is aligned to %d bytes, compiled code needs %d; allocate it with Arena.allocate(size, %d), or copy it"
                            .formatted(
                                    bytes.byteSize(),
                                    bytes.address(),
                                    Long.lowestOneBit(bytes.address()),
                                    HostMemory.ALIGNMENT,
                                    HostMemory.ALIGNMENT));
        }
        BufferParams checked = params;
        if (bytes.isReadOnly()) {
            boolean immutable = (params.usage() & BufferUsage.SHARING_IMMUTABLE) != 0;
            if ((params.access() & MemoryAccess.WRITE) != 0 && !immutable) {
                throw IreeException.of(
                        StatusCode.PERMISSION_DENIED,
                        "imported memory of %d bytes is read-only and access %s is asked for; ask for READ"
                                .formatted(bytes.byteSize(), MemoryAccess.format(params.access())));
            }
            checked = params.withAccess(MemoryAccess.READ);
            ConstantViews<ConstantView> views = immutable ? ConstantView.of(bytes, owner) : null;
            if (views != null) {
                return LocalBuffer.constant(memory, checked, bytes, views);
            }
        }
        return LocalBuffer.imported(memory, checked, bytes, owner);
    }

    @Override
    public boolean hasViews() {
        return SystemCapability.VIEWS.isPresent();
    }

    @Override
    public ViewedConstant createConstant(BufferParams params, long size) {
        device.checkOpen();
        return new LocalConstant(this, memory, params, size);
    }

    @Override
    public long takeMostLive() {
        return memory.pools().takeMostLive();
    }

    @Override
    public PoolSetStatistics poolStatistics() {
        return memory.pools().statistics();
    }

    @Override
    public MemoryMap memoryMap(int limit) {
        return memory.pools().map(limit);
    }

    @Override
    public AdmissionGate gate() {
        return memory.pools().gate();
    }

    @Override
    public void trim() {
        memory.trim();
    }
}
