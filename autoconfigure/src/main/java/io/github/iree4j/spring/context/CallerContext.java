package io.github.iree4j.spring.context;

import io.micrometer.context.ContextRegistry;
import io.micrometer.context.ContextSnapshot;
import io.micrometer.context.ContextSnapshotFactory;
import io.micrometer.context.integration.Slf4jThreadLocalAccessor;
import java.util.function.Supplier;

/** Snapshot of a caller's thread-locals: the thread-locals of a registry, and SLF4J's MDC, not necessarily in the registry. */
final class CallerContext {

    /** Captures the MDC only. */
    private static final ContextSnapshotFactory DIAGNOSTIC = ContextSnapshotFactory.builder()
            .contextRegistry(new ContextRegistry().registerThreadLocalAccessor(new Slf4jThreadLocalAccessor()))
            .clearMissing(true)
            .build();

    private final ContextSnapshot diagnostic;
    private final ContextSnapshot others;

    private CallerContext(ContextSnapshot diagnostic, ContextSnapshot others) {
        this.diagnostic = diagnostic;
        this.others = others;
    }

    static ContextSnapshotFactory factory(ContextRegistry registry) {
        return ContextSnapshotFactory.builder()
                .contextRegistry(registry)
                .clearMissing(true)
                .build();
    }

    /** Captures the context of the calling thread. */
    static CallerContext capture(ContextSnapshotFactory factory) {
        return new CallerContext(DIAGNOSTIC.captureAll(), factory.captureAll());
    }

    /** Runs an action with the captured thread-locals; restores this thread's values afterwards. */
    void run(Runnable action) {
        call(() -> {
            action.run();
            return true;
        });
    }

    /** Runs an action with a result, like {@code run}. */
    <T> T call(Supplier<T> action) {
        // Observation scopes write to the MDC, so the MDC is set first.
        try (ContextSnapshot.Scope _ = diagnostic.setThreadLocals();
                ContextSnapshot.Scope _ = others.setThreadLocals()) {
            return action.get();
        }
    }
}
