package io.github.iree4j.spring.context;

import io.micrometer.context.ContextRegistry;
import io.micrometer.context.ContextSnapshot;
import io.micrometer.context.ContextSnapshotFactory;
import io.micrometer.context.integration.Slf4jThreadLocalAccessor;

/** What belongs to the thread of a caller: all that a registry knows, and SLF4J's diagnostic context, which registries need not know. */
final class CallerContext {

    /** Knows of the diagnostic context only. */
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

    /** That of the calling thread. */
    static CallerContext capture(ContextSnapshotFactory factory) {
        return new CallerContext(DIAGNOSTIC.captureAll(), factory.captureAll());
    }

    /** Runs something as if on that thread; what this thread has of its own comes back afterwards. */
    void run(Runnable action) {
        // Scopes of observations write to the diagnostic context, so that is there before them.
        try (ContextSnapshot.Scope _ = diagnostic.setThreadLocals();
                ContextSnapshot.Scope _ = others.setThreadLocals()) {
            action.run();
        }
    }
}
