package io.github.iree4j.hal.pool;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Objects;

/**
 * The purpose and the configuration of a pool.
 *
 * @param name the name in statistics and messages
 * @param kind the placement of blocks
 * @param memoryType bits of {@code MemoryType} provided by the pool, which a request may require; 0 to take every
 *     request
 * @param usage bits of {@code BufferUsage} allowed; 0 to allow all
 * @param minimumSize the smallest request routed to the pool, bytes
 * @param maximumSize the largest request routed to the pool, bytes
 * @param lifetime the lifetime of requests routed to the pool
 * @param budget most bytes of slabs at once
 * @param slabMinimum the smallest slab, unless there is only room for less
 * @param slabMaximum the largest slab, unless a request is larger
 * @param retained bytes of unused slabs kept until the pool is trimmed
 */
@NotForApplications
public record PoolOptions(
        String name,
        PoolKind kind,
        int memoryType,
        int usage,
        long minimumSize,
        long maximumSize,
        Lifetimes lifetime,
        long budget,
        long slabMinimum,
        long slabMaximum,
        long retained) {

    /** Requests by the lifetime of their memory. */
    public enum Lifetimes {
        /** All. */
        ANY,
        /** Requests of queue operations. */
        TRANSIENT,
        /** Requests of the host. */
        PERSISTENT
    }

    /** Checks the arguments. */
    public PoolOptions {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(lifetime, "lifetime");
        check(name, "minimumSize", minimumSize, 0, maximumSize);
        check(name, "budget", budget, 0, Long.MAX_VALUE);
        check(name, "slabMinimum", slabMinimum, 1, 1L << 48);
        check(name, "slabMaximum", slabMaximum, 1, 1L << 48);
        check(name, "retained", retained, 0, Long.MAX_VALUE);
    }

    private static void check(String pool, String option, long value, long minimum, long maximum) {
        if (value < minimum || value > maximum) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "'%s' of pool '%s' is %d and must be within [%d, %d]"
                            .formatted(option, pool, value, minimum, maximum));
        }
    }

    /**
     * Returns options of a pool for blocks of any size.
     *
     * @param name the name of the pool
     * @param slabMinimum the first slab, bytes; later slabs double the total
     * @param slabMaximum the largest slab, bytes
     * @return the options
     */
    public static PoolOptions tlsf(String name, long slabMinimum, long slabMaximum) {
        return new PoolOptions(
                name,
                PoolKind.TLSF,
                0,
                0,
                0,
                Long.MAX_VALUE,
                Lifetimes.ANY,
                Long.MAX_VALUE,
                slabMinimum,
                slabMaximum,
                Long.MAX_VALUE);
    }

    /**
     * Returns options of a pool that acquires a slab for each request and returns the slab as soon as its last user has
     * finished.
     *
     * @param name the name of the pool
     * @return the options
     */
    public static PoolOptions passThrough(String name) {
        return new PoolOptions(
                name, PoolKind.PASS_THROUGH, 0, 0, 0, Long.MAX_VALUE, Lifetimes.ANY, Long.MAX_VALUE, 1, 1, 0);
    }

    /**
     * Returns these options for requests of certain sizes.
     *
     * @param minimum the smallest, bytes
     * @param maximum the largest, bytes
     * @return the new options
     */
    public PoolOptions withSizes(long minimum, long maximum) {
        return new PoolOptions(
                name, kind, memoryType, usage, minimum, maximum, lifetime, budget, slabMinimum, slabMaximum, retained);
    }

    /**
     * Returns these options for a kind of memory.
     *
     * @param type bits of {@code MemoryType} that requests may require; 0 for all
     * @param allowed bits of {@code BufferUsage} that requests may require; 0 for all
     * @return the new options
     */
    public PoolOptions withMemory(int type, int allowed) {
        return new PoolOptions(
                name,
                kind,
                type,
                allowed,
                minimumSize,
                maximumSize,
                lifetime,
                budget,
                slabMinimum,
                slabMaximum,
                retained);
    }

    /**
     * Returns these options for requests of a certain lifetime.
     *
     * @param routed the lifetime
     * @return the new options
     */
    public PoolOptions withLifetime(Lifetimes routed) {
        return new PoolOptions(
                name,
                kind,
                memoryType,
                usage,
                minimumSize,
                maximumSize,
                routed,
                budget,
                slabMinimum,
                slabMaximum,
                retained);
    }

    /**
     * Returns these options with a budget.
     *
     * @param bytes most bytes of slabs at once
     * @return the new options
     */
    public PoolOptions withBudget(long bytes) {
        return new PoolOptions(
                name,
                kind,
                memoryType,
                usage,
                minimumSize,
                maximumSize,
                lifetime,
                bytes,
                slabMinimum,
                slabMaximum,
                retained);
    }

    /**
     * Returns these options with another limit on retained memory.
     *
     * @param bytes bytes of unused slabs to keep
     * @return the new options
     */
    public PoolOptions withRetained(long bytes) {
        return new PoolOptions(
                name,
                kind,
                memoryType,
                usage,
                minimumSize,
                maximumSize,
                lifetime,
                budget,
                slabMinimum,
                slabMaximum,
                bytes);
    }
}
