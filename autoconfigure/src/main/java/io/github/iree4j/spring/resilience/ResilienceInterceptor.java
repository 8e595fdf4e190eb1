package io.github.iree4j.spring.resilience;

import io.github.iree4j.Results;
import io.github.iree4j.TransferredTensor;
import io.github.iree4j.async.IreeFuture;
import io.github.iree4j.spring.InvocationChain;
import io.github.iree4j.spring.InvocationInterceptor;
import io.github.iree4j.spring.InvocationRequest;
import io.github.iree4j.status.TransientFailureException;
import io.github.resilience4j.retry.Retry;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;

/**
 * Circuit breaker, bulkhead, time limit and retry around the calls of programs.
 *
 * <p>Only failures of the model or its device count as failures of the program, see
 * {@link io.github.iree4j.spring.Fault}. Only {@link TransientFailureException} is retried, and only for calls without
 * a fence to signal and without transferred inputs, since the first attempt consumes fence and inputs.
 *
 * <p>Each library of Resilience4j is optional. Spring resolves the types in declarations of this class, so only
 * classes within name types of the libraries.
 */
public final class ResilienceInterceptor implements InvocationInterceptor, Ordered {

    private final Map<String, ModelProtection> models;

    /**
     * Creates an interceptor.
     *
     * @param models protection by program name; calls of other programs pass through
     */
    public ResilienceInterceptor(Map<String, ModelProtection> models) {
        this.models = Map.copyOf(models);
    }

    @Override
    public int getOrder() {
        return RESILIENCE_ORDER;
    }

    @Override
    public CompletableFuture<Results> intercept(InvocationRequest request, InvocationChain chain) {
        ModelProtection protection = models.get(request.model());
        if (protection == null) {
            return chain.proceed(request);
        }
        // The time has begun, unless an interceptor has set a timeout.
        InvocationRequest begun = request.withOptions(
                request.options().begin(request.function().program().timeout().orElse(null)));
        Retry retry = protection.retry();
        if (retry == null || !isRepeatable(request)) {
            return new Attempt(protection, begun).make(chain);
        }
        Attempts attempts = new Attempts(protection, begun.asynchronous(), chain, retry.asyncContext());
        attempts.next();
        return attempts;
    }

    private static boolean isRepeatable(InvocationRequest request) {
        return request.options().signal().isEmpty()
                && request.inputs().stream().noneMatch(TransferredTensor.class::isInstance);
    }

    /**
     * A call with retries; completing the future early cancels the call. The deadline is for all attempts together.
     */
    private static final class Attempts extends IreeFuture<Results> {
        private final ModelProtection protection;
        private final InvocationRequest request;
        private final InvocationChain chain;
        private final Retry.AsyncContext<Results> context;
        private volatile @Nullable CompletableFuture<Results> current;

        Attempts(
                ModelProtection protection,
                InvocationRequest request,
                InvocationChain chain,
                Retry.AsyncContext<Results> context) {
            super(request.function().fullName());
            this.protection = protection;
            this.request = request;
            this.chain = chain;
            this.context = context;
            whenComplete((_, _) -> giveUp());
        }

        private void giveUp() {
            CompletableFuture<Results> call = current;
            if (call != null) {
                call.cancel(true); // no effect on a completed call
            }
        }

        void next() {
            if (isDone()) {
                return;
            }
            CompletableFuture<Results> call = new Attempt(protection, request).make(chain);
            current = call;
            call.whenComplete(this::ended);
            if (isDone()) { // completed before 'current' was set
                giveUp();
            }
        }

        private boolean isLateAfter(Duration delay) {
            return request.options()
                    .deadline()
                    .filter(deadline -> deadline.left().compareTo(delay) <= 0)
                    .isPresent();
        }

        /** Counts the end of an attempt; returns the milliseconds until the next attempt, a negative number for none. */
        private long delay(@Nullable Throwable failure) {
            if (failure == null) {
                context.onComplete();
                return -1;
            }
            return failure instanceof TransientFailureException && !isDone() ? context.onError(failure) : -1;
        }

        private void ended(@Nullable Results results, @Nullable Throwable failure) {
            long delay;
            try {
                delay = delay(failure);
            } catch (RuntimeException | Error e) { // of the application's retry: nobody else sees the exception
                completeExceptionally(failure == null ? failureOf(e) : failure);
                if (results != null) {
                    results.close();
                }
                return;
            }
            if (failure == null) {
                if (!complete(results) && results != null) {
                    results.close();
                }
                return;
            }
            if (delay < 0 || isLateAfter(Duration.ofMillis(delay))) {
                completeExceptionally(failure);
                return;
            }
            Executor later = CompletableFuture.delayedExecutor(
                    delay,
                    TimeUnit.MILLISECONDS,
                    action -> Thread.ofVirtual().name("iree4j-retry").start(action));
            later.execute(this::retry);
        }

        private void retry() {
            try {
                next();
            } catch (RuntimeException | Error e) { // of an interceptor; nobody else sees the failure
                completeExceptionally(e);
            }
        }
    }
}
