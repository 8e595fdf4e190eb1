package io.github.iree4j.spring.cluster.observation;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.hal.remote.RemoteTracer;
import io.github.iree4j.hal.remote.RemoteWork;
import io.github.iree4j.hal.remote.TraceParent;
import io.github.iree4j.status.IreeException;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Continues traces at other nodes: sends the span of the submitting thread along, and observes commands received with a
 * span. Observations start and stop on the threads completing work, as observations of local calls stop; the handlers
 * must not block.
 */
@NotForApplications
public final class ClusterTracer implements RemoteTracer {

    private static final CommandObservationConvention DEFAULT = new DefaultCommandObservationConvention();

    private final Tracer tracer;
    private final ObservationRegistry registry;
    private final @Nullable CommandObservationConvention convention;

    /**
     * Creates a tracer.
     *
     * @param tracer knows the span of a thread
     * @param registry receives the observations
     * @param convention names and tags; null for the defaults
     */
    public ClusterTracer(
            Tracer tracer, ObservationRegistry registry, @Nullable CommandObservationConvention convention) {
        this.tracer = tracer;
        this.registry = registry;
        this.convention = convention;
    }

    @Override
    public @Nullable TraceParent current() {
        Span span = tracer.currentSpan();
        if (span == null || span.isNoop()) {
            return null;
        }
        TraceContext context = span.context();
        return Boolean.FALSE.equals(context.sampled()) ? null : TraceParent.of(context.traceId(), context.spanId());
    }

    @Override
    public Consumer<@Nullable IreeException> begin(RemoteWork work) {
        Observation observation = ClusterObservationDocumentation.COMMAND
                .observation(convention, DEFAULT, () -> new CommandObservationContext(work), registry)
                .start();
        return failure -> {
            if (failure != null) {
                observation.error(failure);
            }
            observation.stop();
        };
    }
}
