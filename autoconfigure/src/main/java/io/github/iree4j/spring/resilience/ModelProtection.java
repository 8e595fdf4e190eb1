package io.github.iree4j.spring.resilience;

import io.github.resilience4j.bulkhead.Bulkhead;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.retry.Retry;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Protection of a program; each part may be null.
 *
 * @param circuitBreaker rejects calls for a while after too many failures
 * @param bulkhead rejects calls while too many are in flight; must not wait, since callers may be on threads that must
 *     not block
 * @param timeLimit maximum duration of an attempt
 * @param retry retries calls that failed for a transient reason
 */
public record ModelProtection(
        @Nullable CircuitBreaker circuitBreaker,
        @Nullable Bulkhead bulkhead,
        @Nullable Duration timeLimit,
        @Nullable Retry retry) {}
