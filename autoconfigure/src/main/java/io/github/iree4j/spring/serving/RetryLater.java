package io.github.iree4j.spring.serving;

import io.github.iree4j.status.FailureDetail;
import java.time.Duration;

/**
 * A request was refused because too many wait.
 *
 * @param after in how long those that wait now will probably have been served
 */
record RetryLater(Duration after) implements FailureDetail {

    /** For the header {@code Retry-After}: at least 1. */
    long seconds() {
        return Math.max(1, after.plusMillis(999).toSeconds());
    }
}
