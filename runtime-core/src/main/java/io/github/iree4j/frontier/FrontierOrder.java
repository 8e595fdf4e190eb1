package io.github.iree4j.frontier;

/** How one frontier stands to another, see {@link Frontier#compare}. */
public enum FrontierOrder {
    /** Each dominates the other: they know the same. */
    EQUAL,
    /** Only the other dominates: it knows all that this one knows, and more. */
    BEFORE,
    /** Only this one dominates: it knows all that the other knows, and more. */
    AFTER,
    /** Neither is proved to dominate. A tainted frontier is dominated by none, so two tainted ones are always concurrent. */
    CONCURRENT
}
