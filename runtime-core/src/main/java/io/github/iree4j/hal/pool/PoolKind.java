package io.github.iree4j.hal.pool;

/** The placement of reservations in a pool. */
public enum PoolKind {
    /** Blocks of any size in shared slabs: two-level segregated fit. */
    TLSF,
    /** A slab for each reservation. */
    PASS_THROUGH
}
