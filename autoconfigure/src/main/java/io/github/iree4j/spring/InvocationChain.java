package io.github.iree4j.spring;

import io.github.iree4j.Results;
import java.util.concurrent.CompletableFuture;

/**
 * The rest of the chain behind an {@link InvocationInterceptor}: further interceptors, then the call itself. May be
 * used from any thread, any number of times.
 */
@FunctionalInterface
public interface InvocationChain {

    /**
     * Proceeds with a request.
     *
     * @param request the received request, or a request derived from the received request
     * @return the results, owned by the receiver; every failure completes the future exceptionally, with an
     *     {@link io.github.iree4j.status.IreeException}. Cancelling the future cancels the call and frees the call's
     *     resources
     */
    CompletableFuture<Results> proceed(InvocationRequest request);
}
