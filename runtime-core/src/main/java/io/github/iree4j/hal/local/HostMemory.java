package io.github.iree4j.hal.local;

import com.sun.management.OperatingSystemMXBean;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.AllocatorStatistics;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.pool.HostSlab;
import io.github.iree4j.hal.pool.HostSlabProvider;
import io.github.iree4j.hal.pool.NativeTimepoints;
import io.github.iree4j.hal.pool.PoolOptions;
import io.github.iree4j.hal.pool.PoolOptions.Lifetimes;
import io.github.iree4j.hal.pool.PoolSet;
import io.github.iree4j.hal.pool.PoolSetBuilder;
import io.github.iree4j.hal.pool.PoolSetStatistics;
import io.github.iree4j.hal.pool.PoolStatistics;
import io.github.iree4j.hal.pool.Reservation;
import io.github.iree4j.hal.pool.ReservationRequest;
import io.github.iree4j.hal.schedule.BufferStorage;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.nativeaccess.NativeLibrary;
import io.github.iree4j.nativeaccess.SlabMemory;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Native memory of one local device: pools over host memory, shared by all programs on the device. Host allocations and
 * queue-ordered ones have separate slabs, so that a few long-lived bytes do not keep a large slab; large blocks have their own
 * slabs. Blocks outlive {@link #close()} until they are released. Safe from any thread.
 */
final class HostMemory {
    /** Alignment that compiled code expects of every buffer. */
    static final long ALIGNMENT = HostSlabProvider.ALIGNMENT;

    /** The largest alignment that can be requested: a huge page. */
    static final long MAXIMUM_ALIGNMENT = ReservationRequest.MAXIMUM_ALIGNMENT;

    /** Blocks of at least this size have their own slabs. A guess, not measured. */
    private static final long LARGE = 16 << 20;

    /** Size of the first slab of a pool. A guess, not measured. */
    private static final long FIRST_SLAB = 2 << 20;

    /** Size of the largest slab. A guess, not measured. */
    private static final long LARGEST_SLAB = 64 << 20;

    /** A slab takes at most this fraction of the limit, so that no pool takes it all. */
    private static final long SLABS_WITHIN_LIMIT = 16;

    /** Fill byte for freed memory, where poisoning is enabled. */
    private static final byte POISON = (byte) 0xDB;

    private final Device device;
    private final PoolSet pools;
    private final boolean poison;

    HostMemory(Device device, DeviceOptions options, BooleanSupplier busy, Executor growth, boolean poison) {
        long limit = options.memoryLimit() == 0 ? available() : options.memoryLimit();
        SchedulingDomain domain = options.schedulingDomain();
        long largest = Math.clamp(limit / SLABS_WITHIN_LIMIT, ALIGNMENT, LARGEST_SLAB);
        long first = Math.min(largest, FIRST_SLAB);
        this.device = device;
        this.poison = poison;
        PoolSetBuilder builder = PoolSet.builder(slabs(), domain.tracker());
        options.memoryQuotas().forEach(builder::quota);
        this.pools = builder.budget(limit)
                .idleAfter(options.memoryIdle().toNanos())
                .patience(options.memoryWait().toNanos())
                .hostPatience(options.memoryHostWait().toNanos())
                .frontierCapacity(domain.frontierCapacity())
                .busy(busy)
                .growth(growth)
                .pool(PoolOptions.tlsf("transient", first, largest)
                        .withLifetime(Lifetimes.TRANSIENT)
                        .withSizes(0, LARGE))
                .pool(PoolOptions.tlsf("persistent", first, largest)
                        .withLifetime(Lifetimes.PERSISTENT)
                        .withSizes(0, LARGE))
                .pool(PoolOptions.passThrough("large").withRetained(options.memoryRetained()))
                .build();
    }

    /** Uses large pages where the native library is available: they are faster to allocate, see SlabBenchmark. */
    private static HostSlabProvider slabs() {
        return NativeLibrary.unavailabilityCause() == null
                ? new HostSlabProvider(SlabMemory::allocate)
                : new HostSlabProvider();
    }

    /**
     * Memory of the machine, or of the container if that is less, beside the Java heap. There is no other safeguard: the system
     * overcommits memory and kills the process that touches it.
     */
    private static long available() {
        long heap = Runtime.getRuntime().maxMemory();
        long all = ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system
                ? system.getTotalMemorySize()
                : heap * 4; // the default share of the heap is a quarter
        return Math.max(all - heap, all / 4);
    }

    /** A piece of native memory. Released once, by its acquirer. */
    static final class Block extends BufferStorage {
        final MemorySegment segment;
        final long address;

        private final @Nullable MemorySegment slab; // that contains it; null for imported memory

        private Block(MemorySegment segment, @Nullable MemorySegment slab, @Nullable Reservation reservation) {
            super(reservation);
            this.segment = segment;
            this.slab = slab;
            this.address = segment.address();
        }

        /** Placeholder where there is no block yet. */
        static final Block NONE = imported(MemorySegment.NULL);

        /** A block of imported host memory. */
        static Block imported(MemorySegment segment) {
            return new Block(segment, null, null);
        }

        static Block of(Reservation reservation) {
            MemorySegment slab = ((HostSlab) reservation.slab()).bytes();
            return new Block(slab.asSlice(reservation.offset(), reservation.size()), slab, reservation);
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

    /** The device that owns the memory. */
    Device device() {
        return device;
    }

    /** The pools for memory in queue order. */
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
     * Allocates memory with undefined contents, until the host releases it.
     *
     * @throws IreeException RESOURCE_EXHAUSTED over the limit or when the system has no more, FAILED_PRECONDITION when closed
     */
    Block acquire(BufferParams params, long size) {
        ReservationRequest request = request(params, size).asPersistent();
        Reservation reservation = pools.tryReserve(request);
        if (reservation == null) {
            throw pools.doesNotFitNow(request);
        }
        return Block.of(reservation);
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

    PoolSetStatistics poolStatistics() {
        return pools.statistics();
    }

    AllocatorStatistics statistics() {
        PoolSetStatistics all = pools.statistics();
        return new AllocatorStatistics(
                all.bytesLive(),
                all.bytesPeak(),
                all.bytesReserved(),
                all.budget(),
                all.pools().stream().mapToLong(PoolStatistics::reserves).sum(),
                all.pools().stream().mapToLong(PoolStatistics::releases).sum());
    }
}
