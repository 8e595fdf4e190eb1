package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.ExternalMemory;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Memory of other code: memory of the same device by address, or memory exported and imported across processes as a
 * descriptor of the operating system. Descriptors are exchanged only between drivers of the same device and version.
 */
final class SharedMemory {
    /** Alignment of every buffer expected by compiled code. */
    private static final long ALIGNMENT = 64;

    private SharedMemory() {}

    static Buffer allocate(StreamDevice device, BufferParams params, long size) {
        device.checkOpen();
        StreamMemory memory = device.memory();
        MemoryKind kind = memory.exportedKind(params);
        memory.request(params, kind, size); // checks
        return buffer(device, kind, params, memory.takeOutside(size, kind, true), size);
    }

    static ExternalMemory export(StreamDevice device, Buffer buffer) {
        StreamBuffer own = StreamBuffer.of(device, "exported buffer", buffer);
        if (!(own.foreign() instanceof ForeignMemory memory)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "buffer of %d bytes cannot be exported; allocate it with allocateExportable"
                            .formatted(buffer.length()));
        }
        own.retain();
        try {
            return new ExternalMemory(
                    memory.allocation().exportDescriptor(),
                    own.length(),
                    own.kind().type(),
                    device.driver().identity());
        } finally {
            own.release();
        }
    }

    static Buffer importMemory(StreamDevice device, BufferParams params, ExternalMemory memory) {
        device.checkOpen();
        String uuid = device.driver().identity();
        if (!memory.device().equals(uuid)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "memory of device %s cannot be imported by device '%s', which is %s"
                            .formatted(memory.device(), device.id(), uuid));
        }
        MemoryKind kind = device.memory().kinds().ofType(memory.kind());
        if (kind == null) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "memory type %d is not used by device '%s'".formatted(memory.kind(), device.id()));
        }
        DriverMemory allocation = device.memory()
                .takeOutside(
                        () -> device.driver().importDescriptor(memory.descriptor(), memory.size(), kind),
                        memory.size(),
                        kind);
        return buffer(device, kind, params, allocation, memory.size());
    }

    static Buffer importDevice(
            StreamDevice device, BufferParams params, long address, long size, @Nullable RefCounted owner) {
        device.checkOpen();
        if (size <= 0 || Long.remainderUnsigned(address, ALIGNMENT) != 0) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "device memory of %d bytes at 0x%x cannot be imported; compiled code needs it aligned to %d bytes, and some of it"
                            .formatted(size, address, ALIGNMENT));
        }
        StreamMemory memory = device.memory();
        MemoryKind kind = memory.kinds().device();
        DriverMemory allocation = memory.takeOutside(() -> device.driver().importDevice(address, size), size, kind);
        return buffer(device, kind, params, allocation, size, owner);
    }

    private static Buffer buffer(
            StreamDevice device, MemoryKind kind, BufferParams params, DriverMemory allocation, long size) {
        return buffer(device, kind, params, allocation, size, null);
    }

    private static Buffer buffer(
            StreamDevice device,
            MemoryKind kind,
            BufferParams params,
            DriverMemory allocation,
            long size,
            @Nullable RefCounted owner) {
        Arena mapping = allocation.host() == 0 ? null : Arena.ofShared();
        MemorySegment host = mapping == null ? null : StreamSlab.bytes(allocation.host(), size, mapping);
        return new ForeignMemory(allocation, device.memory().provider(), mapping, owner)
                .buffer(
                        device,
                        kind,
                        withTransfers(params),
                        new StreamStorage(
                                null,
                                allocation.generation(),
                                allocation.handle(),
                                0,
                                size,
                                allocation.deviceAddress(),
                                host),
                        null);
    }

    private static BufferParams withTransfers(BufferParams params) {
        int usage = params.usage() == 0 ? BufferUsage.DEFAULT : params.usage() | BufferUsage.TRANSFER;
        return new BufferParams(
                params.memoryType(),
                usage,
                params.access(),
                params.affinity(),
                params.minimumAlignment(),
                params.consumer());
    }
}
