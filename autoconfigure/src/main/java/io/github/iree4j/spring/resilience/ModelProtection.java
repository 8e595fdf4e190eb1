package io.github.iree4j.spring.resilience;

import io.github.resilience4j.bulkhead.Bulkhead;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.retry.Retry;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What protects one program; null for what does not.
 *
 * @param circuitBreaker refuses calls for a while after too many failed
 * @param bulkhead refuses calls while too many are under way; must not wait, since callers may be on threads that must not
 * @param timeLimit how long an attempt may take
 * @param retry makes calls again that failed for a reason that passes
 */
public record ModelProtection(
        @Nullable CircuitBreaker circuitBreaker,
        @Nullable Bulkhead bulkhead,
        @Nullable Duration timeLimit,
        @Nullable Retry retry) {}
