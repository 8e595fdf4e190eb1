package io.github.iree4j.frontier;

/** The order of a frontier relative to another, see {@link Frontier#compare}. */
public enum FrontierOrder {
    /** Each frontier dominates the other: both have the same knowledge. */
    EQUAL,
    /** Only the other frontier dominates: the other knows everything known here, and more. */
    BEFORE,
    /** Only this frontier dominates: this frontier knows everything that the other knows, and more. */
    AFTER,
    /** Neither frontier is proved to dominate. Nothing dominates a tainted frontier, so two tainted frontiers are always concurrent. */
    CONCURRENT
}
