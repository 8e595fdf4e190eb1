package io.github.iree4j.hal.pool;

/** How a pool places reservations. */
public enum PoolKind {
    /** Blocks of any size in shared slabs: two-level segregated fit. */
    TLSF,
    /** Blocks of one size. */
    FIXED_BLOCK,
    /** A slab for each reservation. */
    PASS_THROUGH
}
