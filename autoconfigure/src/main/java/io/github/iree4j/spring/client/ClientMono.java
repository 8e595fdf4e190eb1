package io.github.iree4j.spring.client;

import io.github.iree4j.spring.InvocationSpec;
import io.github.iree4j.spring.context.SubscriberContext;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Mono results of client methods. Loaded only when Reactor is present. */
final class ClientMono {
    private ClientMono() {}

    static boolean isMono(Class<?> type) {
        return type == Mono.class;
    }

    /** Makes the call at each subscription; cancelling the subscription cancels the call. */
    static Mono<?> of(InvocationSpec spec, ResultMapper mapper) {
        return Mono.create(sink -> {
                    CompletableFuture<@Nullable Object> call =
                            ClientMethod.later(SubscriberContext.within(sink.contextView(), spec::invokeAsync), mapper);
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
                .doOnDiscard(Object.class, ResultMapper::drop);
    }
}
