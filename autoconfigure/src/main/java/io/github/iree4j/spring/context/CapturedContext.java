package io.github.iree4j.spring.context;

import io.micrometer.context.ContextRegistry;
import io.micrometer.context.ContextSnapshotFactory;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The thread-locals of a caller, for work done by another thread on the caller's behalf: the diagnostic context (MDC),
 * the observation, and everything in the application's {@link ContextRegistry}. Nothing without Micrometer's context
 * propagation library. Immutable.
 */
public final class CapturedContext {

    private final @Nullable CallerContext captured;

    private CapturedContext(@Nullable CallerContext captured) {
        this.captured = captured;
    }

    /**
     * Captures the thread-locals of the calling thread.
     *
     * @return the captured context
     */
    public static CapturedContext ofThisThread() {
        return new CapturedContext(SubscriberContext.PRESENT ? Propagation.capture() : null);
    }

    /**
     * Does work on this thread with exactly the captured thread-locals, and restores this thread's values.
     *
     * @param work runs once
     * @return the value returned by the work
     * @param <T> the type of the value
     */
    public <T> T call(Supplier<T> work) {
        return captured == null ? work.get() : captured.call(work);
    }

    /** Loaded only when the library is present. */
    private static final class Propagation {
        private static final ContextSnapshotFactory FACTORY = CallerContext.factory(ContextRegistry.getInstance());

        private Propagation() {}

        static CallerContext capture() {
            return CallerContext.capture(FACTORY);
        }
    }
}
