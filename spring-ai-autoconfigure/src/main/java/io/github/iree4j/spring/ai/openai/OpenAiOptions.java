package io.github.iree4j.spring.ai.openai;

/**
 * The limits of the interface.
 *
 * @param maxRequestSize maximum size of a request body in bytes
 * @param maxConcurrentRequests maximum number of requests computed at once; further requests are refused with 429
 */
public record OpenAiOptions(long maxRequestSize, int maxConcurrentRequests) {
    /**
     * Checks ranges.
     *
     * @throws IllegalArgumentException when a limit is not positive
     */
    public OpenAiOptions {
        if (maxRequestSize < 1 || maxConcurrentRequests < 1) {
            throw new IllegalArgumentException(
                    "limits must be positive: %d bytes, %d requests".formatted(maxRequestSize, maxConcurrentRequests));
        }
    }
}
