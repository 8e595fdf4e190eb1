package io.github.iree4j.spring.ai.openai;

/**
 * The limits of the interface.
 *
 * @param maxRequestSize maximum size of a request body in bytes
 * @param maxConcurrentRequests maximum number of requests computed at once; further requests are refused with 429
 * @param tenant which name is the tenant of a request
 */
public record OpenAiOptions(long maxRequestSize, int maxConcurrentRequests, Tenant tenant) {

    /** Which name is the tenant of a request: tenants take turns, and have quotas. */
    public enum Tenant {
        /** The parameter {@code user} of the request, which a client may choose for each request. */
        USER,
        /** The name of the authenticated principal. Requests without principal share a tenant. */
        PRINCIPAL
    }

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
