package io.github.iree4j.spring.resilience;

import io.github.iree4j.CallOptions;
import io.github.iree4j.Results;
import io.github.iree4j.async.Deadline;
import io.github.iree4j.spring.Fault;
import io.github.iree4j.spring.ForwardedCall;
import io.github.iree4j.spring.InvocationChain;
import io.github.iree4j.spring.InvocationRequest;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.resilience4j.bulkhead.Bulkhead;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A single attempt of a call, within circuit breaker, bulkhead and time limit. No lambda captures a type of their
 * libraries: the JVM would resolve the type even where the library is absent.
 */
final class Attempt {

    private final ModelProtection protection;
    private final InvocationRequest request;
    private final @Nullable Duration limit; // as the call begins; properties may change meanwhile
    private long start; // by the clock of the circuit breaker, if any
    private @Nullable Deadline deadline; // of the caller or of the program; null where the time limit ends first

    Attempt(ModelProtection protection, InvocationRequest request) {
        this.protection = protection;
        this.request = request;
        this.limit = request.function().program().timeout().orElse(null);
    }

    CompletableFuture<Results> make(InvocationChain chain) {
        Bulkhead bulkhead = protection.bulkhead();
        CircuitBreaker breaker = protection.circuitBreaker();
        if (breaker != null && !breaker.tryAcquirePermission()) {
            return refused(
                    StatusCode.UNAVAILABLE,
                    "circuit breaker '%s' is %s after too many failures of program '%s'; try again later"
                            .formatted(breaker.getName(), breaker.getState(), request.model()));
        }
        if (bulkhead != null && !bulkhead.tryAcquirePermission()) {
            if (breaker != null) {
                breaker.releasePermission();
            }
            return refused(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "%d calls of program '%s' are in flight, the limit of bulkhead '%s'; try again later"
                            .formatted(
                                    bulkhead.getBulkheadConfig().getMaxConcurrentCalls(),
                                    request.model(),
                                    bulkhead.getName()));
        }
        start = breaker == null ? 0 : breaker.getCurrentTimestamp();
        CallOptions limited = request.options().begin(protection.timeLimit());
        deadline = limited.equals(request.options()) ? limited.deadline().orElse(null) : null;
        CompletableFuture<Results> call;
        try {
            call = chain.proceed(request.withOptions(limited));
        } catch (RuntimeException | Error e) { // of an interceptor: otherwise the permit would be lost
            count(e);
            throw e;
        }
        // Counted before the caller is notified: the caller's next call must find the permit released.
        return new ForwardedCall(call, (failure, settle) -> {
            count(failure);
            settle.run();
        });
    }

    private void count(@Nullable Throwable failure) {
        Bulkhead bulkhead = protection.bulkhead();
        CircuitBreaker breaker = protection.circuitBreaker();
        try {
            if (bulkhead != null) {
                bulkhead.onComplete();
            }
        } finally { // also where a listener of the application throws: the breaker has lent a permission
            if (breaker != null) {
                count(breaker, breaker.getCurrentTimestamp() - start, failure);
            }
        }
    }

    private void count(CircuitBreaker breaker, long duration, @Nullable Throwable failure) {
        if (failure == null) {
            breaker.onSuccess(duration, breaker.getTimestampUnit());
            return;
        }
        if (Fault.of(failure, deadline, limit).isOfModelOrDevice()) {
            breaker.onError(duration, breaker.getTimestampUnit(), failure);
        } else {
            breaker.releasePermission();
        }
    }

    private static CompletableFuture<Results> refused(StatusCode code, String message) {
        return CompletableFuture.failedFuture(IreeException.of(code, message));
    }
}
