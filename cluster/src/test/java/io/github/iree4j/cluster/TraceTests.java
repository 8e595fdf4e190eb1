package io.github.iree4j.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.spring.cluster.observation.ClusterTracer;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler.FirstMatchingCompositeObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.handler.DefaultTracingObservationHandler;
import io.micrometer.tracing.handler.PropagatingReceiverTracingObservationHandler;
import io.micrometer.tracing.otel.bridge.OtelCurrentTraceContext;
import io.micrometer.tracing.otel.bridge.OtelPropagator;
import io.micrometer.tracing.otel.bridge.OtelTracer;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A pipeline over three nodes of one JVM is one trace. Each node has a separate tracer and exporter, as in three
 * processes.
 */
@Timeout(120)
class TraceTests {

    /** The spans exported by a node. */
    private static final class Exporter implements SpanExporter {
        final List<SpanData> spans = new CopyOnWriteArrayList<>();

        @Override
        public CompletableResultCode export(Collection<SpanData> more) {
            spans.addAll(more);
            return CompletableResultCode.ofSuccess();
        }

        @Override
        public CompletableResultCode flush() {
            return CompletableResultCode.ofSuccess();
        }

        @Override
        public CompletableResultCode shutdown() {
            return CompletableResultCode.ofSuccess();
        }
    }

    /** The observations of a node. */
    private static final class Tracing {
        final Exporter exporter = new Exporter();
        final ObservationRegistry registry = ObservationRegistry.create();
        final ClusterTracer tracer;

        Tracing(Sampler sampler) {
            SdkTracerProvider provider = SdkTracerProvider.builder()
                    .setSampler(sampler)
                    .addSpanProcessor(SimpleSpanProcessor.create(exporter))
                    .build();
            io.opentelemetry.api.trace.Tracer otel = provider.get("test");
            OtelTracer bridge = new OtelTracer(otel, new OtelCurrentTraceContext(), _ -> {});
            OtelPropagator propagator =
                    new OtelPropagator(ContextPropagators.create(W3CTraceContextPropagator.getInstance()), otel);
            registry.observationConfig()
                    .observationHandler(new FirstMatchingCompositeObservationHandler(
                            new PropagatingReceiverTracingObservationHandler<>(bridge, propagator),
                            new DefaultTracingObservationHandler(bridge)));
            tracer = new ClusterTracer(bridge, registry, null);
        }
    }

    private static final AttributeKey<String> LANE = AttributeKey.stringKey("iree.lane");

    private final List<Tracing> tracing = new ArrayList<>();

    private ThreeNodes start(Sampler sampler) throws InterruptedException {
        return new ThreeNodes(_ -> {
            tracing.add(new Tracing(sampler));
            return tracing.getLast().tracer;
        });
    }

    @Test
    void theSpansOfAllNodesHaveOneTraceAndTheSubmitterAsParent() throws InterruptedException {
        List<String> lanes = new ArrayList<>();
        try (ThreeNodes nodes = start(Sampler.alwaysOn())) {
            Observation.createNotStarted("ring", tracing.getFirst().registry).observe(() -> nodes.ring(12));
            for (int peer = 2; peer <= 3; peer++) {
                lanes.add(Axis.toString(
                        nodes.node(1).remote().session(peer).lanes().getFirst().axis()));
            }
        }
        assertThat(tracing.getFirst().exporter.spans).hasSize(1);
        assertThat(tracing.subList(1, 3))
                .extracting(
                        node -> node.exporter.spans.getFirst().getAttributes().get(LANE))
                .containsExactlyElementsOf(lanes);
        SpanData ring = tracing.getFirst().exporter.spans.getFirst();
        for (Tracing node : tracing.subList(1, 3)) {
            assertThat(node.exporter.spans).hasSize(4).allSatisfy(span -> {
                assertThat(span.getTraceId()).isEqualTo(ring.getTraceId());
                assertThat(span.getParentSpanId()).isEqualTo(ring.getSpanId());
                assertThat(span.getKind()).isEqualTo(SpanKind.CONSUMER);
                assertThat(span.getName()).isEqualTo("fill on virtual");
                assertThat(span.getAttributes().asMap())
                        .containsEntry(AttributeKey.stringKey("machine"), "1")
                        .containsEntry(AttributeKey.stringKey("outcome"), "OK")
                        .containsKey(AttributeKey.stringKey("iree.lane.epoch"));
                assertThat(span.getStartEpochNanos()).isGreaterThanOrEqualTo(ring.getStartEpochNanos());
            });
        }
    }

    @Test
    void anUnsampledTraceIsNotFollowed() throws InterruptedException {
        List<String> seen = new CopyOnWriteArrayList<>();
        try (ThreeNodes nodes = start(Sampler.alwaysOff())) {
            tracing.forEach(each -> each.registry.observationConfig().observationFilter(context -> {
                seen.add(context.getName());
                return context;
            }));
            Observation.createNotStarted("ring", tracing.getFirst().registry).observe(() -> nodes.ring(6));
        }
        assertThat(seen).containsExactly("ring");
    }

    @Test
    void withoutATraceNothingIsObserved() throws InterruptedException {
        try (ThreeNodes nodes = start(Sampler.alwaysOn())) {
            nodes.ring(6);
        }
        assertThat(tracing).allSatisfy(each -> assertThat(each.exporter.spans).isEmpty());
    }
}
