package io.github.iree4j.spring;

import io.github.iree4j.Results;
import io.github.iree4j.api.NotForApplications;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;

/** Applies the configured timeout of a program to calls: a call's own timeout may be shorter, not longer. */
@NotForApplications
public final class CallTimeouts implements InvocationInterceptor, Ordered {

    private volatile CallLimits timeouts;

    /**
     * Creates the interceptor.
     *
     * @param general applies to programs without a specific timeout; null or zero for no timeout
     * @param byModel timeouts by program name; zero for no timeout
     */
    public CallTimeouts(@Nullable Duration general, Map<String, Duration> byModel) {
        this.timeouts = new CallLimits(general, byModel);
    }

    /**
     * Changes the timeouts of future calls.
     *
     * @param general applies to programs without a specific timeout; null or zero for no timeout
     * @param byModel timeouts by program name; zero for no timeout
     */
    public void change(@Nullable Duration general, Map<String, Duration> byModel) {
        timeouts = new CallLimits(general, byModel);
    }

    @Override
    public int getOrder() {
        return RESILIENCE_ORDER + 100; // inside retries, which divide the time among the attempts
    }

    @Override
    public CompletableFuture<Results> intercept(InvocationRequest request, InvocationChain chain) {
        Duration timeout = timeouts.of(request.model());
        return chain.proceed(
                timeout == null || timeout.isZero()
                        ? request
                        : request.withOptions(request.options().timeoutAtMost(timeout)));
    }
}
