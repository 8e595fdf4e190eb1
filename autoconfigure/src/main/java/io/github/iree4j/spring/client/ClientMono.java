package io.github.iree4j.spring.client;

import io.github.iree4j.ResultType;
import io.github.iree4j.async.IreeFuture;
import io.github.iree4j.spring.InvocationSpec;
import io.github.iree4j.spring.context.SubscriberContext;
import reactor.core.publisher.Mono;

/** Mono results of client methods. Loaded only when Reactor is present. */
final class ClientMono {
    private ClientMono() {}

    static boolean isMono(Class<?> type) {
        return type == Mono.class;
    }

    /** Makes the call at each subscription; cancelling the subscription cancels the call. */
    static Mono<?> of(InvocationSpec spec, ResultType<?> results) {
        return Mono.create(sink -> {
                    IreeFuture<?> call =
                            SubscriberContext.within(sink.contextView(), () -> spec.retrieveAsync(results));
                    sink.onCancel(() -> call.cancel(true));
                    call.whenComplete((value, failure) -> {
                        if (failure != null) {
                            sink.error(failure);
                        } else if (value != null) {
                            sink.success(value);
                        } else {
                            sink.success();
                        }
                    });
                })
                .doOnDiscard(Object.class, ResultType::drop);
    }
}
