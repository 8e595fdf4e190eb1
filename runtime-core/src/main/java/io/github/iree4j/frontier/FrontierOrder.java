package io.github.iree4j.frontier;

/** The order of one frontier relative to another, see {@link Frontier#compare}. */
public enum FrontierOrder {
    /** Each dominates the other: they know the same. */
    EQUAL,
    /** Only the other dominates: it knows everything that this one knows, and more. */
    BEFORE,
    /** Only this one dominates: it knows everything that the other knows, and more. */
    AFTER,
    /** Neither is proved to dominate. Nothing dominates a tainted frontier, so two tainted ones are always concurrent. */
    CONCURRENT
}
