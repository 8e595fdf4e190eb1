package io.github.iree4j.spring.serving;

/**
 * Options and limits of serving.
 *
 * @param maxRequestSize maximum size of a request body in bytes
 * @param maxConcurrentRequests maximum number of concurrent inference requests; further ones are rejected with 503
 * @param repository whether the model repository extension is enabled and advertised
 */
public record ServingOptions(long maxRequestSize, int maxConcurrentRequests, boolean repository) {
    /**
     * Checks ranges.
     *
     * @throws IllegalArgumentException when a limit is not positive
     */
    public ServingOptions {
        if (maxRequestSize < 1 || maxConcurrentRequests < 1) {
            throw new IllegalArgumentException(
                    "limits must be positive: " + maxRequestSize + " bytes, " + maxConcurrentRequests + " requests");
        }
    }
}
