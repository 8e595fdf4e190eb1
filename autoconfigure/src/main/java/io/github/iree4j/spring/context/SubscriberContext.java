package io.github.iree4j.spring.context;

import io.micrometer.context.ContextSnapshot;
import io.micrometer.context.ContextSnapshotFactory;
import java.util.function.Supplier;
import org.springframework.util.ClassUtils;

/**
 * Applies a subscriber's Reactor context to a call made at subscription. Does nothing without Micrometer's context
 * propagation library.
 */
public final class SubscriberContext {

    static final boolean PRESENT = ClassUtils.isPresent(
            "io.micrometer.context.ContextSnapshotFactory", SubscriberContext.class.getClassLoader());

    private SubscriberContext() {}

    /**
     * Makes a call with the thread-locals contained in a context; others are unchanged.
     *
     * @param context the subscriber's context, of a type with a registered accessor
     * @param call makes the call
     * @return the value returned by the call
     * @param <T> the type of the value
     */
    public static <T> T within(Object context, Supplier<T> call) {
        return PRESENT ? Propagation.within(context, call) : call.get();
    }

    /** Loaded only when the library is present. */
    private static final class Propagation {
        private static final ContextSnapshotFactory FACTORY =
                ContextSnapshotFactory.builder().build();

        private Propagation() {}

        static <T> T within(Object context, Supplier<T> call) {
            try (ContextSnapshot.Scope _ = FACTORY.captureFrom(context).setThreadLocals()) {
                return call.get();
            }
        }
    }
}
