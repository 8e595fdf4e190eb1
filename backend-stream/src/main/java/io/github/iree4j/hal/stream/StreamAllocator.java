package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.Allocator;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.ExternalMemory;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.ViewedConstant;
import io.github.iree4j.hal.pool.AdmissionGate;
import io.github.iree4j.hal.pool.MemoryMap;
import io.github.iree4j.hal.pool.PoolSetStatistics;
import io.github.iree4j.hal.schedule.ConstantViews;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Synchronous allocation of device memory. */
final class StreamAllocator implements Allocator {
    /** Alignment of every buffer expected by compiled code. */
    private static final long ALIGNMENT = 64;

    private final StreamDevice device;
    private final StreamMemory memory;

    StreamAllocator(StreamDevice device, StreamMemory memory) {
        this.device = device;
        this.memory = memory;
    }

    @Override
    public Device device() {
        return device;
    }

    @Override
    public Buffer allocate(BufferParams params, long size) {
        return StreamBuffer.allocated(device, params, size);
    }

    @Override
    public Buffer allocate(BufferParams params, MemorySegment contents) {
        StreamBuffer buffer = StreamBuffer.allocated(device, params, contents.byteSize());
        try {
            buffer.initialize(contents);
            return buffer;
        } catch (RuntimeException | Error e) {
            buffer.close();
            throw e;
        }
    }

    @Override
    public Buffer importHost(BufferParams params, MemorySegment bytes, @Nullable RefCounted owner) {
        device.checkOpen();
        BufferParams checked = check(params, bytes);
        String obstacle = HostImports.obstacle(device);
        if (obstacle != null) {
            if (isConstantOfDevice(params, bytes)) {
                return importConstant(checked, bytes, owner);
            }
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED,
                    "device '%s' cannot use host memory in place: %s; copy it".formatted(device.id(), obstacle));
        }
        long alignment = device.driver().limits().hostAlignment();
        MemoryKind kind = memory.kinds().readback();
        if ((params.memoryType() & MemoryType.DEVICE_LOCAL) == MemoryType.DEVICE_LOCAL
                && (kind.halType() & MemoryType.DEVICE_LOCAL) != MemoryType.DEVICE_LOCAL) {
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED,
                    "device '%s' has its own memory, which host memory cannot be; ask for DEVICE_VISIBLE, or copy it"
                            .formatted(device.id()));
        }
        // Drivers import the whole pages containing the bytes. Other bytes of the pages are not accessed.
        long first = bytes.address() & -alignment;
        long end = bytes.address() + Math.max(1, bytes.byteSize()) + alignment - 1 & -alignment;
        DriverMemory allocation = memory.takeOutside(
                () -> device.driver().importHost(first, end - first, bytes.isReadOnly()), end - first, kind);
        long offset = bytes.address() - first;
        long address = allocation.deviceAddress();
        StreamStorage storage = new StreamStorage(
                null,
                allocation.generation(),
                allocation.handle(),
                offset,
                bytes.byteSize(),
                address == 0 ? 0 : address + offset,
                bytes);
        if (!bytes.isReadOnly()) {
            return new ForeignMemory(allocation, memory.provider(), null, owner)
                    .buffer(device, kind, checked, storage, null);
        }
        try (ConstantViews<ConstantCopy> copies = ConstantCopy.of(memory, checked, bytes, owner)) {
            return new ForeignMemory(allocation, memory.provider(), null, copies)
                    .buffer(device, kind, checked, storage, copies); // retains the copies
        }
    }

    @Override
    public boolean hasViews() {
        // Elsewhere programs copy their constants once: too much code does not declare its writes.
        return HostImports.obstacle(device) == null
                && (memory.kinds().readback().halType() & MemoryType.DEVICE_LOCAL) == MemoryType.DEVICE_LOCAL;
    }

    @Override
    public ViewedConstant createConstant(BufferParams params, long size) {
        device.checkOpen();
        return new StreamConstant(this, params, size);
    }

    /** Returns whether bytes are a constant for memory of the device, which the host does not see. */
    private boolean isConstantOfDevice(BufferParams params, MemorySegment bytes) {
        return device.driver().hasConstants()
                && bytes.isReadOnly()
                && bytes.byteSize() > 0
                && (params.usage() & BufferUsage.SHARING_IMMUTABLE) != 0
                && memory.kind(params).equals(memory.kinds().device());
    }

    private Buffer importConstant(BufferParams params, MemorySegment bytes, @Nullable RefCounted owner) {
        MemoryKind kind = memory.kinds().device();
        DriverMemory allocation =
                memory.takeOutside(() -> device.driver().importConstant(bytes), bytes.byteSize(), kind);
        try (ConstantViews<ConstantCopy> views = ConstantCopy.of(allocation, bytes.byteSize(), owner)) {
            StreamStorage storage = StreamStorage.of(allocation, bytes.byteSize());
            return new ForeignMemory(allocation, memory.provider(), null, views)
                    .buffer(device, kind, params, storage, views); // retains the views
        }
    }

    @Override
    public Buffer importDevice(BufferParams params, long address, long size, @Nullable RefCounted owner) {
        return SharedMemory.importDevice(device, params, address, size, owner);
    }

    private static BufferParams check(BufferParams params, MemorySegment bytes) {
        if (!bytes.isNative()) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "memory of %d bytes on the Java heap cannot be imported; copy it or allocate it natively"
                            .formatted(bytes.byteSize()));
        }
        if ((bytes.address() & (ALIGNMENT - 1)) != 0) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "imported memory of %d bytes at 0x%x is aligned to %d bytes, compiled code needs %d; allocate it with Arena.allocate(size, %d), or copy it"
                            .formatted(
                                    bytes.byteSize(),
                                    bytes.address(),
                                    Long.lowestOneBit(bytes.address()),
                                    ALIGNMENT,
                                    ALIGNMENT));
        }
        if (!bytes.isReadOnly()) {
            return params;
        }
        boolean immutable = (params.usage() & BufferUsage.SHARING_IMMUTABLE) != 0;
        if ((params.access() & MemoryAccess.WRITE) != 0 && !immutable) {
            throw IreeException.of(
                    StatusCode.PERMISSION_DENIED,
                    "imported memory of %d bytes is read-only and access %s is asked for; ask for READ"
                            .formatted(bytes.byteSize(), MemoryAccess.format(params.access())));
        }
        return params.withAccess(MemoryAccess.READ);
    }

    @Override
    public Buffer allocateExportable(BufferParams params, long size) {
        return SharedMemory.allocate(device, params, size);
    }

    @Override
    public ExternalMemory exportMemory(Buffer buffer) {
        return SharedMemory.export(device, buffer);
    }

    @Override
    public Buffer importMemory(BufferParams params, ExternalMemory external) {
        return SharedMemory.importMemory(device, params, external);
    }

    @Override
    public void discard(ExternalMemory external) {
        device.driver().discardDescriptor(external.descriptor());
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
        device.imports().trim();
        memory.trim();
    }
}
