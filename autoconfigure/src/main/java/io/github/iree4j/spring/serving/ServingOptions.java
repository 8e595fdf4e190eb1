package io.github.iree4j.spring.serving;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.DurationText;
import java.time.Duration;

/**
 * Options and limits of serving.
 *
 * @param maxRequestSize maximum size of a request body in bytes
 * @param maxConcurrentRequests maximum number of inference requests computed at once
 * @param maxWait maximum wait of further requests for a place, and of requests for a model being loaded; zero or longer.
 *     Requests that would wait longer for a place are refused with 429
 * @param repository whether the model repository extension is enabled and advertised
 */
@NotForApplications
public record ServingOptions(long maxRequestSize, int maxConcurrentRequests, Duration maxWait, boolean repository) {
    /**
     * Checks ranges.
     *
     * @throws IllegalArgumentException when a limit is not positive, or the wait negative
     */
    public ServingOptions {
        if (maxRequestSize < 1 || maxConcurrentRequests < 1 || maxWait.isNegative()) {
            throw new IllegalArgumentException("limits must be positive: %d bytes, %d requests, %s to wait"
                    .formatted(maxRequestSize, maxConcurrentRequests, DurationText.of(maxWait)));
        }
    }
}
