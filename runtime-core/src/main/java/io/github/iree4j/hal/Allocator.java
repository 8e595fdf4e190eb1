package io.github.iree4j.hal;

import io.github.iree4j.hal.pool.AdmissionGate;
import io.github.iree4j.hal.pool.PoolSetStatistics;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Memory of one device, for those who need it at once; {@link DeviceQueue#alloca} is for memory in queue order. Safe from any thread. */
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
     * Allocates memory that holds a copy of what the host has.
     *
     * @param params what kind
     * @param contents what it is to hold, any memory that the calling thread can read
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
     * Makes a buffer of memory that the host has, without copying.
     *
     * @param params what may be done with it; write access only if the memory is writable
     * @param bytes native memory, aligned to 64 bytes
     * @param owner keeps the memory valid; retained as long as the buffer lives; null for memory that outlives the buffer
     * @return the buffer; the caller closes it
     * @throws IreeException INVALID_ARGUMENT for memory on the Java heap or badly aligned, PERMISSION_DENIED when writing is asked for
     *     and the memory is read-only, UNIMPLEMENTED when the device cannot reach host memory, FAILED_PRECONDITION when the device
     *     is closed
     */
    Buffer importHost(BufferParams params, MemorySegment bytes, @Nullable RefCounted owner);

    /**
     * Allocates memory that can be given to others: other processes, devices and APIs. It is not of a pool.
     *
     * @param params what kind
     * @param size bytes, above 0
     * @return the buffer; the caller closes it
     * @throws IreeException UNIMPLEMENTED when the device gives none away; otherwise as {@link #allocate(BufferParams, long)}
     */
    default Buffer allocateExportable(BufferParams params, long size) {
        throw notShared();
    }

    /**
     * Gives memory to others. Contents are shared, order is not: who uses it elsewhere must be ordered by a semaphore that both know, or by
     * the host. It stays while anybody has it.
     *
     * @param buffer one of {@link #allocateExportable}, or a part of it: all of the memory is given
     * @return the memory, with a new descriptor, the caller's
     * @throws IreeException INVALID_ARGUMENT for another buffer, FAILED_PRECONDITION when it is closed, UNIMPLEMENTED when the device gives
     *     none away
     */
    default ExternalMemory exportMemory(Buffer buffer) {
        throw notShared();
    }

    /**
     * Makes a buffer of memory that others gave.
     *
     * @param params what may be done with it; it lies where it lies
     * @param memory the memory; the descriptor is the device's once this returns, and stays the caller's when it throws
     * @return the buffer, as large as the memory; the caller closes it
     * @throws IreeException INVALID_ARGUMENT for memory of another device, or a descriptor of something else, UNIMPLEMENTED when the device
     *     takes none
     */
    default Buffer importMemory(BufferParams params, ExternalMemory memory) {
        throw notShared();
    }

    /**
     * Closes the descriptor of memory that nobody is going to import in this process; what was sent to another is that one's own.
     *
     * @param memory the memory, not to be used any more
     * @throws IreeException UNIMPLEMENTED when the device makes no descriptors
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
     * Returns what has been given out.
     *
     * @return a snapshot
     */
    AllocatorStatistics statistics();

    /**
     * Returns what the pools behind it have done, and what they have; memory in queue order included.
     *
     * @return a snapshot
     */
    PoolSetStatistics poolStatistics();

    /**
     * Returns where calls are let in that may block, so that they hold nothing while their memory is not there.
     *
     * @param consumer whom their memory is accounted to
     * @return the gates, to be passed in this order; none for a device that has no pools
     */
    default List<AdmissionGate> gates(String consumer) {
        return List.of();
    }

    /** Gives memory that is only kept for later back to the system. */
    void trim();
}
