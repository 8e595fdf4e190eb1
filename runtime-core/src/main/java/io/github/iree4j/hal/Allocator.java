package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.hal.pool.AdmissionGate;
import io.github.iree4j.hal.pool.MemoryMap;
import io.github.iree4j.hal.pool.PoolSetStatistics;
import io.github.iree4j.hal.pool.PoolStatistics;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Memory of one device, allocated at once; {@link DeviceQueue#alloca} allocates in queue order. Safe from any thread. */
@NotForApplications
public interface Allocator {

    /**
     * Returns the device owning the memory.
     *
     * @return the device, borrowed
     */
    Device device();

    /**
     * Allocates memory. The contents are undefined.
     *
     * @param params kind of the memory
     * @param size bytes, not negative
     * @return the buffer; the caller closes it
     * @throws IreeException INVALID_ARGUMENT for impossible parameters, RESOURCE_EXHAUSTED over budget,
     *     FAILED_PRECONDITION when the device is closed
     */
    Buffer allocate(BufferParams params, long size);

    /**
     * Allocates memory and fills the memory with a copy of host memory.
     *
     * @param params kind of the memory
     * @param contents the bytes to copy, any memory readable by the calling thread
     * @return the buffer, as large as the contents; the caller closes it
     * @throws IreeException as {@link #allocate(BufferParams, long)}
     * @throws IllegalStateException when the memory of the contents has been closed
     * @throws WrongThreadException when the contents belong to another thread
     */
    default Buffer allocate(BufferParams params, MemorySegment contents) {
        Buffer buffer = allocate(params, contents.byteSize());
        try {
            buffer.write(0, contents);
            return buffer;
        } catch (RuntimeException e) {
            buffer.release();
            throw e;
        }
    }

    /**
     * Creates a buffer over host memory, without copying.
     *
     * @param params permitted uses of the buffer; write access only if the memory is writable
     * @param bytes native memory, aligned to 64 bytes
     * @param owner keeps the memory valid; retained as long as the buffer lives; null for memory that outlives the
     *     buffer
     * @return the buffer; the caller closes it
     * @throws IreeException INVALID_ARGUMENT for memory on the Java heap or misaligned memory, PERMISSION_DENIED when
     *     write access is requested and the memory is read-only, UNIMPLEMENTED when the device cannot reach host
     *     memory, FAILED_PRECONDITION when the device is closed
     */
    Buffer importHost(BufferParams params, MemorySegment bytes, @Nullable RefCounted owner);

    /**
     * Returns whether {@link #createConstant} is available: the device notices which work writes to memory, or code
     * declares the writes.
     *
     * @return false unless overridden
     */
    default boolean hasViews() {
        return false;
    }

    /**
     * Creates a constant with views. The constant counts as allocated memory, and so do views that are copies.
     *
     * @param params kind of the memory, permitted uses of the views, and access to the views
     * @param size bytes, above 0
     * @return the constant, still to be filled and sealed; the caller closes the constant
     * @throws IreeException UNIMPLEMENTED unless {@link #hasViews}; RESOURCE_EXHAUSTED over budget, or
     *     without memory; FAILED_PRECONDITION when the device is closed
     */
    default ViewedConstant createConstant(BufferParams params, long size) {
        throw IreeException.of(
                StatusCode.UNIMPLEMENTED, "device '" + device().id() + "' has no views of constants; copy them");
    }

    /**
     * Creates a buffer over memory of the device, without copying. Other code of this process has allocated the memory
     * with the device's driver.
     *
     * @param params permitted uses of the buffer
     * @param address address of the memory for code of the device, such as a {@code CUdeviceptr}
     * @param size bytes, above 0
     * @param owner keeps the memory valid; retained as long as the buffer lives or work uses the buffer; null for
     *     memory with a longer life
     * @return the buffer; the caller closes it
     * @throws IreeException NOT_FOUND or INVALID_ARGUMENT when the driver knows no such memory or only a smaller range;
     *     UNIMPLEMENTED when the device uses no memory by address
     */
    default Buffer importDevice(BufferParams params, long address, long size, @Nullable RefCounted owner) {
        throw notShared();
    }

    /**
     * Allocates memory for export to other processes, devices and APIs. The memory does not come from a pool.
     *
     * @param params kind of the memory
     * @param size bytes, above 0
     * @return the buffer; the caller closes it
     * @throws IreeException UNIMPLEMENTED when the device exports no memory; otherwise as
     *     {@link #allocate(BufferParams, long)}
     */
    default Buffer allocateExportable(BufferParams params, long size) {
        throw notShared();
    }

    /**
     * Exports memory. Contents are shared, order is not: uses elsewhere must be ordered by a semaphore known to both
     * sides, or by the host. The memory stays as long as any owner holds a reference.
     *
     * @param buffer a buffer of {@link #allocateExportable}, or a part of such a buffer: all of the memory is exported
     * @return the memory, with a new descriptor owned by the caller
     * @throws IreeException INVALID_ARGUMENT for another buffer, FAILED_PRECONDITION when the buffer is closed,
     *     UNIMPLEMENTED when the device exports no memory
     */
    default ExternalMemory exportMemory(Buffer buffer) {
        throw notShared();
    }

    /**
     * Creates a buffer over imported memory.
     *
     * @param params permitted uses of the buffer; the parameters do not choose the location
     * @param memory the memory; owned by the device after a return, and still by the caller after an exception
     * @return the buffer, as large as the memory; the caller closes it
     * @throws IreeException INVALID_ARGUMENT for memory of another device or a descriptor of another kind of object,
     *     UNIMPLEMENTED when the device imports no memory
     */
    default Buffer importMemory(BufferParams params, ExternalMemory memory) {
        throw notShared();
    }

    /**
     * Closes the descriptor of memory not to be imported in this process; copies sent to other processes stay open.
     *
     * @param memory the memory, not to be used afterwards
     * @throws IreeException UNIMPLEMENTED when the device creates no descriptors
     */
    default void discard(ExternalMemory memory) {
        throw notShared();
    }

    private IreeException notShared() {
        return IreeException.of(
                StatusCode.UNIMPLEMENTED,
                "device '" + device().id() + "' shares no memory with others; copy through the host");
    }

    /**
     * Returns statistics of the allocator.
     *
     * @return a snapshot
     */
    default AllocatorStatistics statistics() {
        PoolSetStatistics all = poolStatistics();
        return new AllocatorStatistics(
                all.bytesLive(),
                all.bytesPeak(),
                all.bytesReserved(),
                all.budget(),
                all.pools().stream().mapToLong(PoolStatistics::reserves).sum(),
                all.pools().stream().mapToLong(PoolStatistics::releases).sum());
    }

    /**
     * Returns statistics of the pools behind the allocator, memory in queue order included.
     *
     * @return a snapshot
     */
    PoolSetStatistics poolStatistics();

    /**
     * Returns the most bytes in use at once since the last call of this method, for a single reader.
     *
     * @return at least the bytes in use now, which an allocator without a record returns
     */
    default long takeMostLive() {
        return poolStatistics().bytesLive();
    }

    /**
     * Returns the blocks of the pools behind the allocator.
     *
     * @param limit maximum number of blocks to list
     * @return a snapshot; empty for a device without pools
     */
    default MemoryMap memoryMap(int limit) {
        return MemoryMap.EMPTY;
    }

    /**
     * Returns the line of calls waiting for memory.
     *
     * @return the gate, always the same; null for a device without pools
     */
    default @Nullable AdmissionGate gate() {
        return null;
    }

    /** Returns unused memory to the system. */
    void trim();
}
