package io.github.iree4j.spring;

import io.github.iree4j.status.FailureDetail;
import java.time.Duration;

/**
 * Reports that a request was refused because too many requests wait, or the model is being loaded.
 *
 * @param after the time in which all currently waiting requests will probably have been served, or the model loaded
 */
public record RetryLater(Duration after) implements FailureDetail {

    /**
     * Returns the value of the header {@code Retry-After}.
     *
     * @return whole seconds, at least 1
     */
    public long seconds() {
        return Math.max(1, after.plusMillis(999).toSeconds());
    }
}
