package io.github.iree4j.spring.reactive;

import io.github.iree4j.Results;
import io.github.iree4j.async.IreeFuture;
import io.github.iree4j.spring.InvocationOperations;
import io.github.iree4j.spring.InvocationSpec;
import io.github.iree4j.spring.context.SubscriberContext;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Calls functions of the application's programs by name, for callers using Reactor.
 *
 * <p>A call is made at each subscription, and cancelled together with the subscription. Delivered results belong to the
 * subscriber; results arriving after cancellation are closed. {@link #invoke(String, Function, Object...)} closes the
 * results for callers interested only in values. Subscribers run on a virtual thread, where blocking is allowed.
 */
public final class ReactiveInvocationService {

    private final InvocationOperations invocations;

    /**
     * Creates a service.
     *
     * @param invocations makes the calls
     */
    public ReactiveInvocationService(InvocationOperations invocations) {
        this.invocations = invocations;
    }

    /**
     * Calls a function.
     *
     * @param function the program's name, a dot, the function's name
     * @param inputs an input for each argument; borrowed until the call completes
     * @return the results, to be closed by the subscriber, or an {@link io.github.iree4j.status.IreeException}
     */
    public Mono<Results> invoke(String function, @Nullable Object... inputs) {
        return mono(() -> invocations.invokeAsync(function, inputs));
    }

    /**
     * Calls a function and reads the results, which are then closed.
     *
     * @param function the program's name, a dot, the function's name
     * @param reader converts the results; must not retain the results
     * @param inputs an input for each argument; borrowed until the call completes
     * @return the converted value, or an {@link io.github.iree4j.status.IreeException}
     * @param <T> the type of the converted value
     */
    public <T> Mono<T> invoke(
            String function, Function<? super Results, ? extends T> reader, @Nullable Object... inputs) {
        return invoke(function, inputs).map(results -> {
            try (results) {
                return reader.apply(results);
            }
        });
    }

    /**
     * Makes a specified call.
     *
     * @param request see {@link InvocationOperations#request(String)}; made at each subscription
     * @return the results, to be closed by the subscriber, or an {@link io.github.iree4j.status.IreeException}
     */
    public Mono<Results> invoke(InvocationSpec request) {
        return mono(request::invokeAsync);
    }

    private static Mono<Results> mono(Supplier<IreeFuture<Results>> call) {
        return Mono.<Results>create(sink -> {
                    IreeFuture<Results> future = SubscriberContext.within(sink.contextView(), call);
                    sink.onCancel(() -> future.cancel(true));
                    future.whenComplete((results, failure) -> {
                        if (failure == null) {
                            sink.success(results);
                        } else {
                            sink.error(failure);
                        }
                    });
                })
                .doOnDiscard(Results.class, Results::close);
    }
}
