package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.pool.Slab;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Memory that a pool takes from the driver: one allocation, mapped for its lifetime where it is host-visible. The slab begins where the
 * host's address is aligned.
 */
final class StreamSlab extends Slab {
    private final DriverMemory allocation;
    private final MemoryKind kind;
    private final @Nullable Arena mapping; // ends the host's access
    private final @Nullable MemorySegment host;

    private final long base; // where it begins in its allocation

    StreamSlab(DriverMemory allocation, long size, MemoryKind kind) {
        this(allocation, 0, size, kind);
    }

    /**
     * Takes ownership of an allocation.
     *
     * @param base where the slab begins in it
     * @param size bytes of the slab
     */
    StreamSlab(DriverMemory allocation, long base, long size, MemoryKind kind) {
        // What has no address is aligned to any alignment that may be asked for.
        super(size, start(allocation) == 0 ? 0 : start(allocation) + base);
        this.allocation = allocation;
        this.kind = kind;
        this.base = base;
        if (allocation.host() == 0) {
            this.mapping = null;
            this.host = null;
        } else {
            this.mapping = Arena.ofShared();
            this.host = bytes(allocation.host() + base, size, mapping);
        }
    }

    /** The address that is to be aligned: the host's where it sees the memory, else the device's, if there is one. */
    static long start(DriverMemory allocation) {
        return allocation.host() == 0 ? allocation.deviceAddress() : allocation.host();
    }

    /** Memory that the driver mapped, for as long as the arena is open. */
    @SuppressWarnings("restricted")
    static MemorySegment bytes(long address, long size, Arena arena) {
        return MemorySegment.ofAddress(address).reinterpret(size, arena, null);
    }

    MemoryKind kind() {
        return kind;
    }

    /** Identifies its allocation uniquely. */
    long generation() {
        return allocation.generation();
    }

    long handle() {
        return allocation.handle();
    }

    /** Offset of the slab in its allocation. */
    long base() {
        return base;
    }

    /** Address of the first byte for device code; 0 where that uses no addresses. */
    long deviceAddress() {
        long address = allocation.deviceAddress();
        return address == 0 ? 0 : address + base;
    }

    @Nullable
    MemorySegment host() {
        return host;
    }

    void close() {
        if (mapping != null) {
            mapping.close();
        }
        allocation.close();
    }
}
