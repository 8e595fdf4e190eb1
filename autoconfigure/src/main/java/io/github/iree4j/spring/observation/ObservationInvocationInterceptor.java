package io.github.iree4j.spring.observation;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Results;
import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.spring.ForwardedCall;
import io.github.iree4j.spring.InvocationChain;
import io.github.iree4j.spring.InvocationInterceptor;
import io.github.iree4j.spring.InvocationRequest;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;

/**
 * Observes calls. Callbacks of an asynchronous call run in the scope of the observation current at the time of the
 * call, on any completing thread, to keep traces and logs connected.
 */
@NotForApplications
public final class ObservationInvocationInterceptor implements InvocationInterceptor, Ordered {

    private static final InvocationObservationConvention DEFAULT = new DefaultInvocationObservationConvention();

    private final IreeRuntime runtime;
    private final ObservationRegistry registry;
    private final @Nullable InvocationObservationConvention convention;

    /**
     * Creates an interceptor.
     *
     * @param runtime provides the names of devices
     * @param registry receives the observations
     * @param convention names and tags; null for the defaults
     */
    public ObservationInvocationInterceptor(
            IreeRuntime runtime, ObservationRegistry registry, @Nullable InvocationObservationConvention convention) {
        this.runtime = runtime;
        this.registry = registry;
        this.convention = convention;
    }

    @Override
    public int getOrder() {
        return OBSERVATION_ORDER;
    }

    @Override
    public CompletableFuture<Results> intercept(InvocationRequest request, InvocationChain chain) {
        if (registry.isNoop()) {
            return chain.proceed(request);
        }
        Observation parent = registry.getCurrentObservation();
        Observation observation = IreeObservationDocumentation.INVOCATION
                .observation(
                        convention, DEFAULT, () -> new InvocationObservationContext(request, device(request)), registry)
                .start();
        CompletableFuture<Results> call;
        try (Observation.Scope _ = observation.openScope()) {
            call = chain.proceed(request);
        }
        if (request.blocking() && call.isDone()) {
            stop(observation, failureOf(call));
            return call;
        }
        return new ForwardedCall(call, (failure, settle) -> {
            stop(observation, failure);
            if (parent == null) {
                settle.run();
            } else {
                try (Observation.Scope _ = parent.openScope()) {
                    settle.run();
                }
            }
        });
    }

    private String device(InvocationRequest request) {
        return request.function().program().devices().stream()
                .map(runtime.monitor().devices()::nameOf)
                .collect(Collectors.joining(","));
    }

    private static void stop(Observation observation, @Nullable Throwable failure) {
        if (failure != null) {
            observation.error(failure);
        }
        observation.stop();
    }

    private static @Nullable Throwable failureOf(CompletableFuture<Results> call) {
        return call.state() == CompletableFuture.State.FAILED ? unwrapped(call.exceptionNow()) : null;
    }

    private static Throwable unwrapped(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }
}
