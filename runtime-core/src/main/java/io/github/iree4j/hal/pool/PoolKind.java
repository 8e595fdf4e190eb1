package io.github.iree4j.hal.pool;

/** How a pool places what it gives out. */
public enum PoolKind {
    /** Blocks of any size in shared slabs: two-level segregated fit. */
    TLSF,
    /** Blocks of one size. */
    FIXED_BLOCK,
    /** Blocks one behind the other, used again once all have come back. */
    ARENA,
    /** A slab for each reservation. */
    PASS_THROUGH
}
