package io.github.iree4j.spring.metrics;

import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.http.RequestCounts.Reason;
import io.github.iree4j.spring.http.RequestCounts.Work;
import io.github.iree4j.spring.metrics.IreeMeters.Key;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.function.ToDoubleFunction;

/** Binds the {@linkplain IreeMeters meters} of requests, over HTTP and gRPC alike: all meters, regardless of the protocols served. */
public final class RequestMetrics implements MeterBinder {

    private final BodyLimits limits;

    /**
     * Creates the meters.
     *
     * @param limits limit and count the memory of requests
     */
    public RequestMetrics(BodyLimits limits) {
        this.limits = limits;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        gauge(
                registry,
                IreeMeters.REQUESTS_MEMORY,
                Tags.of(Key.STATE.asString(), "bodies"),
                each -> Math.max(0, each.inFlight() - each.inUnreadAnswers()));
        gauge(
                registry,
                IreeMeters.REQUESTS_MEMORY,
                Tags.of(Key.STATE.asString(), "answers"),
                BodyLimits::inUnreadAnswers);
        gauge(registry, IreeMeters.REQUESTS_BUDGET, Tags.empty(), BodyLimits::maximumInFlight);
        gauge(registry, IreeMeters.REQUESTS_AWAITED, Tags.empty(), BodyLimits::awaited);
        gauge(registry, IreeMeters.REQUESTS_UNREAD, Tags.empty(), BodyLimits::unreadAnswers);
        work(registry, IreeMeters.REQUESTS_ACTIVE, Tags.of(Key.PROTOCOL.asString(), "http"), Work.HTTP);
        work(registry, IreeMeters.REQUESTS_ACTIVE, Tags.of(Key.PROTOCOL.asString(), "grpc"), Work.GRPC);
        work(registry, IreeMeters.REQUESTS_WAITING, Tags.of(Key.PROTOCOL.asString(), "http"), Work.HTTP_WAITING);
        work(registry, IreeMeters.REQUESTS_WAITING, Tags.of(Key.PROTOCOL.asString(), "grpc"), Work.GRPC_WAITING);
        work(registry, IreeMeters.GRPC_CALLS, Tags.empty(), Work.CALLS);
        work(registry, IreeMeters.GRPC_STREAMS, Tags.empty(), Work.STREAMS);
        for (Reason reason : Reason.values()) {
            FunctionCounter.builder(
                            IreeMeters.REQUESTS_REFUSED.getName(), limits.counts(), counts -> counts.refused(reason))
                    .description(IreeMeters.REQUESTS_REFUSED.getDescription())
                    .baseUnit(IreeMeters.REQUESTS_REFUSED.getBaseUnit())
                    .tag(Key.REASON.asString(), reason.tag())
                    .register(registry);
        }
    }

    private void work(MeterRegistry registry, IreeMeters meter, Tags tags, Work kind) {
        gauge(registry, meter, tags, each -> each.counts().underWay(kind));
    }

    private void gauge(MeterRegistry registry, IreeMeters meter, Tags tags, ToDoubleFunction<BodyLimits> value) {
        Gauge.builder(meter.getName(), limits, value)
                .description(meter.getDescription())
                .baseUnit(meter.getBaseUnit())
                .tags(tags)
                .strongReference(true)
                .register(registry);
    }
}
