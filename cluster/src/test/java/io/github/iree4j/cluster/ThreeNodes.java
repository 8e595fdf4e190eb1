package io.github.iree4j.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.cluster.membership.MemoryMembership;
import io.github.iree4j.cluster.transport.TransportOptions;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.hal.remote.RemoteNode;
import io.github.iree4j.hal.remote.RemoteSession;
import io.github.iree4j.hal.remote.RemoteTracer;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.status.IreeException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.IntFunction;

/**
 * Nodes 1, 2 and 3 of one JVM with real connections over loopback. Each serves a virtual device; the first node has
 * opened the devices of the others.
 */
public final class ThreeNodes implements AutoCloseable {

    private static final Duration SOON = Duration.ofSeconds(60);

    private final MemoryMembership.Network network = new MemoryMembership.Network();
    private final List<MemoryMembership> memberships = new ArrayList<>();
    private final List<Runnable> opened = new ArrayList<>();
    private final List<SchedulingDomain> domains = new ArrayList<>();
    private final List<ClusterNode> nodes = new ArrayList<>();
    private final List<Device> places = new ArrayList<>();

    /** Notices of draining peers to the first node. */
    public final BlockingQueue<Long> draining = new LinkedBlockingQueue<>();

    /**
     * Starts the nodes.
     *
     * @param tracers the tracer of each node, by number
     */
    public ThreeNodes(IntFunction<RemoteTracer> tracers) throws InterruptedException {
        for (int number = 1; number <= 3; number++) {
            NodeIdentity identity = new NodeIdentity(7, number, 1, number);
            SchedulingDomain domain =
                    SchedulingDomain.create(AxisAllocator.create(1, number), FrontierTracker.create(), 12);
            domains.add(domain);
            Device device = VirtualDevice.builder()
                    .id("virtual")
                    .clock(VirtualClock.automatic())
                    .schedulingDomain(domain)
                    .fifoQueues(1)
                    .build();
            opened.addFirst(device::close);
            memberships.add(new MemoryMembership(network));
            ClusterNode node = new ClusterNode(
                    identity,
                    RemoteNode.builder(identity, domain).device(device).tracer(tracers.apply(number)),
                    TransportOptions.of(InetAddress.getLoopbackAddress(), 0),
                    memberships.getLast(),
                    "127.0.0.1",
                    Duration.ofSeconds(6),
                    System::nanoTime,
                    Runnable::run,
                    number == 1 ? new Listener() : ClusterListener.NONE);
            opened.addFirst(node::close);
            nodes.add(node);
            if (number == 1) {
                places.add(device);
            }
            node.start();
        }
        for (ClusterNode each : nodes) {
            assertThat(each.awaitSessions(SOON)).isTrue();
        }
        for (int peer = 2; peer <= 3; peer++) {
            RemoteSession session = nodes.getFirst().remote().session(peer);
            Device device = session.openDevice(
                    session.devices().getFirst().id(),
                    DeviceOptions.builder()
                            .schedulingDomain(domains.getFirst())
                            .queueCount(1)
                            .build());
            opened.addFirst(device::close);
            places.add(device);
        }
    }

    private final class Listener implements ClusterListener {
        @Override
        public void draining(long incarnation, IreeException reason) {
            draining.add(incarnation);
        }
    }

    /** A node, by number. */
    public ClusterNode node(int number) {
        return nodes.get(number - 1);
    }

    /** Has a node neither see the others nor be seen, while connections go on. */
    public void silence(int number) {
        network.cut(List.of(memberships.get(number - 1)));
    }

    /** The tracker of a node. */
    public FrontierTracker tracker(int number) {
        return domains.get(number - 1).tracker();
    }

    /** The device of a node, as seen by the first node. */
    public Device place(int number) {
        return places.get(number - 1);
    }

    /**
     * Submits a ring of fills over all nodes at once, and waits for the end. Returns the value signalled by each stage.
     */
    public List<Frontier> ring(int stages) {
        List<Frontier> signalled = new ArrayList<>();
        List<Buffer> buffers = places.stream()
                .map(place ->
                        place.allocator().allocate(new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT), 64))
                .toList();
        try (TimelineSemaphore line = TimelineSemaphore.create(0)) {
            for (int i = 0; i < stages; i++) {
                try (Fence before = i == 0 ? null : Fence.at(line, i);
                        Fence after = Fence.at(line, i + 1)) {
                    int place = i % places.size();
                    places.get(place).queue(0).fill(before, after, buffers.get(place), 0, 64, i + 1, 1, 0);
                }
            }
            line.await(stages, SOON);
            for (int i = 0; i < stages; i++) {
                signalled.add(line.frontierAt(i + 1));
            }
        }
        buffers.forEach(Buffer::close);
        return signalled;
    }

    @Override
    public void close() {
        opened.forEach(Runnable::run);
    }
}
