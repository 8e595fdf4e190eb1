package io.github.iree4j.hal.local;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.pool.HostSlab;
import io.github.iree4j.hal.pool.HostSlabProvider;
import io.github.iree4j.hal.pool.NativeTimepoints;
import io.github.iree4j.hal.pool.PoolSet;
import io.github.iree4j.hal.pool.Reservation;
import io.github.iree4j.hal.pool.ReservationRequest;
import io.github.iree4j.hal.spi.CpuOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.DevicePools;
import io.github.iree4j.hal.storage.BufferStorage;
import io.github.iree4j.nativeaccess.NativeLibrary;
import io.github.iree4j.nativeaccess.SlabMemory;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Native memory of a local device: pools over host memory, shared by all programs on the device. Blocks outlive
 * {@link #close()} until released. Safe from any thread.
 */
final class HostMemory {
    /** Alignment expected by compiled code of every buffer. */
    static final long ALIGNMENT = HostSlabProvider.ALIGNMENT;

    /** Largest alignment of a request: a huge page. */
    static final long MAXIMUM_ALIGNMENT = ReservationRequest.MAXIMUM_ALIGNMENT;

    /** Fill byte for freed memory, where poisoning is enabled. */
    private static final byte POISON = (byte) 0xDB;

    private final Device device;
    private final PoolSet pools;
    private final boolean poison;

    HostMemory(Device device, DeviceOptions options, BooleanSupplier busy, Executor growth, boolean poison) {
        this.device = device;
        this.poison = poison;
        int sharers = options.driver(CpuOptions.DEFAULTS).sharers();
        this.pools = new DevicePools(
                        device::id,
                        slabs(),
                        Long.MAX_VALUE,
                        options,
                        DefaultBudget.now().bytes(sharers),
                        busy,
                        growth)
                .add("", UnaryOperator.identity())
                .build();
    }

    /** Uses large pages where the native library is available: large pages are faster to allocate, see SlabBenchmark. */
    private static HostSlabProvider slabs() {
        return NativeLibrary.unavailabilityCause() == null
                ? new HostSlabProvider(SlabMemory::allocate)
                : new HostSlabProvider();
    }

    /** A piece of native memory. Released once, by the acquirer. */
    static final class Block extends BufferStorage {
        final MemorySegment segment;
        final long address;

        private final @Nullable MemorySegment slab; // the containing slab; null for imported memory

        private Block(MemorySegment segment, @Nullable MemorySegment slab, @Nullable Reservation reservation) {
            super(reservation);
            this.segment = segment;
            this.slab = slab;
            this.address = segment.address();
        }

        /** Placeholder for a block to come. */
        static final Block NONE = imported(MemorySegment.NULL);

        /** Creates a block of imported host memory. */
        static Block imported(MemorySegment segment) {
            return new Block(segment, null, null);
        }

        static Block of(Reservation reservation) {
            HostSlab slab = (HostSlab) reservation.slab();
            return new Block(slab.piece(reservation.offset(), reservation.size()), slab.bytes(), reservation);
        }

        @Override
        public MemorySegment host() {
            return segment;
        }

        @Override
        public @Nullable MemorySegment hostSlab() {
            return slab;
        }
    }

    /** Returns the device owning the memory. */
    Device device() {
        return device;
    }

    /** Returns the pools for memory in queue order. */
    PoolSet pools() {
        return pools;
    }

    static ReservationRequest request(BufferParams params, long size) {
        return new ReservationRequest(
                size,
                params.minimumAlignment(),
                params.memoryType(),
                params.usage(),
                params.consumer(),
                false,
                false,
                Frontier.EMPTY,
                NativeTimepoints.NONE);
    }

    /**
     * Allocates memory with undefined contents, until the host releases the memory.
     *
     * @throws IreeException RESOURCE_EXHAUSTED over the limit or when the system has no more, FAILED_PRECONDITION when
     *     closed
     */
    Block acquire(BufferParams params, long size) {
        ReservationRequest request = request(params, size).asPersistent();
        return Block.of(pools.reserveNow(request));
    }

    /** Overwrites freed memory, where poisoning is enabled. */
    void wipe(Block block) {
        if (poison) {
            block.segment.fill(POISON);
        }
    }

    /** Returns unused memory to the system. */
    void trim() {
        pools.trim();
    }

    /** Ends allocation; memory is returned to the system as blocks are released. */
    void close() {
        pools.close();
    }
}
