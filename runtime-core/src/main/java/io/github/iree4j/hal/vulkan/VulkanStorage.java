package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.pool.Reservation;
import io.github.iree4j.hal.schedule.BufferStorage;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Where the bytes of an allocation are: a range of a native buffer. */
final class VulkanStorage extends BufferStorage {
    /** In place of storage where there is none yet. */
    static final VulkanStorage NONE = new VulkanStorage(null, 0, 0, 0, 0, 0, null);

    private final long generation;
    private final long buffer;
    private final long offset;
    private final long length;
    private final long deviceAddress;
    private final @Nullable MemorySegment host;

    /**
     * Makes storage.
     *
     * @param reservation what a pool gave out; null for memory that is not a pool's
     * @param generation of the allocation, by which it is told from others; handles and addresses are given out again
     * @param buffer handle of the native buffer
     * @param offset where the bytes start in it
     * @param length how many there are
     * @param deviceAddress address of the first for code of the device; 0 where it uses none
     * @param host the same bytes as the host sees them; null where it does not
     */
    VulkanStorage(
            @Nullable Reservation reservation,
            long generation,
            long buffer,
            long offset,
            long length,
            long deviceAddress,
            @Nullable MemorySegment host) {
        super(reservation);
        this.generation = generation;
        this.buffer = buffer;
        this.offset = offset;
        this.length = length;
        this.deviceAddress = deviceAddress;
        this.host = host;
    }

    /** What a pool of the device gave out. */
    static VulkanStorage of(Reservation reservation) {
        VulkanSlab slab = (VulkanSlab) reservation.slab();
        MemorySegment mapped = slab.host();
        long address = slab.deviceAddress();
        return new VulkanStorage(
                reservation,
                slab.generation(),
                slab.buffer(),
                slab.base() + reservation.offset(),
                reservation.size(),
                address == 0 ? 0 : address + reservation.offset(),
                mapped == null ? null : mapped.asSlice(reservation.offset(), reservation.size()));
    }

    /** Returns some of the bytes, which are the caller's only as long as all of them are. */
    VulkanStorage part(long from, long size) {
        return new VulkanStorage(
                null,
                generation,
                buffer,
                offset + from,
                size,
                deviceAddress == 0 ? 0 : deviceAddress + from,
                host == null ? null : host.asSlice(from, size));
    }

    /** Whether both are in the same allocation: not in two that had the same handle, one after the other. */
    boolean isWith(VulkanStorage other) {
        return generation == other.generation;
    }

    /** Whether it is in the allocation of a generation. */
    boolean isIn(long allocation) {
        return generation == allocation;
    }

    /** Returns the handle of the native buffer: what the driver is told, not what storage is compared by. */
    long buffer() {
        return buffer;
    }

    /** Returns where the bytes start in the native buffer. */
    long offset() {
        return offset;
    }

    /** Returns how many bytes there are. */
    long length() {
        return length;
    }

    /** Returns the address of the first byte for code of the device; 0 where it uses none. */
    long deviceAddress() {
        return deviceAddress;
    }

    @Override
    public @Nullable MemorySegment host() {
        return host;
    }

    /** Returns the bytes as the host sees them, which it does. */
    MemorySegment mapped() {
        MemorySegment bytes = host;
        if (bytes == null) {
            throw new IreeException(StatusCode.INTERNAL, "memory that the host cannot see is used by the host");
        }
        return bytes;
    }
}
