package io.github.iree4j.spring;

import io.github.iree4j.Results;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;

/** Gives calls that say nothing of it the time that is configured for their program. */
public final class CallTimeouts implements InvocationInterceptor, Ordered {

    private final @Nullable Duration general;
    private final Map<String, Duration> byModel;

    /**
     * Timeouts.
     *
     * @param general for programs that have none of their own; null for as long as it takes
     * @param byModel by the program's name
     */
    public CallTimeouts(@Nullable Duration general, Map<String, Duration> byModel) {
        this.general = general;
        this.byModel = Map.copyOf(byModel);
    }

    @Override
    public int getOrder() {
        return RESILIENCE_ORDER + 100; // of each attempt
    }

    @Override
    public CompletableFuture<Results> intercept(InvocationRequest request, InvocationChain chain) {
        Duration own = byModel.get(request.model());
        Duration timeout = own == null ? general : own;
        return chain.proceed(
                timeout == null || request.options().timeout() != null
                        ? request
                        : request.withOptions(request.options().within(timeout)));
    }
}
