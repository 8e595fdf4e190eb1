package io.github.iree4j.spring;

import io.github.iree4j.Results;
import java.util.concurrent.CompletableFuture;

/**
 * Intercepts the calls that {@link InvocationService} makes: to measure, limit, retry or merge them. Beans of this type
 * are applied in their order ({@link org.springframework.core.Ordered}), the first outermost.
 *
 * <p>An implementation:
 *
 * <ul>
 *   <li>MUST NOT throw; a failure is a failed future;
 *   <li>MUST NOT block, unless the request is {@linkplain InvocationRequest#blocking() blocking};
 *   <li>SHOULD return the future that the chain returned, after {@code whenComplete}, so that cancellation still
 *       reaches the call; one that returns another future propagates its cancellation, as {@link ForwardedCall} does;
 *   <li>MUST close results that it receives and does not pass on.
 * </ul>
 */
@FunctionalInterface
public interface InvocationInterceptor {

    /** Order of interceptors that observe calls. */
    int OBSERVATION_ORDER = -2000;

    /** Order of interceptors that reject, limit or retry calls. */
    int RESILIENCE_ORDER = -1000;

    /** Order of the interceptor that merges calls; later interceptors see batches. */
    int BATCHING_ORDER = 1000;

    /**
     * Makes a call.
     *
     * @param request the call to make
     * @param chain proceeds with it
     * @return the results, or a failure that is an {@link io.github.iree4j.status.IreeException}
     */
    CompletableFuture<Results> intercept(InvocationRequest request, InvocationChain chain);
}
