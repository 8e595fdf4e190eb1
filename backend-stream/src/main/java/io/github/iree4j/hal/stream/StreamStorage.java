package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.pool.Reservation;
import io.github.iree4j.hal.storage.BufferStorage;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** The location of a buffer's bytes: a range of a driver allocation. Immutable. */
public final class StreamStorage extends BufferStorage {
    /** Placeholder for missing storage. */
    static final StreamStorage NONE = new StreamStorage(null, 0, 0, 0, 0, 0, null);

    private final long generation;
    private final long handle;
    private final long offset;
    private final long length;
    private final long deviceAddress;
    private final @Nullable MemorySegment host;

    /**
     * Creates storage.
     *
     * @param reservation the pool's reservation; null for memory outside the pools
     * @param generation unique generation of the allocation; handles and addresses are reused
     * @param handle the driver's handle of the allocation
     * @param offset offset of the bytes in the allocation
     * @param length number of bytes
     * @param deviceAddress address of the first byte for device code; 0 where code uses no addresses
     * @param host the same bytes as mapped by the host; null for bytes that are not host-visible
     */
    StreamStorage(
            @Nullable Reservation reservation,
            long generation,
            long handle,
            long offset,
            long length,
            long deviceAddress,
            @Nullable MemorySegment host) {
        super(reservation);
        this.generation = generation;
        this.handle = handle;
        this.offset = offset;
        this.length = length;
        this.deviceAddress = deviceAddress;
        this.host = host;
    }

    /** Returns the storage of a whole allocation that the host does not see. */
    static StreamStorage of(DriverMemory memory, long size) {
        return new StreamStorage(null, memory.generation(), memory.handle(), 0, size, memory.deviceAddress(), null);
    }

    /** Returns the storage of a reservation. */
    static StreamStorage of(Reservation reservation) {
        StreamSlab slab = (StreamSlab) reservation.slab();
        MemorySegment mapped = slab.host();
        long address = slab.deviceAddress();
        return new StreamStorage(
                reservation,
                slab.generation(),
                slab.handle(),
                slab.base() + reservation.offset(),
                reservation.size(),
                address == 0 ? 0 : address + reservation.offset(),
                mapped == null ? null : mapped.asSlice(reservation.offset(), reservation.size()));
    }

    /**
     * Returns a part of the bytes, valid as long as the whole.
     *
     * @param from first byte
     * @param size bytes
     * @return the range
     */
    public StreamStorage part(long from, long size) {
        return new StreamStorage(
                null,
                generation,
                handle,
                offset + from,
                size,
                deviceAddress == 0 ? 0 : deviceAddress + from,
                host == null ? null : host.asSlice(from, size));
    }

    /**
     * Returns whether both ranges are in the same allocation, as opposed to successive allocations with the same
     * handle.
     *
     * @param other other storage
     * @return whether an overlap is possible
     */
    public boolean isWith(StreamStorage other) {
        return generation == other.generation;
    }

    /** Returns whether the storage is in the allocation of the given generation. */
    boolean isIn(long allocation) {
        return generation == allocation;
    }

    /**
     * Returns the driver's handle of the allocation. Handles are reused over time.
     *
     * @return the handle of the allocation's {@link DriverMemory}
     */
    public long handle() {
        return handle;
    }

    /**
     * Returns the offset of the bytes in the allocation.
     *
     * @return offset, bytes
     */
    public long offset() {
        return offset;
    }

    /**
     * Returns the number of bytes.
     *
     * @return bytes
     */
    public long length() {
        return length;
    }

    /**
     * Returns the address of the first byte for device code.
     *
     * @return the address; 0 where code uses no addresses
     */
    public long deviceAddress() {
        return deviceAddress;
    }

    @Override
    public @Nullable MemorySegment host() {
        return host;
    }

    /**
     * Returns the bytes of host-visible memory.
     *
     * @return the bytes, valid while the storage is used
     * @throws IreeException INTERNAL when the bytes are not host-visible
     */
    public MemorySegment mapped() {
        MemorySegment bytes = host;
        if (bytes == null) {
            throw IreeException.of(StatusCode.INTERNAL, "memory that the host cannot see is used by the host");
        }
        return bytes;
    }
}
