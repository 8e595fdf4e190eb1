package io.github.iree4j.spring.resilience;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.CallOptions;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.Results;
import io.github.iree4j.async.Deadline;
import io.github.iree4j.spring.InvocationChain;
import io.github.iree4j.spring.InvocationRequest;
import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.status.FileFault;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.NeverFits;
import io.github.iree4j.status.StatusCode;
import io.github.resilience4j.bulkhead.Bulkhead;
import io.github.resilience4j.bulkhead.BulkheadConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.retry.Retry;
import io.github.resilience4j.retry.RetryConfig;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.Assertions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(900)
class ResilienceInterceptorTests {

    private final IreeRuntime runtime = IreeRuntime.create();
    private final Program program = TestModules.idle(runtime);
    private final InvocationRequest request = new InvocationRequest(
            new LoadedProgram(ProgramSource.of("m", "m.vmfb"), List.of(program)),
            program.function("f"),
            List.of(),
            CallOptions.DEFAULTS,
            false);
    private final Queue<CompletableFuture<Results>> answers = new ArrayDeque<>();
    private final AtomicInteger calls = new AtomicInteger();
    private @Nullable Duration limit;
    private final InvocationChain chain = made -> {
        calls.incrementAndGet();
        limit = made.options().timeout().orElse(null);
        return answers.remove();
    };

    @AfterEach
    void close() {
        program.close();
        runtime.close();
    }

    private CompletableFuture<Results> success() {
        return CompletableFuture.completedFuture(program.function("f").invoke());
    }

    private static CompletableFuture<Results> failure(StatusCode code) {
        return CompletableFuture.failedFuture(IreeException.of(code, "no"));
    }

    private CompletableFuture<Results> call(ModelProtection protection) {
        return new ResilienceInterceptor(Map.of("m", protection)).intercept(request, chain);
    }

    private static StatusCode code(CompletableFuture<Results> future) {
        return Assertions.catchThrowableOfType(CompletionException.class, future::join)
                                .getCause()
                        instanceof IreeException e
                ? e.code()
                : StatusCode.OK;
    }

    private static Retry retry() {
        return Retry.of(
                "iree.m",
                RetryConfig.custom()
                        .maxAttempts(3)
                        .waitDuration(Duration.ofMillis(1))
                        .build());
    }

    private static CircuitBreaker breaker() {
        return CircuitBreaker.of(
                "iree.m",
                CircuitBreakerConfig.custom()
                        .slidingWindowSize(2)
                        .minimumNumberOfCalls(2)
                        .build());
    }

    @Test
    void programsWithoutProtectionPassThrough() {
        answers.add(success());
        assertThat(new ResilienceInterceptor(Map.of()).intercept(request, chain))
                .isCompleted();
    }

    @Test
    void openBreakerRejectsCalls() {
        ModelProtection protection = new ModelProtection(breaker(), null, null, null);
        answers.add(failure(StatusCode.INTERNAL));
        answers.add(failure(StatusCode.DEADLINE_EXCEEDED));
        assertThat(code(call(protection))).isEqualTo(StatusCode.INTERNAL);
        assertThat(code(call(protection))).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        CompletableFuture<Results> refused = call(protection);
        assertThat(code(refused)).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(refused.exceptionNow()).hasMessageContaining("circuit breaker 'iree.m' is OPEN");
        assertThat(calls).hasValue(2);
    }

    @Test
    void limitChangedDuringACallIsNotTheCallersHaste() {
        CircuitBreaker breaker = breaker();
        CompletableFuture<Results> answer = new CompletableFuture<>();
        answers.add(answer);
        program.setTimeout(Duration.ofNanos(1));
        CompletableFuture<Results> call = call(new ModelProtection(breaker, null, null, null));
        program.setTimeout(Duration.ofHours(1));
        answer.completeExceptionally(IreeException.of(StatusCode.DEADLINE_EXCEEDED, "late"));
        assertThat(code(call)).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        assertThat(breaker.getMetrics().getNumberOfFailedCalls()).isEqualTo(1);
    }

