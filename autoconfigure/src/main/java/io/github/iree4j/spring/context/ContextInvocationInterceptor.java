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
 * Has what follows an asynchronous call run with the thread-locals of whoever made it: the diagnostic context (MDC), the observation, and all
 * that the application's {@link ContextRegistry} knows. Calls that are over when they come back, as most are whose caller waits, cost
 * nothing.
 *
 * <p>One stands around all other interceptors, for what is attached to the future; another one next to the call, for what interceptors
 * attach. In a batch the latter sees who sent the batch off.
 */
public final class ContextInvocationInterceptor implements InvocationInterceptor, Ordered {

    private final ContextSnapshotFactory factory;
    private final int order;

    /**
     * An interceptor.
     *
     * @param registry knows what belongs to a thread, besides the diagnostic context
     * @param order where it stands among the others
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
