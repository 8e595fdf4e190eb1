package io.github.iree4j.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.cluster.membership.MemoryMembership;
import io.github.iree4j.cluster.transport.TransportOptions;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.hal.remote.RemoteNode;
import io.github.iree4j.hal.remote.RemoteSession;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
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
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A pipeline over three nodes of one JVM is one trace. Each node has a tracer and an exporter of its own, as in three processes. */
@Timeout(120)
class TraceTests {

    private static final Duration SOON = Duration.ofSeconds(60);

    private final MemoryMembership.Network network = new MemoryMembership.Network();
    private final List<Node> nodes = new ArrayList<>();
    private final List<AutoCloseable> opened = new ArrayList<>();

    /** What a node exports. */
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

    /** A node that serves a device. */
    private final class Node {
        final Exporter exporter = new Exporter();
        final ObservationRegistry registry = ObservationRegistry.create();
        final SchedulingDomain domain;
        final Device device;
        final ClusterNode node;

        Node(int number, Sampler sampler) {
            NodeIdentity identity = new NodeIdentity(7, number, 1, number);
            domain = SchedulingDomain.create(AxisAllocator.create(1, number), FrontierTracker.create(), 12);
            device = VirtualDevice.builder()
                    .id("virtual")
                    .clock(VirtualClock.automatic())
                    .schedulingDomain(domain)
                    .fifoQueues(1)
                    .build();
            opened.addFirst(device);
            SdkTracerProvider provider = SdkTracerProvider.builder()
                    .setSampler(sampler)
                    .addSpanProcessor(SimpleSpanProcessor.create(exporter))
                    .build();
            opened.addFirst(provider);
            io.opentelemetry.api.trace.Tracer otel = provider.get("test");
            OtelTracer tracer = new OtelTracer(otel, new OtelCurrentTraceContext(), _ -> {});
            OtelPropagator propagator =
                    new OtelPropagator(ContextPropagators.create(W3CTraceContextPropagator.getInstance()), otel);
            registry.observationConfig()
                    .observationHandler(new FirstMatchingCompositeObservationHandler(
                            new PropagatingReceiverTracingObservationHandler<>(tracer, propagator),
                            new DefaultTracingObservationHandler(tracer)));
            node = new ClusterNode(
                    identity,
                    RemoteNode.builder(identity, domain)
                            .device(device)
                            .tracer(new ClusterTracer(tracer, registry, null)),
                    TransportOptions.of(InetAddress.getLoopbackAddress(), 0),
                    new MemoryMembership(network),
                    "127.0.0.1",
                    Duration.ofSeconds(6),
                    System::nanoTime,
                    Runnable::run,
                    ClusterListener.NONE);
            opened.addFirst(node);
            nodes.add(this);
        }
    }

    private void start(Sampler sampler) throws InterruptedException {
        for (int i = 1; i <= 3; i++) {
            new Node(i, sampler).node.start();
        }
        for (Node each : nodes) {
            assertThat(each.node.awaitSessions(SOON)).isTrue();
        }
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : opened) {
            each.close();
        }
    }

    /** The device of each node, as the first one sees it. */
    private List<Device> places() {
        Node first = nodes.getFirst();
        List<Device> places = new ArrayList<>(List.of(first.device));
        for (long peer = 2; peer <= 3; peer++) {
            RemoteSession session = first.node.remote().session(peer);
            Device device = session.openDevice(
                    session.devices().getFirst().id(),
                    DeviceOptions.builder()
                            .schedulingDomain(first.domain)
                            .queueCount(1)
                            .build());
            opened.addFirst(device);
            places.add(device);
        }
        return places;
    }

    /** Submits a ring of fills at once. */
    private void ring(List<Device> places, int stages) {
        List<Buffer> buffers = new ArrayList<>();
        for (Device place : places) {
            buffers.add(place.allocator().allocate(new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT), 64));
        }
        try (TimelineSemaphore line = TimelineSemaphore.create(0)) {
            for (int i = 0; i < stages; i++) {
                try (Fence before = i == 0 ? null : Fence.at(line, i);
                        Fence after = Fence.at(line, i + 1)) {
                    int place = i % places.size();
                    places.get(place).queue(0).fill(before, after, buffers.get(place), 0, 64, i + 1, 1, 0);
                }
            }
            line.await(stages, SOON);
        }
        buffers.forEach(Buffer::close);
    }

    @Test
    void theSpansOfAllNodesHaveOneTraceAndTheSubmitterAsParent() throws InterruptedException {
        start(Sampler.alwaysOn());
        List<Device> places = places();
        Observation.createNotStarted("ring", nodes.getFirst().registry).observe(() -> ring(places, 12));
        SpanData ring = nodes.getFirst().exporter.spans.getLast();
        assertThat(nodes.getFirst().exporter.spans).hasSize(1);
        for (Node node : nodes.subList(1, 3)) {
            assertThat(node.exporter.spans).hasSize(4).allSatisfy(span -> {
                assertThat(span.getTraceId()).isEqualTo(ring.getTraceId());
                assertThat(span.getParentSpanId()).isEqualTo(ring.getSpanId());
                assertThat(span.getKind()).isEqualTo(SpanKind.CONSUMER);
                assertThat(span.getName()).isEqualTo("fill on virtual");
                assertThat(span.getAttributes().asMap())
                        .containsEntry(AttributeKey.stringKey("machine"), "1")
                        .containsEntry(AttributeKey.stringKey("outcome"), "OK")
                        .containsKey(AttributeKey.stringKey("iree.epoch"));
                assertThat(span.getStartEpochNanos()).isGreaterThanOrEqualTo(ring.getStartEpochNanos());
                assertThat(span.getEndEpochNanos()).isLessThanOrEqualTo(ring.getEndEpochNanos());
            });
        }
    }

    @Test
    void aTraceThatIsNotSampledIsNotFollowed() throws InterruptedException {
        start(Sampler.alwaysOff());
        List<Device> places = places();
        List<Observation.Context> seen = new CopyOnWriteArrayList<>();
        nodes.forEach(each -> each.registry.observationConfig().observationFilter(context -> {
            seen.add(context);
            return context;
        }));
        Observation.createNotStarted("ring", nodes.getFirst().registry).observe(() -> ring(places, 6));
        assertThat(seen).extracting(Observation.Context::getName).containsExactly("ring");
    }

    @Test
    void withoutATraceNothingIsObserved() throws InterruptedException {
        start(Sampler.alwaysOn());
        ring(places(), 6);
        assertThat(nodes).allSatisfy(each -> assertThat(each.exporter.spans).isEmpty());
    }
}
