package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.pool.Reservation;
import io.github.iree4j.hal.schedule.BufferStorage;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Where the bytes of a buffer are: a range of an allocation of the driver. Immutable. */
public final class StreamStorage extends BufferStorage {
    /** In place of storage where there is none yet. */
    static final StreamStorage NONE = new StreamStorage(null, 0, 0, 0, 0, 0, null);

    private final long generation;
    private final long handle;
    private final long offset;
    private final long length;
    private final long deviceAddress;
    private final @Nullable MemorySegment host;

    /**
     * Makes storage.
     *
     * @param reservation what a pool gave out; null for memory that is not a pool's
     * @param generation of the allocation, by which it is told from others; handles and addresses are given out again
     * @param handle what the driver calls the allocation
     * @param offset where the bytes start in it
     * @param length how many there are
     * @param deviceAddress address of the first for code of the device; 0 where it uses none
     * @param host the same bytes as the host sees them; null where it does not
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

    /** What a pool of the device gave out. */
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
     * Returns some of the bytes, valid as long as all of them are.
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
     * Returns whether both are in the same allocation: not in two that had the same handle, one after the other.
     *
     * @param other other storage
     * @return whether an overlap is possible
     */
    public boolean isWith(StreamStorage other) {
        return generation == other.generation;
    }

    /** Whether it is in the allocation of a generation. */
    boolean isIn(long allocation) {
        return generation == allocation;
    }

    /**
     * Returns what the driver called the allocation. It does not tell allocations apart over time.
     *
     * @return as {@link DriverMemory} has it
     */
    public long handle() {
        return handle;
    }

    /**
     * Returns where the bytes start in the allocation.
     *
     * @return offset, bytes
     */
    public long offset() {
        return offset;
    }

    /**
     * Returns how many bytes there are.
     *
     * @return bytes
     */
    public long length() {
        return length;
    }

    /**
     * Returns where code of the device finds the first byte.
     *
     * @return the address; 0 where code uses none
     */
    public long deviceAddress() {
        return deviceAddress;
    }

    @Override
    public @Nullable MemorySegment host() {
        return host;
    }

    /**
     * Returns the bytes of memory that the host sees.
     *
     * @return the bytes, valid while the storage is used
     * @throws IreeException INTERNAL when the host does not see them
     */
    public MemorySegment mapped() {
        MemorySegment bytes = host;
        if (bytes == null) {
            throw new IreeException(StatusCode.INTERNAL, "memory that the host cannot see is used by the host");
        }
        return bytes;
    }
}
