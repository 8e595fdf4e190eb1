package io.github.iree4j.spring.context;

import io.micrometer.context.ContextSnapshot;
import io.micrometer.context.ContextSnapshotFactory;
import java.util.function.Supplier;
import org.springframework.util.ClassUtils;

/** What a subscriber brings along in its Reactor context, for a call that is made at its subscription. Does nothing without the library. */
public final class SubscriberContext {

    private static final boolean PRESENT = ClassUtils.isPresent(
            "io.micrometer.context.ContextSnapshotFactory", SubscriberContext.class.getClassLoader());

    private SubscriberContext() {}

    /**
     * Makes a call with the thread-locals that a context holds; those that it does not hold stay.
     *
     * @param context of the subscriber, of a kind that accessors are registered for
     * @param call makes the call
     * @return what that returned
     * @param <T> what that returns
     */
    public static <T> T within(Object context, Supplier<T> call) {
        return PRESENT ? Propagation.within(context, call) : call.get();
    }

    /** Loaded only where the library is. */
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
