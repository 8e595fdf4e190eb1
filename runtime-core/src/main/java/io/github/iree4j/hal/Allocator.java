package io.github.iree4j.hal;

import io.github.iree4j.hal.pool.AdmissionGate;
import io.github.iree4j.hal.pool.MemoryMap;
import io.github.iree4j.hal.pool.PoolSetStatistics;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Memory of one device, allocated at once; {@link DeviceQueue#alloca} allocates in queue order. Safe from any thread. */
public interface Allocator {

    /**
     * Returns the device whose memory this is.
     *
     * @return the device, borrowed
     */
    Device device();

    /**
     * Allocates memory. Contents are undefined.
     *
     * @param params what kind
     * @param size bytes, not negative
     * @return the buffer; the caller closes it
     * @throws IreeException INVALID_ARGUMENT for impossible parameters, RESOURCE_EXHAUSTED over budget, FAILED_PRECONDITION when
     *     the device is closed
     */
    Buffer allocate(BufferParams params, long size);

    /**
     * Allocates memory that holds a copy of host memory.
     *
     * @param params what kind
     * @param contents the bytes to copy, any memory that the calling thread can read
     * @return the buffer, as large as the contents; the caller closes it
     * @throws IreeException as {@link #allocate(BufferParams, long)}
     * @throws IllegalStateException when the memory of the contents has been closed
     * @throws WrongThreadException when it belongs to another thread
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
     * @param params what may be done with it; write access only if the memory is writable
     * @param bytes native memory, aligned to 64 bytes
     * @param owner keeps the memory valid; retained as long as the buffer lives; null for memory that outlives the buffer
     * @return the buffer; the caller closes it
     * @throws IreeException INVALID_ARGUMENT for memory on the Java heap or misaligned memory, PERMISSION_DENIED when write access is
     *     requested and the memory is read-only, UNIMPLEMENTED when the device cannot reach host memory, FAILED_PRECONDITION when the
     *     device is closed
     */
    Buffer importHost(BufferParams params, MemorySegment bytes, @Nullable RefCounted owner);

    /**
     * Creates a buffer over memory of the device that other code of this process allocated with the device's driver, without copying.
     *
     * @param params what may be done with it
     * @param address its address for code of the device, such as a {@code CUdeviceptr}
     * @param size bytes, above 0
     * @param owner keeps the memory valid; retained as long as the buffer lives, or work uses it; null for memory that outlives that
     * @return the buffer; the caller closes it
     * @throws IreeException NOT_FOUND or INVALID_ARGUMENT when the driver knows no such memory, or less; UNIMPLEMENTED when the device uses none by
     *     its address
     */
    default Buffer importDevice(BufferParams params, long address, long size, @Nullable RefCounted owner) {
        throw notShared();
    }

    /**
     * Allocates memory that can be exported to other processes, devices and APIs. It is not taken from a pool.
     *
     * @param params what kind
     * @param size bytes, above 0
     * @return the buffer; the caller closes it
     * @throws IreeException UNIMPLEMENTED when the device exports none; otherwise as {@link #allocate(BufferParams, long)}
     */
    default Buffer allocateExportable(BufferParams params, long size) {
        throw notShared();
    }

    /**
     * Exports memory. Contents are shared, order is not: uses elsewhere must be ordered by a semaphore that both sides know, or by the
     * host. The memory stays while any owner has it.
     *
     * @param buffer one of {@link #allocateExportable}, or a part of it: all of the memory is exported
     * @return the memory, with a new descriptor owned by the caller
     * @throws IreeException INVALID_ARGUMENT for another buffer, FAILED_PRECONDITION when it is closed, UNIMPLEMENTED when the device gives
     *     none away
     */
    default ExternalMemory exportMemory(Buffer buffer) {
        throw notShared();
    }

    /**
     * Creates a buffer over imported memory.
     *
     * @param params what may be done with it; they do not choose where it lies
     * @param memory the memory; owned by the device once this returns; by the caller still when it throws
     * @return the buffer, as large as the memory; the caller closes it
     * @throws IreeException INVALID_ARGUMENT for memory of another device or a descriptor of something else, UNIMPLEMENTED when the device
     *     imports none
     */
    default Buffer importMemory(BufferParams params, ExternalMemory memory) {
        throw notShared();
    }

    /**
     * Closes the descriptor of memory that will not be imported in this process; copies sent to other processes stay open.
     *
     * @param memory the memory, not to be used afterwards
     * @throws IreeException UNIMPLEMENTED when the device creates no descriptors
     */
    default void discard(ExternalMemory memory) {
        throw notShared();
    }

    private IreeException notShared() {
        return new IreeException(
                StatusCode.UNIMPLEMENTED,
                "device '" + device().id() + "' shares no memory with others; copy through the host");
    }

    /**
     * Returns statistics of the allocator.
     *
     * @return a snapshot
     */
    AllocatorStatistics statistics();

    /**
     * Returns statistics of the pools behind it, memory in queue order included.
     *
     * @return a snapshot
     */
    PoolSetStatistics poolStatistics();

    /**
     * Returns the blocks of the pools behind it.
     *
     * @param limit maximum number of blocks to list
     * @return a snapshot; empty for a device without pools
     */
    default MemoryMap memoryMap(int limit) {
        return MemoryMap.EMPTY;
    }

    /**
     * Returns the line in which calls wait before they hold memory.
     *
     * @return the gate, always the same; null for a device without pools
     */
    default @Nullable AdmissionGate gate() {
        return null;
    }

    /** Returns unused memory to the system. */
    void trim();
}
