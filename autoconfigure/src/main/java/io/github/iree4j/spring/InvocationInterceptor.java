package io.github.iree4j.spring;

import io.github.iree4j.Results;
import java.util.concurrent.CompletableFuture;

/**
 * Intercepts the calls made by {@link InvocationService}: to measure, limit, retry or merge calls. Beans of this type
 * are applied in their order ({@link org.springframework.core.Ordered}), the first outermost.
 *
 * <p>An implementation:
 *
 * <ul>
 *   <li>MUST NOT throw; a failure is a failed future;
 *   <li>MUST NOT block, unless the request is {@linkplain InvocationRequest#blocking() blocking};
 *   <li>SHOULD return the future returned by the chain, after {@code whenComplete}, so that cancellation still reaches
 *     the call; an implementation returning another future propagates the cancellation, as {@link ForwardedCall} does;
 *   <li>MUST close received results that are not passed on;
 *   <li>MUST signal the {@linkplain io.github.iree4j.CallOptions#signal() fence} of a request answered without the
 *       chain, once the results have contents. A failed future fails the fence.
 * </ul>
 */
@FunctionalInterface
public interface InvocationInterceptor {

    /** Order of interceptors observing calls. */
    int OBSERVATION_ORDER = -2000;

    /** Order of interceptors rejecting, limiting or retrying calls. */
    int RESILIENCE_ORDER = -1000;

    /** Order of the interceptor merging calls; later interceptors see batches. */
    int BATCHING_ORDER = 1000;

    /**
     * Makes a call.
     *
     * @param request the call to make
     * @param chain proceeds with the call
     * @return the results, or a failure in the form of an {@link io.github.iree4j.status.IreeException}
     */
    CompletableFuture<Results> intercept(InvocationRequest request, InvocationChain chain);
}