    /** The chain throws once the answers are used up. */
    @Test
    void exceptionOfALaterInterceptorReturnsThePermit() {
        Bulkhead bulkhead = Bulkhead.of(
                "iree.m", BulkheadConfig.custom().maxConcurrentCalls(1).build());
        for (int i = 0; i < 2; i++) {
            Assertions.assertThatExceptionOfType(NoSuchElementException.class)
                    .isThrownBy(() -> call(new ModelProtection(null, bulkhead, null, null)));
        }
        assertThat(bulkhead.getMetrics().getAvailableConcurrentCalls()).isEqualTo(1);
    }

    @Test
    void exceptionOfALaterInterceptorDuringARetryEndsTheCall() {
        answers.add(failure(StatusCode.UNAVAILABLE));
        CompletableFuture<Results> call = call(new ModelProtection(null, null, null, retry()));
        assertThat(call)
                .failsWithin(Duration.ofMinutes(1))
                .withThrowableThat()
                .withCauseInstanceOf(NoSuchElementException.class);
        assertThat(calls).hasValue(2);
    }

    @Test
    void callerErrorsDoNotCountAsFailures() {
        CircuitBreaker breaker = breaker();
        ModelProtection protection = new ModelProtection(breaker, null, null, null);
        for (StatusCode code : List.of(
                StatusCode.INVALID_ARGUMENT, StatusCode.NOT_FOUND, StatusCode.OUT_OF_RANGE, StatusCode.CANCELLED)) {
            answers.add(failure(code));
            assertThat(code(call(protection))).isEqualTo(code);
        }
        assertThat(breaker.getState()).isEqualTo(CircuitBreaker.State.CLOSED);
        assertThat(breaker.getMetrics().getNumberOfFailedCalls()).isZero();
    }

    @Test
    void hasteOfCallersDoesNotOpenTheBreaker() {
        program.setTimeout(Duration.ofSeconds(5));
        CircuitBreaker breaker = breaker();
        ResilienceInterceptor interceptor =
                new ResilienceInterceptor(Map.of("m", new ModelProtection(breaker, null, null, null)));
        InvocationRequest hasty = request.withOptions(CallOptions.DEFAULTS.timeout(Duration.ofNanos(1)));
        for (int i = 0; i < 99; i++) {
            answers.add(failure(StatusCode.DEADLINE_EXCEEDED));
            assertThat(code(interceptor.intercept(hasty, chain))).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        }
        assertThat(breaker.getState()).isEqualTo(CircuitBreaker.State.CLOSED);
        assertThat(breaker.getMetrics().getNumberOfFailedCalls()).isZero();
    }

    @Test
    void touchedFilesDoNotOpenTheBreaker() {
        CircuitBreaker breaker = breaker();
        for (int i = 0; i < 99; i++) {
            answers.add(CompletableFuture.failedFuture(
                    IreeException.of(StatusCode.UNAVAILABLE, "touched", null, new FileFault())));
            assertThat(code(call(new ModelProtection(breaker, null, null, null))))
                    .isEqualTo(StatusCode.UNAVAILABLE);
        }
        assertThat(breaker.getState()).isEqualTo(CircuitBreaker.State.CLOSED);
        assertThat(breaker.getMetrics().getNumberOfFailedCalls()).isZero();
    }

    @Test
    void impossibleCallsAreNotRepeated() {
        answers.add(CompletableFuture.failedFuture(
                IreeException.of(StatusCode.RESOURCE_EXHAUSTED, "too large", null, new NeverFits(1 << 30))));
        assertThat(code(call(new ModelProtection(null, null, null, retry())))).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(calls).hasValue(1);
    }

    /** An impossible request, or memory held by others. */
    @Test
    void requestsWithoutRoomDoNotOpenTheBreaker() {
        ModelProtection protection = new ModelProtection(breaker(), null, null, null);
        for (int i = 0; i < 3; i++) {
            answers.add(failure(StatusCode.RESOURCE_EXHAUSTED));
            assertThat(code(call(protection))).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        }
        assertThat(protection.circuitBreaker())
                .extracting(CircuitBreaker::getState)
                .isEqualTo(CircuitBreaker.State.CLOSED);
    }

