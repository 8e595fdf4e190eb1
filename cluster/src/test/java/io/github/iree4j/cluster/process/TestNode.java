package io.github.iree4j.cluster.process;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.cluster.ClusterListener;
import io.github.iree4j.cluster.ClusterNode;
import io.github.iree4j.cluster.ClusterPeer;
import io.github.iree4j.cluster.identity.FileIdentityStore;
import io.github.iree4j.cluster.identity.LeaseKeeper;
import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.cluster.membership.ClusterView;
import io.github.iree4j.cluster.membership.HeartbeatMembership;
import io.github.iree4j.cluster.membership.MembershipOptions;
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
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * An incarnation of a {@link NodeMain}: a lease, a domain with a device, and a place in the cluster with reports of its
 * news.
 */
final class TestNode implements AutoCloseable {
    private static final Duration LEASE = Duration.ofSeconds(15);

    private final FileIdentityStore store;
    private final LeaseKeeper lease;
    private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(
            2, Thread.ofPlatform().daemon().name("test-timer-", 0).factory());
    private final ExecutorService views = Executors.newSingleThreadExecutor(
            Thread.ofPlatform().daemon().name("test-views").factory());
    private final SchedulingDomain domain;
    private final IreeRuntime runtime;
    private volatile @Nullable ClusterNode node;
    private final Map<RemoteSession, Place> remote = new ConcurrentHashMap<>();
    private final Map<RemoteSession, Place> bulk = new ConcurrentHashMap<>();
    private final Place here;

    /** A device, with memory to write to. */
    record Place(Device device, Buffer buffer) {
        static Place of(Device device, long bytes) {
            return new Place(
                    device,
                    device.allocator().allocate(new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT), bytes));
        }

        void close() {
            buffer.close();
            device.close();
        }
    }

    TestNode(int index, List<InetSocketAddress> addresses, Path directory, Duration silence, Duration resume) {
        store = new FileIdentityStore(directory.resolve("node-" + index), 42, index);
        lease = LeaseKeeper.acquire(store, LEASE, System::nanoTime, timer, this::lost);
        timer.scheduleWithFixedDelay(lease::look, 1, 1, TimeUnit.SECONDS);
        NodeIdentity identity = lease.identity();
        NodeMain.say("identity", identity.incarnation(), identity.machine(), identity.session());
        domain = SchedulingDomain.create(
                AxisAllocator.create(identity.session(), identity.machine()), FrontierTracker.create(), 12);
        runtime = IreeRuntime.builder()
                .device(
                        "local",
                        "local",
                        DeviceOptions.builder().schedulingDomain(domain).build())
                .build();
        here = Place.of(runtime.device(), 4L * NodeMain.STAGES);
        InetSocketAddress own = addresses.get(index);
        TransportOptions usual = TransportOptions.of(InetAddress.getLoopbackAddress(), own.getPort());
        ClusterNode made = new ClusterNode(
                identity,
                RemoteNode.builder(identity, domain).device(runtime.device()).executor(timer),
                new TransportOptions(
                        own.getAddress(),
                        own.getPort(),
                        null,
                        true,
                        usual.maximumFrameBytes(),
                        usual.queueWindow(),
                        usual.bulkWindow(),
                        usual.separateBulkConnection(),
                        usual.connectTimeout(),
                        usual.keepAlive(),
                        usual.keepAliveTimeout(),
                        resume),
                membership(addresses, silence),
                own.getAddress().getHostAddress(),
                Duration.ofSeconds(6),
                System::nanoTime,
                views,
                new Told());
        node = made;
        made.start();
        timer.scheduleWithFixedDelay(made::look, 500, 500, TimeUnit.MILLISECONDS);
    }

    /** The membership of the nodes at some addresses. */
    static HeartbeatMembership membership(List<InetSocketAddress> addresses, Duration silence) {
        return new HeartbeatMembership(new MembershipOptions(
                new MembershipOptions.Discovery.Static(addresses.stream()
                        .map(each -> InetSocketAddress.createUnresolved(
                                each.getAddress().getHostAddress(), each.getPort()))
                        .toList()),
                silence,
                Duration.ofMillis(500)));
    }

    /** The notices of the cluster, as lines. */
    private static final class Told implements ClusterListener {
        @Override
        public void viewChanged(ClusterView view) {
            String machines = view.members().stream()
                    .map(each -> String.valueOf(each.identity().machine()))
                    .collect(Collectors.joining(" "));
            NodeMain.say("view", view.members().size(), machines);
        }

        @Override
        public void connected(ClusterMember peer) {
            NodeMain.say("connected", peer.identity().incarnation());
        }

        @Override
        public void failed(long incarnation, IreeException cause) {
            NodeMain.say("failed", incarnation, System.currentTimeMillis());
        }

        @Override
        public void fenced(IreeException cause) {
            NodeMain.say("fenced", cause.code());
        }
    }

    private void lost(IreeException cause) {
        NodeMain.say("lost", cause.code());
        ClusterNode started = node;
        if (started != null) {
            started.fence(cause);
        }
    }

    private ClusterNode node() {
        ClusterNode started = node;
        if (started == null) {
            throw new IllegalStateException("not started");
        }
        return started;
    }

    boolean isFenced() {
        return node().fenced().isPresent();
    }

    int members() {
        return node().view().members().size();
    }

    long sessions() {
        return node().peers().stream().filter(each -> each.session() != null).count();
    }

    boolean isComplete(Frontier frontier) {
        return domain.tracker().isComplete(frontier);
    }

    /** The devices of all nodes, this one's first. */
    List<Place> places() {
        List<Place> places = new ArrayList<>(List.of(here));
        places.addAll(open(remote, 4 * NodeMain.STAGES));
        return places;
    }

    /** Devices of the other nodes, besides the devices of {@link #places}, with memory of a fixed size. */
    List<Place> openFar(int bytes) {
        return open(bulk, bytes);
    }

    private List<Place> open(Map<RemoteSession, Place> opened, int bytes) {
        List<Place> places = new ArrayList<>();
        for (ClusterPeer peer : node().peers()) {
            RemoteSession session = peer.session();
            if (session == null) {
                continue;
            }
            try {
                places.add(opened.computeIfAbsent(
                        session,
                        each -> Place.of(
                                each.openDevice(
                                        each.devices().getFirst().id(),
                                        DeviceOptions.builder()
                                                .schedulingDomain(domain)
                                                .queueCount(1)
                                                .build()),
                                bytes)));
            } catch (IreeException e) {
                NodeMain.say("lacking", peer.member().identity().incarnation(), e.code()); // failed since
            }
        }
        return places;
    }

    /** Ends everything of this incarnation, before the next. */
    @Override
    public void close() {
        node().close();
        timer.shutdown();
        views.shutdown();
        remote.values().forEach(Place::close);
        bulk.values().forEach(Place::close);
        here.buffer().close();
        runtime.close();
        lease.release();
        store.close();
    }
}
