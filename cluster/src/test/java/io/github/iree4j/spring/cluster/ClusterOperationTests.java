package io.github.iree4j.spring.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.cluster.ClusterNode;
import io.github.iree4j.cluster.ThreeNodes;
import io.github.iree4j.cluster.identity.LeaseKeeper;
import io.github.iree4j.cluster.identity.MemoryIdentityStore;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.remote.RemoteTracer;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.spring.cluster.ClusterDescriptor.Member;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The operators' view of nodes at work for each other, and of a leaving node. */
@Timeout(120)
class ClusterOperationTests {

    private static final Duration SOON = Duration.ofSeconds(60);

    private ThreeNodes nodes;

    @BeforeEach
    void start() throws InterruptedException {
        nodes = new ThreeNodes(_ -> RemoteTracer.NONE);
    }

    @AfterEach
    void close() {
        nodes.close();
    }

    private static LeaseKeeper lease() {
        return LeaseKeeper.acquire(
                new MemoryIdentityStore(1, 1, System::nanoTime), SOON, System::nanoTime, Runnable::run, _ -> {});
    }

    private ClusterDescriptor seenBy(int number) {
        return ClusterDescriptor.of(nodes.node(number), lease(), nodes.tracker(number));
    }

    private static Member member(ClusterDescriptor of, int machine) {
        return of.members().stream()
                .filter(each -> each.machine() == machine)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void theEndpointShowsQueuesStreamsAndAxesOfBothSides() {
        nodes.ring(6);
        ClusterDescriptor first = seenBy(1);
        assertThat(first.self().draining()).isFalse();
        assertThat(first.self().queues()).singleElement().satisfies(queue -> {
            assertThat(queue.device()).isEqualTo("virtual");
            assertThat(queue.axis()).endsWith("@m1.s1");
            assertThat(queue.completed()).isPositive();
        });
        for (int machine = 2; machine <= 3; machine++) {
            Member peer = member(first, machine);
            assertThat(peer.state()).isEqualTo("connected");
            assertThat(peer.streams()).containsOnlyKeys("control", "queue", "bulk");
            assertThat(peer.streams().get("queue").framesSent()).isGreaterThanOrEqualTo(2);
            assertThat(peer.streams().get("queue").bytesReceived()).isPositive();
            assertThat(peer.queues()).singleElement().satisfies(queue -> {
                assertThat(queue.device()).isEqualTo("virtual");
                assertThat(queue.axis()).endsWith("@m1.s1");
                assertThat(queue.completed()).isPositive();
                assertThat(queue.inFlight()).isZero();
            });
            String suffix = "@m%d.s1".formatted(machine);
            assertThat(peer.axisCount()).isEqualTo(peer.axes().size()).isPositive();
            assertThat(peer.axes()).allSatisfy(axis -> assertThat(axis.axis()).endsWith(suffix));
        }
        assertThat(first.failedAxes()).isEmpty();
        ClusterEndpointPart part = new ClusterEndpointPart(nodes.node(1), lease(), nodes.tracker(1));
        assertThat(part.devices()).containsExactly(nodes.place(2), nodes.place(3));
        assertThat(part.devices()).extracting(Device::id).containsExactly("virtual@m2.s1", "virtual@m3.s1");
        nodes.place(2).close();
        assertThat(part.devices()).containsExactly(nodes.place(3));
    }

    @Test
    void aStageOfARingIsFoundAtTheSubmittingAndTheExecutingNode() {
        List<Frontier> stages = nodes.ring(6);
        ClusterDescriptor first = seenBy(1);
        for (int stage = 0; stage < stages.size(); stage++) {
            Frontier signalled = stages.get(stage);
            String axis = Axis.toString(signalled.producerAxis());
            int machine = stage % 3 + 1;
            if (machine == 1) {
                assertThat(first.self().queues().getFirst().axis()).isEqualTo(axis);
                continue;
            }
            ClusterDescriptor.UsedQueue queue = member(first, machine).queues().getFirst();
            assertThat(queue.axis()).as("stage %d", stage).isEqualTo(axis);
            assertThat(queue.completed()).isGreaterThanOrEqualTo(signalled.producerEpoch());
            assertThat(queue.lane()).isNotEqualTo(axis).endsWith("@m1.s1");
            assertThat(member(seenBy(machine), 1).lanes())
                    .containsExactly(new ClusterDescriptor.Lane(queue.lane(), "virtual", 0, queue.laneCompleted(), 0));
        }
    }

    @Test
    void aSilentNodeIsShownWithItsQueuesWhileItsSessionLasts() {
        nodes.ring(6);
        nodes.silence(2);
        Member silent = member(seenBy(1), 2);
        assertThat(silent.state()).isEqualTo("silent");
        assertThat(silent.queues()).isNotEmpty();
        assertThat(silent.traffic()).isNotNull();
        Map<String, Object> details =
                new ClusterHealthIndicator(nodes.node(1), lease()).health().getDetails();
        assertThat(details).containsEntry("degraded", true).containsEntry("members", 2);
        assertThat(details.get("silent").toString()).contains("m2.s1");
        nodes.node(1).remote().fail(2, IreeException.of(StatusCode.UNAVAILABLE, "cable"));
        assertThat(seenBy(1).members()).extracting(Member::machine).containsExactly(1, 3);
    }

    @Test
    void axesOfALostNodeAreShownWithTheCause() {
        nodes.ring(6);
        nodes.node(1).remote().fail(2, IreeException.of(StatusCode.UNAVAILABLE, "cable"));
        ClusterDescriptor first = seenBy(1);
        assertThat(member(first, 2).state()).isEqualTo("failed");
        assertThat(first.failedAxes()).isNotEmpty().allSatisfy(axis -> {
            assertThat(axis.incarnation()).isEqualTo(2);
            assertThat(axis.axis()).endsWith("@m2.s1");
            assertThat(axis.cause()).contains("cable");
        });
    }

    @Test
    void thePageDescribesEveryMeter() throws IOException {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        ClusterMetrics metrics = new ClusterMetrics(nodes.node(1), lease());
        metrics.bindTo(registry);
        metrics.refresh();
        String page = Files.readString(Path.of("../docs/cluster.md"));
        assertThat(registry.getMeters())
                .hasSizeGreaterThan(20)
                .allSatisfy(
                        meter -> assertThat(page).contains("`" + meter.getId().getName() + "`"));
    }

    @Test
    void thereAreMetersOfEachPeerWhileThereIsASession() throws InterruptedException {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        ClusterMetrics metrics = new ClusterMetrics(nodes.node(1), lease());
        metrics.bindTo(registry);
        nodes.ring(6);
        nodes.node(1).look();
        while (nodes.node(1).remote().session(2).statistics().roundTripNanos() == 0) {
            Thread.onSpinWait(); // until the answer is there
        }
        metrics.refresh();
        assertThat(registry.get("iree.cluster.peer.sent")
                        .tags("machine", "2", "stream", "queue")
                        .gauge()
                        .value())
                .isPositive();
        assertThat(registry.get("iree.cluster.peer.round.trip")
                        .tag("machine", "2")
                        .gauge()
                        .value())
                .isBetween(1e-9, 60.0);
        for (String name : List.of("submitted", "served")) {
            assertThat(registry.get("iree.cluster.peer." + name).gauges())
                    .hasSize(2)
                    .extracting(Gauge::value)
                    .containsOnly(0.0);
        }
        nodes.node(1).remote().fail(2, IreeException.of(StatusCode.UNAVAILABLE, "cable"));
        metrics.refresh();
        assertThat(registry.get("iree.cluster.peer.submitted").gauges())
                .singleElement()
                .satisfies(gauge -> assertThat(gauge.getId().getTag("machine")).isEqualTo("3"));
    }

    @Test
    void aDrainingNodeRefusesNewWorkAndItsPeersKnow() throws InterruptedException {
        ClusterNode two = nodes.node(2);
        try (Buffer buffer = nodes.place(2)
                        .allocator()
                        .allocate(new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT), 64);
                TimelineSemaphore before = TimelineSemaphore.create(0);
                TimelineSemaphore after = TimelineSemaphore.create(0);
                Fence accepted = Fence.at(before, 1);
                Fence refused = Fence.at(after, 1)) {
            nodes.place(2).queue(0).fill(null, accepted, buffer, 0, 64, 5, 1, 0);
            accepted.await(SOON);
            two.goAway("the application stops");
            assertThat(nodes.draining.poll(SOON.toSeconds(), TimeUnit.SECONDS)).isEqualTo(2);
            assertThat(member(seenBy(1), 2).state()).isEqualTo("draining");
            assertThat(seenBy(2).self().draining()).isTrue();
            nodes.place(2).queue(0).fill(null, refused, buffer, 0, 64, 6, 1, 0);
            assertThatThrownBy(() -> refused.await(SOON))
                    .isInstanceOfSatisfying(
                            IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.UNAVAILABLE))
                    .hasMessageContaining("the application stops");
            byte[] bytes = new byte[64];
            buffer.read(0, MemorySegment.ofArray(bytes));
            assertThat(bytes).as("results of accepted calls").containsOnly(5);
            var session = nodes.node(1).remote().session(2);
            assertThatThrownBy(() -> session.openDevice("virtual", DeviceOptions.DEFAULTS))
                    .isInstanceOfSatisfying(
                            IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.UNAVAILABLE));
            assertThat(two.drain(SOON)).isTrue();
        }
        assertThat(nodes.node(3).drain(SOON)).as("a node without work").isTrue();
    }
}
