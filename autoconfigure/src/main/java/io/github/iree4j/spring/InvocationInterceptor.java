package io.github.iree4j.spring;

import io.github.iree4j.Results;
import java.util.concurrent.CompletableFuture;

/**
 * Stands around the calls that {@link InvocationService} makes: to measure, limit, repeat or merge them. Beans of this type are called in
 * their order ({@link org.springframework.core.Ordered}), the first outermost.
 *
 * <p>An implementation:
 *
 * <ul>
 *   <li>MUST NOT throw, but return a failed future;
 *   <li>MUST NOT block, unless the request is {@linkplain InvocationRequest#blocking() blocking};
 *   <li>SHOULD return the future that the chain returned, after {@code whenComplete}, so that cancelling it still reaches the call; one
 *       that returns another passes its cancellation on, as {@link ForwardedCall} does;
 *   <li>MUST close results that it receives and does not hand on.
 * </ul>
 */
@FunctionalInterface
public interface InvocationInterceptor {

    /** Order of interceptors that watch calls. */
    int OBSERVATION_ORDER = -2000;

    /** Order of interceptors that refuse, limit or repeat calls. */
    int RESILIENCE_ORDER = -1000;

    /** Order of the one that merges calls; what comes after it sees batches. */
    int BATCHING_ORDER = 1000;

    /**
     * Makes a call.
     *
     * @param request what to call
     * @param chain makes it
     * @return the results, or a failure that is an {@link io.github.iree4j.status.IreeException}
     */
    CompletableFuture<Results> intercept(InvocationRequest request, InvocationChain chain);
}
