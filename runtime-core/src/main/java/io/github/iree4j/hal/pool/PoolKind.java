package io.github.iree4j.hal.pool;

import io.github.iree4j.api.NotForApplications;

/** The placement of reservations in a pool. */
@NotForApplications
public enum PoolKind {
    /** Blocks of any size in shared slabs: two-level segregated fit. */
    TLSF,
    /** A slab for each reservation. */
    PASS_THROUGH
}
