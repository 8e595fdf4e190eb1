package io.github.iree4j.spring.resilience;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.CallOptions;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.Results;
import io.github.iree4j.spring.ForwardedCall;
import io.github.iree4j.spring.InvocationRequest;
import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.resilience4j.bulkhead.Bulkhead;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.retry.Retry;
import io.github.resilience4j.retry.RetryConfig;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Listeners and predicates of the application may throw: each call ends, its results are closed, and permits return. */
@Timeout(60)
class ThrowingListenersTests {
    private final IreeRuntime runtime = IreeRuntime.create();
    private final Program program = TestModules.idle(runtime);
    private final Results results = program.function("f").invoke();
    private final IreeException busy = IreeException.of(StatusCode.UNAVAILABLE, "busy");

    @AfterEach
    void close() {
        results.close();
        program.close();
        runtime.close();
    }

    private CompletableFuture<Results> call(ModelProtection protection, @Nullable IreeException failure) {
        InvocationRequest request = new InvocationRequest(
                new LoadedProgram(ProgramSource.of("m", "m.vmfb"), List.of(program)),
                program.function("f"),
                List.of(),
                CallOptions.DEFAULTS,
                false);
        return new ResilienceInterceptor(Map.of("m", protection))
                .intercept(
                        request,
                        _ -> failure == null
                                ? CompletableFuture.completedFuture(results)
                                : CompletableFuture.failedFuture(failure));
    }

    private static void raise() {
        throw new IllegalStateException("of the application");
    }

    private void assertFailsAndCloses(CompletableFuture<Results> call) {
        assertThat(call).isCompletedExceptionally();
        assertThat(call.exceptionNow()).hasMessageContaining("of the application");
        assertThat(results.toString()).startsWith("closed results");
    }

    @Test
    void aThrowingPredicateOfARetryEndsTheCallWithItsFailure() {
        Retry retry = Retry.of(
                "iree.m",
                RetryConfig.custom()
                        .retryOnException(_ -> {
                            throw new IllegalStateException("of the application");
                        })
                        .build());
        CompletableFuture<Results> call = call(new ModelProtection(null, null, null, retry), busy);
        assertThat(call).isCompletedExceptionally();
        assertThat(call.exceptionNow()).isSameAs(busy);
    }

    @Test
    void aThrowingListenerOfARetryEndsTheCall() {
        Retry retry =
                Retry.of("iree.m", RetryConfig.<Results>custom().maxAttempts(1).build());
        retry.getEventPublisher().onEvent(_ -> raise());
        CompletableFuture<Results> call = call(new ModelProtection(null, null, null, retry), busy);
        assertThat(call).isCompletedExceptionally();
        assertThat(call.exceptionNow()).isSameAs(busy);
    }

    @Test
    void aThrowingListenerOfABulkheadEndsTheCallAndTheBreakerHasItsPermission() {
        Bulkhead bulkhead = Bulkhead.ofDefaults("iree.m");
        bulkhead.getEventPublisher().onCallFinished(_ -> raise());
        CircuitBreaker breaker = CircuitBreaker.of(
                "iree.m",
                CircuitBreakerConfig.custom()
                        .permittedNumberOfCallsInHalfOpenState(1)
                        .build());
        breaker.transitionToOpenState();
        breaker.transitionToHalfOpenState();
        assertFailsAndCloses(call(new ModelProtection(breaker, bulkhead, null, null), null));
        assertThat(bulkhead.getMetrics().getAvailableConcurrentCalls())
                .isEqualTo(bulkhead.getMetrics().getMaxAllowedConcurrentCalls());
        assertThat(breaker.getState()).isEqualTo(CircuitBreaker.State.CLOSED);
    }

    @Test
    void aCallForwardedByAThrowingInterceptorEnds() {
        CompletableFuture<Results> call = new CompletableFuture<>();
        ForwardedCall forwarded = new ForwardedCall(call, (_, _) -> raise());
        call.complete(results);
        assertFailsAndCloses(forwarded);
    }

    @Test
    void anExceptionAfterTheCompletionChangesNothing() {
        CompletableFuture<Results> call = new CompletableFuture<>();
        ForwardedCall forwarded = new ForwardedCall(call, (_, settle) -> {
            settle.run();
            raise();
        });
        call.complete(results);
        assertThat(forwarded.join()).isSameAs(results);
        assertThat(results.toString()).doesNotStartWith("closed results");
    }
}
