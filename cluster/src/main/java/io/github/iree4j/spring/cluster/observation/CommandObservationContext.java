package io.github.iree4j.spring.cluster.observation;

import io.github.iree4j.hal.remote.RemoteWork;
import io.github.iree4j.hal.remote.TraceParent;
import io.micrometer.observation.transport.Kind;
import io.micrometer.observation.transport.ReceiverContext;
import org.jspecify.annotations.Nullable;

/** Context of an observed command of another node; the parent is the span of the submitting thread. */
public final class CommandObservationContext extends ReceiverContext<RemoteWork> {

    /**
     * Creates a context.
     *
     * @param work the command
     */
    public CommandObservationContext(RemoteWork work) {
        super((carrier, key) -> field(carrier.parent(), key), Kind.CONSUMER);
        setCarrier(work);
    }

    /** Returns a field of a usual propagation format, for any configured reader. */
    private static @Nullable String field(TraceParent parent, String key) {
        return switch (key) {
            case "traceparent" -> "00-%s-%s-01".formatted(parent.traceId(), parent.spanId());
            case "b3" -> "%s-%s-1".formatted(parent.traceId(), parent.spanId());
            case "X-B3-TraceId" -> parent.traceId();
            case "X-B3-SpanId" -> parent.spanId();
            case "X-B3-Sampled" -> "1";
            default -> null;
        };
    }
}
