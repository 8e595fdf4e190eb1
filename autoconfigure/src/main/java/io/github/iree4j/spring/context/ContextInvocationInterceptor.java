package io.github.iree4j.spring.context;

import io.github.iree4j.Results;
import io.github.iree4j.spring.ForwardedCall;
import io.github.iree4j.spring.InvocationChain;
import io.github.iree4j.spring.InvocationInterceptor;
import io.github.iree4j.spring.InvocationRequest;
import io.micrometer.context.ContextRegistry;
import io.micrometer.context.ContextSnapshotFactory;
import java.util.concurrent.CompletableFuture;
import org.springframework.core.Ordered;

/**
 * Runs the continuations of an asynchronous call with the caller's thread-locals: the diagnostic context (MDC), the
 * observation, and everything in the application's {@link ContextRegistry}. Calls already complete when the chain
 * returns, as most blocking calls are, cost nothing.
 *
 * <p>The outermost interceptor is an instance of this class, for continuations of the caller; the innermost interceptor
 * is another instance, for continuations of interceptors. In a batch, the innermost instance sees the context of the
 * batch's first caller.
 */
public final class ContextInvocationInterceptor implements InvocationInterceptor, Ordered {

    private final ContextSnapshotFactory factory;
    private final int order;

    /**
     * Creates an interceptor.
     *
     * @param registry the thread-locals to propagate besides the MDC
     * @param order the order among interceptors
     */
    public ContextInvocationInterceptor(ContextRegistry registry, int order) {
        this.factory = CallerContext.factory(registry);
        this.order = order;
    }

    @Override
    public int getOrder() {
        return order;
    }

    @Override
    public CompletableFuture<Results> intercept(InvocationRequest request, InvocationChain chain) {
        CompletableFuture<Results> call = chain.proceed(request);
        if (call.isDone()) {
            return call;
        }
        CallerContext caller = CallerContext.capture(factory);
        return new ForwardedCall(call, (_, settle) -> caller.run(settle));
    }
}
