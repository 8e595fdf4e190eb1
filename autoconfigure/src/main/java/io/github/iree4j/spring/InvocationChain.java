package io.github.iree4j.spring;

import io.github.iree4j.Results;
import java.util.concurrent.CompletableFuture;

/** What follows an {@link InvocationInterceptor}: the others, then the call itself. From any thread, any number of times. */
@FunctionalInterface
public interface InvocationChain {

    /**
     * Goes on with a request.
     *
     * @param request the one that came, or one made of it
     * @return the results, owned by whoever receives them; every failure arrives through it, as an
     *     {@link io.github.iree4j.status.IreeException}. Cancelling it cancels the call and frees what it held
     */
    CompletableFuture<Results> proceed(InvocationRequest request);
}
