package io.github.iree4j.hal.pool;

/** The placement of reservations in a pool. */
public enum PoolKind {
    /** Blocks of any size in shared slabs: two-level segregated fit. */
    TLSF,
    /** Blocks of equal size. */
    FIXED_BLOCK,
    /** A slab for each reservation. */
    PASS_THROUGH
}
