package io.github.iree4j.spring.client;

import io.github.iree4j.spring.InvocationSpec;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Loaded only where Reactor is. */
final class ClientMono {
    private ClientMono() {}

    static boolean isMono(Class<?> type) {
        return type == Mono.class;
    }

    /** Calls at each subscription; one that is cancelled gives the call up. */
    static Mono<?> of(InvocationSpec spec, ResultMapper mapper) {
        return Mono.<@Nullable Object>fromFuture(() -> ClientMethod.later(spec.invokeAsync(), mapper))
                .doOnDiscard(Object.class, ResultMapper::drop);
    }
}
