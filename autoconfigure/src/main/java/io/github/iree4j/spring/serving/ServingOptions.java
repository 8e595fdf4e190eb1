package io.github.iree4j.spring.serving;

/**
 * What is served, and its limits.
 *
 * @param maxRequestSize the most bytes that the body of a request may have
 * @param maxConcurrentRequests how many requests for inference may be in work at once; more are refused with 503
 * @param repository whether clients may load and unload models, and are told so
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
