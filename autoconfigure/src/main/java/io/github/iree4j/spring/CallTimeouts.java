package io.github.iree4j.spring;

import io.github.iree4j.Results;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;

/** Gives calls that say nothing of it the time that is configured for their program. */
public final class CallTimeouts implements InvocationInterceptor, Ordered {

    private record Timeouts(@Nullable Duration general, Map<String, Duration> byModel) {}

    private volatile Timeouts timeouts;

    /**
     * Timeouts.
     *
     * @param general for programs that have none of their own; null for as long as it takes
     * @param byModel by the program's name
     */
    public CallTimeouts(@Nullable Duration general, Map<String, Duration> byModel) {
        this.timeouts = new Timeouts(general, Map.copyOf(byModel));
    }

    /**
     * Changes them for calls that are made from now on.
     *
     * @param general for programs that have none of their own; null for as long as it takes
     * @param byModel by the program's name
     */
    public void change(@Nullable Duration general, Map<String, Duration> byModel) {
        timeouts = new Timeouts(general, Map.copyOf(byModel));
    }

    @Override
    public int getOrder() {
        return RESILIENCE_ORDER + 100; // of each attempt
    }

    @Override
    public CompletableFuture<Results> intercept(InvocationRequest request, InvocationChain chain) {
        Timeouts now = timeouts;
        Duration own = now.byModel().get(request.model());
        Duration timeout = own == null ? now.general() : own;
        return chain.proceed(
                timeout == null || request.options().timeout() != null
                        ? request
                        : request.withOptions(request.options().within(timeout)));
    }
}
