package io.github.iree4j.hal.spi;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.hal.pool.PoolOptions;
import io.github.iree4j.hal.pool.PoolOptions.Lifetimes;
import io.github.iree4j.hal.pool.PoolSet;
import io.github.iree4j.hal.pool.PoolSetBuilder;
import io.github.iree4j.hal.pool.SlabProvider;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * Builds the pools of a device. Each kind of memory has three pools: host allocations and queue-ordered allocations
 * have separate slabs, so that a few long-lived bytes do not keep a large slab; large blocks have their own slabs.
 * Confined to a single thread.
 *
 * <p><b>Waste.</b> The limit is charged by slabs, so a block costs more than its bytes: a small block may be alone in a
 * slab, and a large block may reuse a longer slab. Each block wastes at most a part of the limit, 1/512; a block may
 * waste more as long as all such blocks together waste at most twelve parts. So a call with at most twelve blocks at
 * once can run alone within 1.05 times its peak bytes, regardless of earlier work: 24/512 is less than 1 - 1/1.05.
 */
@NotForApplications
public final class DevicePools {
    /** The largest block sharing a slab, where the limit allows. A guess, not measured. */
    private static final long LARGEST_SHARING = 16 << 20;

    /** Size of the first slab of a pool, where the limit allows. A guess, not measured. */
    private static final long FIRST_SLAB = 2 << 20;

    /** Size of the largest slab, where the limit allows. A guess, not measured. */
    private static final long LARGEST_SLAB = 64 << 20;

    /** The maximum waste of a block, as a fraction of the limit. */
    private static final long WASTES_WITHIN_LIMIT = 512;

    private final PoolSetBuilder builder;
    private final long retained;
    private final long firstSlab;
    private final long largestSlab;
    /**
     * Begins without pools.
     *
     * @param id supplies the id of the device, for messages unless the options name the device; called when there is an
     *     id
     * @param provider allocates slabs, borrowed
     * @param largest the maximum bytes of one allocation by the provider
     * @param options limits, waits and quotas
     * @param available bytes of the device's memory, the limit unless the options have one
     * @param busy whether work is in flight
     * @param growth runs allocations of slabs while operations wait
     */
    public DevicePools(
            Supplier<String> id,
            SlabProvider provider,
            long largest,
            DeviceOptions options,
            long available,
            BooleanSupplier busy,
            Executor growth) {
        long limit = options.memoryLimit() == 0 ? available : options.memoryLimit();
        long part = limit / WASTES_WITHIN_LIMIT & -provider.alignment();
        long waste = Math.clamp(part, provider.alignment(), LARGEST_SLAB);
        this.largestSlab = Math.min(waste, largest);
        this.firstSlab = Math.min(largestSlab, FIRST_SLAB);
        this.retained = options.memoryRetained();
        this.builder = PoolSet.builder(provider, options.schedulingDomain().tracker());
        options.memoryQuotas().forEach(builder::quota);
        builder.owner(() -> "device '%s'".formatted(options.name().isEmpty() ? id.get() : options.name()))
                .budget(limit)
                .waste(waste)
                .idleAfter(options.memoryIdle().toNanos())
                .patience(options.memoryWait().toNanos())
                .hostPatience(options.memoryHostWait().toNanos())
                .frontierCapacity(options.schedulingDomain().frontierCapacity())
                .observation(options.schedulingDomain().memory())
                .busy(busy)
                .held(options.schedulingDomain()::heldByMemory)
                .growth(growth);
    }

    /**
     * Adds the pools of a kind of memory.
     *
     * @param suffix suffix of the names of the pools
     * @param memory sets the kind
     * @return this
     */
    public DevicePools add(String suffix, UnaryOperator<PoolOptions> memory) {
        long sharing = Math.min(LARGEST_SHARING, largestSlab);
        builder.pool(memory.apply(PoolOptions.tlsf("transient" + suffix, firstSlab, largestSlab)
                .withLifetime(Lifetimes.TRANSIENT)
                .withSizes(0, sharing)));
        builder.pool(memory.apply(PoolOptions.tlsf("persistent" + suffix, firstSlab, largestSlab)
                .withLifetime(Lifetimes.PERSISTENT)
                .withSizes(0, sharing)));
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
