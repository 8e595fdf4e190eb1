package io.github.iree4j.hal.spi;

import io.github.iree4j.hal.pool.PoolOptions;
import io.github.iree4j.hal.pool.PoolOptions.Lifetimes;
import io.github.iree4j.hal.pool.PoolSet;
import io.github.iree4j.hal.pool.PoolSetBuilder;
import io.github.iree4j.hal.pool.SlabProvider;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;

/**
 * Builds the pools of a device. Each kind of memory has three: host allocations and queue-ordered ones have separate slabs, so that a few
 * long-lived bytes do not keep a large slab; large blocks have their own slabs. Confined to one thread.
 */
public final class DevicePools {
    /** Blocks of at least this size have their own slabs. A guess, not measured. */
    private static final long LARGE = 16 << 20;

    /** Size of the first slab of a pool. A guess, not measured. */
    private static final long FIRST_SLAB = 2 << 20;

    /** Size of the largest slab. A guess, not measured. */
    private static final long LARGEST_SLAB = 64 << 20;

    /** A slab takes at most this fraction of the limit, so that no pool takes it all. */
    private static final long SLABS_WITHIN_LIMIT = 16;

    private final PoolSetBuilder builder;
    private final long retained;
    private final long firstSlab;
    private final long largestSlab;

    /**
     * Begins without pools.
     *
     * @param provider allocates slabs, borrowed
     * @param largest the most bytes that it allocates at once
     * @param options limits, waits and quotas
     * @param available bytes of the device's memory, the limit unless the options have one
     * @param busy whether work is in flight
     * @param growth runs what allocates slabs while operations wait
     */
    public DevicePools(
            SlabProvider provider,
            long largest,
            DeviceOptions options,
            long available,
            BooleanSupplier busy,
            Executor growth) {
        long limit = options.memoryLimit() == 0 ? available : options.memoryLimit();
        this.largestSlab =
                Math.clamp(limit / SLABS_WITHIN_LIMIT, provider.alignment(), Math.min(LARGEST_SLAB, largest));
        this.firstSlab = Math.min(largestSlab, FIRST_SLAB);
        this.retained = options.memoryRetained();
        this.builder = PoolSet.builder(provider, options.schedulingDomain().tracker());
        options.memoryQuotas().forEach(builder::quota);
        builder.budget(limit)
                .idleAfter(options.memoryIdle().toNanos())
                .patience(options.memoryWait().toNanos())
                .hostPatience(options.memoryHostWait().toNanos())
                .frontierCapacity(options.schedulingDomain().frontierCapacity())
                .observation(options.schedulingDomain().memory())
                .busy(busy)
                .growth(growth);
    }

    /**
     * Adds the pools of a kind of memory.
     *
     * @param suffix of their names
     * @param memory sets the kind
     * @return this
     */
    public DevicePools add(String suffix, UnaryOperator<PoolOptions> memory) {
        builder.pool(memory.apply(PoolOptions.tlsf("transient" + suffix, firstSlab, largestSlab)
                .withLifetime(Lifetimes.TRANSIENT)
                .withSizes(0, LARGE)));
        builder.pool(memory.apply(PoolOptions.tlsf("persistent" + suffix, firstSlab, largestSlab)
                .withLifetime(Lifetimes.PERSISTENT)
                .withSizes(0, LARGE)));
        builder.pool(memory.apply(PoolOptions.passThrough("large" + suffix).withRetained(retained)));
        return this;
    }

    /**
     * Builds the pools.
     *
     * @return the pools; the caller closes them
     */
    public PoolSet build() {
        return builder.build();
    }
}
