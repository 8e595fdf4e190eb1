package io.github.iree4j.spring.cluster.observation;

import io.github.iree4j.hal.remote.RemoteWork;
import io.github.iree4j.hal.remote.TraceParent;
import io.micrometer.observation.transport.Kind;
import io.micrometer.observation.transport.ReceiverContext;
import org.jspecify.annotations.Nullable;

/** Context of an observed command of another node: its parent is the span of the thread that submitted it. */
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

    /** The field of one of the usual forms of propagation, whichever is configured to be read. */
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
