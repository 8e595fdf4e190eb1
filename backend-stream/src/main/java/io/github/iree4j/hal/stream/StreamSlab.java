package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.pool.Slab;
import io.github.iree4j.nativeaccess.NativeLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Memory taken by a pool from the driver: an allocation, mapped for its lifetime where host-visible. The slab begins
 * where the host's address is aligned.
 */
final class StreamSlab extends Slab {
    private final DriverMemory allocation;
    private final @Nullable Arena mapping; // ends the host's access
    private final @Nullable MemorySegment host;

    private final long base; // the slab's start in the allocation

    StreamSlab(DriverMemory allocation, long size) {
        this(allocation, 0, size);
    }

    /**
     * Takes ownership of an allocation.
     *
     * @param base the slab's start in the allocation
     * @param size bytes of the slab
     */
    StreamSlab(DriverMemory allocation, long base, long size) {
        // Memory without an address counts as aligned to any requested alignment.
        super(size, start(allocation) == 0 ? 0 : start(allocation) + base);
        this.allocation = allocation;
        this.base = base;
        if (allocation.host() == 0) {
            this.mapping = null;
            this.host = null;
        } else {
            this.mapping = Arena.ofShared();
            this.host = bytes(allocation.host() + base, size, mapping);
        }
    }

    /** Returns the address to be aligned: the host's address of host-visible memory, otherwise the device's, if there is one. */
    static long start(DriverMemory allocation) {
        return allocation.host() == 0 ? allocation.deviceAddress() : allocation.host();
    }

    /** Returns memory mapped by the driver, valid while the arena is open. */
    static MemorySegment bytes(long address, long size, Arena arena) {
        return NativeLibrary.memory(address, size, arena);
    }

    /** Returns the unique generation of the allocation. */
    long generation() {
        return allocation.generation();
    }

    long handle() {
        return allocation.handle();
    }

    /** Returns the offset of the slab in the allocation. */
    long base() {
        return base;
    }

    /** Returns the address of the first byte for device code; 0 where code uses no addresses. */
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
