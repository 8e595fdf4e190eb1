package io.github.iree4j.status;

/**
 * The answer to a question whose grounds may have been lost: evicted, forgotten, or never told.
 *
 * <p>Only {@link #YES} and {@link #NO} are proved. A caller that treats {@link #UNKNOWN} as one of the two says in a comment why that is
 * harmless. A method that returns a boolean instead says of one of its answers that it proves nothing.
 */
public enum Known {
    /** Proved. */
    YES,
    /** The opposite is proved. */
    NO,
    /** Neither is proved: what would tell is lost. */
    UNKNOWN
}