    @Test
    void timeLimitIsTheModelsAlsoForCallersWithADeadline() {
        CircuitBreaker breaker = breaker();
        ResilienceInterceptor interceptor =
                new ResilienceInterceptor(Map.of("m", new ModelProtection(breaker, null, Duration.ofNanos(1), null)));
        answers.add(failure(StatusCode.DEADLINE_EXCEEDED));
        interceptor.intercept(request.withOptions(CallOptions.DEFAULTS.timeout(Duration.ofHours(1))), chain);
        assertThat(breaker.getMetrics().getNumberOfFailedCalls()).isEqualTo(1);
    }

    @Test
    void bulkheadLimitsCallsInFlight() {
        Bulkhead bulkhead = Bulkhead.of(
                "iree.m", BulkheadConfig.custom().maxConcurrentCalls(1).build());
        ModelProtection protection = new ModelProtection(null, bulkhead, null, null);
        CompletableFuture<Results> running = new CompletableFuture<>();
        answers.add(running);
        call(protection);
        CompletableFuture<Results> refused = call(protection);
        assertThat(code(refused)).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(refused.exceptionNow()).hasMessageContaining("1 calls of program 'm' are in flight");
        running.cancel(true);
        answers.add(success());
        assertThat(call(protection)).isCompleted();
    }

    @Test
    void retriesTransientFailures() {
        ModelProtection protection = new ModelProtection(null, null, null, retry());
        answers.add(failure(StatusCode.UNAVAILABLE));
        answers.add(failure(StatusCode.RESOURCE_EXHAUSTED));
        answers.add(success());
        call(protection).join().close();
        assertThat(calls).hasValue(3);
    }

    @Test
    void doesNotRetryPermanentFailures() {
        ModelProtection protection = new ModelProtection(null, null, null, retry());
        for (StatusCode code : List.of(
                StatusCode.INVALID_ARGUMENT, StatusCode.INTERNAL, StatusCode.DEADLINE_EXCEEDED, StatusCode.ABORTED)) {
            answers.add(failure(code));
            assertThat(code(call(protection))).isEqualTo(code);
        }
        assertThat(calls).hasValue(4);
    }

    @Test
    void attemptsAreLimited() {
        for (int i = 0; i < 3; i++) {
            answers.add(failure(StatusCode.UNAVAILABLE));
        }
        assertThat(code(call(new ModelProtection(null, null, null, retry())))).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(calls).hasValue(3);
    }

    @Test
    void theTimeoutOfACallIsForAllAttemptsTogether() {
        List<Deadline> deadlines = new ArrayList<>();
        InvocationChain failing = attempt -> {
            deadlines.add(attempt.options().deadline().orElse(null));
            return failure(StatusCode.UNAVAILABLE);
        };
        ResilienceInterceptor interceptor =
                new ResilienceInterceptor(Map.of("m", new ModelProtection(null, null, null, retry())));
        Duration hour = Duration.ofHours(1);
        InvocationRequest patient = request.withOptions(request.options().timeout(hour));
        assertThat(code(interceptor.intercept(patient, failing))).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(deadlines).hasSize(3);
        assertThat(Set.copyOf(deadlines)).extracting(Deadline::timeout).containsExactly(hour);
        deadlines.clear();
        InvocationRequest hasty = request.withOptions(request.options().timeout(Duration.ofMillis(1)));
        assertThat(code(interceptor.intercept(hasty, failing))).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(deadlines)
                .as("the delay of a retry is as long as the timeout")
                .hasSize(1);
    }

    @Test
    void cancellationReachesTheCurrentAttempt() {
        CompletableFuture<Results> running = new CompletableFuture<>();
        answers.add(running);
        CompletableFuture<Results> call = call(new ModelProtection(null, null, null, retry()));
        call.cancel(true);
        assertThat(running).isCancelled();
        Assertions.assertThatExceptionOfType(CancellationException.class).isThrownBy(call::join);
    }

    @Test
    void shorterTimeLimitApplies() {
        answers.add(success());
        answers.add(success());
        ModelProtection protection = new ModelProtection(null, null, Duration.ofSeconds(1), null);
        call(protection);
        assertThat(limit).isEqualTo(Duration.ofSeconds(1));
        new ResilienceInterceptor(Map.of("m", protection))
                .intercept(request.withOptions(CallOptions.DEFAULTS.timeout(Duration.ofMillis(3))), chain);
        assertThat(limit).isEqualTo(Duration.ofMillis(3));
    }
}
