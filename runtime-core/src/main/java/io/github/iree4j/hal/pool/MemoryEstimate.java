package io.github.iree4j.hal.pool;

import io.github.iree4j.api.NotForApplications;

/** The expected memory of a call requesting admission. Queried again whenever the call's turn may have come: earlier calls improve the estimate. */
@NotForApplications
public interface MemoryEstimate {
    /**
     * Returns the memory taken by the inputs.
     *
     * @return bytes
     */
    long inputs();

    /**
     * Returns the expected peak.
     *
     * @return bytes
     */
    long bytes();

    /**
     * Returns the most memory that the call might hold, as far as is known.
     *
     * @return bytes; the expected peak if known from the peak of an earlier call rather than guessed
     */
    long most();
}
