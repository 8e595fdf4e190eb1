package io.github.iree4j.hal.pool;

/** How a pool places reservations. */
public enum PoolKind {
    /** Blocks of any size in shared slabs: two-level segregated fit. */
    TLSF,
    /** Blocks of one size. */
    FIXED_BLOCK,
    /** Consecutive blocks, reused once all of a slab have been released. */
    ARENA,
    /** A slab for each reservation. */
    PASS_THROUGH
}
