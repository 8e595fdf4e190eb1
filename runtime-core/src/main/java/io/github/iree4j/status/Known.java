package io.github.iree4j.status;

import io.github.iree4j.api.NotForApplications;

/**
 * The answer to a question. The evidence may have been lost: evicted, forgotten, or never reported.
 *
 * <p>Only {@link #YES} and {@link #NO} are proved. A caller treating {@link #UNKNOWN} as either answer explains in a
 * comment why this is harmless. A method with a boolean result instead documents the answer that proves nothing.
 */
@NotForApplications
public enum Known {
    /** Proved. */
    YES,
    /** The opposite is proved. */
    NO,
    /** Neither is proved: the evidence is lost. */
    UNKNOWN
}
