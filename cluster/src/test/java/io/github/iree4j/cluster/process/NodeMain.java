package io.github.iree4j.cluster.process;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.cluster.ClusterListener;
import io.github.iree4j.cluster.ClusterNode;
import io.github.iree4j.cluster.ClusterPeer;
import io.github.iree4j.cluster.identity.FileIdentityStore;
import io.github.iree4j.cluster.identity.LeaseKeeper;
import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.cluster.membership.ClusterView;
import io.github.iree4j.cluster.membership.GroupOptions;
import io.github.iree4j.cluster.membership.JGroupsMembership;
import io.github.iree4j.cluster.transport.TransportOptions;
import io.github.iree4j.frontier.Axis;
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
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * A node in a process of its own, which a test commands through its standard input and whose history it reads from its standard output:
 *
 * <pre>{@code
 * load MILLIS  -> pipelines through all nodes, one after the other, for so long; "ran" when done
 * fill N       -> N small operations on one remote device, each awaited; "fill MICROS MICROS" is the median and the 99th percentile
 * }</pre>
 */
final class NodeMain {
    private static final Duration LEASE = Duration.ofSeconds(15);
    private static final int STAGES = 12;

    private final SchedulingDomain domain;
    private final IreeRuntime runtime;
    private volatile ClusterNode node;
    private final Map<RemoteSession, Place> remote = new ConcurrentHashMap<>();
    private final Place here;
    private long pipelines;

    /** A device, and memory of it to write to. */
    private record Place(Device device, Buffer buffer) {
        static Place of(Device device) {
            return new Place(
                    device,
                    device.allocator()
                            .allocate(new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT), 4L * STAGES));
        }
    }

    private NodeMain(int index, int port, List<Integer> ports, Path directory, Duration silence) {
        FileIdentityStore store = new FileIdentityStore(directory.resolve("node-" + index), 42, index);
        ScheduledExecutorService timer = Executors.newScheduledThreadPool(
                2, Thread.ofPlatform().daemon().name("test-timer-", 0).factory());
        long acquired = System.nanoTime();
        LeaseKeeper lease =
                new LeaseKeeper(store.acquire(LEASE), LEASE, acquired, System::nanoTime, timer, this::fenced);
        timer.scheduleWithFixedDelay(lease::look, 1, 1, TimeUnit.SECONDS);
        NodeIdentity identity = lease.identity();
        say("identity", identity.incarnation(), identity.machine(), identity.session());
        domain = SchedulingDomain.create(
                AxisAllocator.create(identity.session(), identity.machine()), FrontierTracker.create(), 12);
        runtime = IreeRuntime.builder()
                .device(
                        "local",
                        "local",
                        DeviceOptions.builder().schedulingDomain(domain).build())
                .build();
        here = Place.of(runtime.device());
        InetAddress loopback = InetAddress.getLoopbackAddress();
        node = new ClusterNode(
                identity,
                RemoteNode.builder(identity, domain).device(runtime.device()).executor(timer),
                TransportOptions.of(loopback, port),
                new JGroupsMembership(new GroupOptions(
                        "process-test",
                        loopback,
                        port + 1,
                        new GroupOptions.Discovery.Static(ports.stream()
                                .map(each -> new InetSocketAddress(loopback, each + 1))
                                .toList()),
                        silence,
                        Duration.ofMillis(500),
                        Duration.ofMillis(500),
                        null)),
                loopback.getHostAddress(),
                Duration.ofSeconds(6),
                System::nanoTime,
                Executors.newSingleThreadExecutor(
                        Thread.ofPlatform().daemon().name("test-views").factory()),
                new Told());
        node.start();
        timer.scheduleWithFixedDelay(node::look, 500, 500, TimeUnit.MILLISECONDS);
    }

    /** What the cluster tells, as lines. */
    private final class Told implements ClusterListener {
        @Override
        public void viewChanged(ClusterView view) {
            say("view", view.members().size());
        }

        @Override
        public void connected(ClusterMember peer) {
            say("connected", peer.identity().incarnation());
        }

        @Override
        public void failed(long incarnation, IreeException cause) {
            say("failed", incarnation, System.currentTimeMillis());
        }

        @Override
        public void fenced(IreeException cause) {
            say("fenced", cause.code());
        }
    }

    private void fenced(IreeException cause) {
        say("lost", cause.code());
        ClusterNode started = node;
        if (started != null) {
            started.fence(cause);
        }
    }

    private static void say(String what, Object... values) {
        StringBuilder line = new StringBuilder("> ").append(what);
        for (Object each : values) {
            line.append(' ').append(each);
        }
        synchronized (System.out) {
            System.out.println(line);
        }
    }

    /** The devices of all nodes, this one's first. */
    private List<Place> places() {
        List<Place> places = new ArrayList<>(List.of(here));
        for (ClusterPeer peer : node.peers()) {
            RemoteSession session = peer.session();
            if (session != null) {
                places.add(remote.computeIfAbsent(
                        session,
                        each -> Place.of(each.openDevice(
                                each.devices().getFirst().id(),
                                DeviceOptions.builder()
                                        .schedulingDomain(domain)
                                        .queueCount(1)
                                        .build()))));
            }
        }
        return places;
    }

    private void load(int millis) {
        long end = System.nanoTime() + millis * 1_000_000L;
        while (System.nanoTime() - end < 0) {
            long id = ++pipelines;
            try {
                pipeline(id, places());
            } catch (IreeException e) {
                say("refused", id, e.code()); // while it was being submitted
            }
        }
        say("ran", millis);
    }

    /** Submits a pipeline at once, waits for its end, and says how each stage ended. */
    private void pipeline(long id, List<Place> places) {
        List<TimelineSemaphore> timelines = new ArrayList<>();
        List<AutoCloseable> opened = new ArrayList<>();
        int submitted = 0;
        IreeException refusal = null;
        say("submit", id);
        for (int stage = 0; stage < STAGES && refusal == null; stage++) {
            TimelineSemaphore timeline = TimelineSemaphore.create(0);
            opened.add(timeline);
            timelines.add(timeline);
            Fence wait = stage == 0 ? null : Fence.at(timelines.get(stage - 1), 1);
            Fence signal = Fence.at(timeline, 1);
            opened.add(signal);
            try {
                Place place = places.get(stage % places.size());
                place.device().queue(0).fill(wait, signal, place.buffer(), 4L * stage, 4, stage, 4, 0);
                submitted++;
            } catch (IreeException e) {
                refusal = e;
            } finally {
                if (wait != null) {
                    opened.add(wait);
                }
            }
        }
        for (int stage = 0; stage < submitted; stage++) {
            try {
                timelines.get(stage).await(1, Duration.ofSeconds(60));
                Frontier frontier = timelines.get(stage).frontierAt(1);
                boolean known = frontier != null && frontier.hasProducer();
                boolean complete = frontier == null
                        || frontier.isTainted()
                        || domain.tracker().isComplete(frontier);
                say(
                        "end",
                        id,
                        stage,
                        "OK",
                        known ? Axis.toString(frontier.producerAxis()) : "-",
                        known ? frontier.producerEpoch() : 0,
                        complete);
            } catch (IreeException e) {
                say("end", id, stage, e.code(), "-", 0, true);
            }
        }
        say("done", id, submitted, refusal == null ? "-" : refusal.code());
        for (AutoCloseable each : opened) {
            try {
                each.close();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private void fills(int count) {
        Place far = places().get(1);
        long[] nanos = new long[count];
        for (int i = 0; i < count; i++) {
            try (TimelineSemaphore timeline = TimelineSemaphore.create(0);
                    Fence signal = Fence.at(timeline, 1)) {
                long began = System.nanoTime();
                far.device().queue(0).fill(null, signal, far.buffer(), 0, 4, i, 4, 0);
                signal.await(Duration.ofSeconds(30));
                nanos[i] = System.nanoTime() - began;
            }
        }
        long[] warm = Arrays.copyOfRange(nanos, count / 2, count);
        Arrays.sort(warm);
        say("fill", warm[warm.length / 2] / 1000, warm[warm.length * 99 / 100] / 1000);
    }

    public static void main(String[] arguments) throws IOException {
        int index = Integer.parseInt(arguments[0]);
        List<Integer> ports =
                Arrays.stream(arguments[1].split(",")).map(Integer::valueOf).toList();
        NodeMain main = new NodeMain(
                index,
                ports.get(index),
                ports,
                Path.of(arguments[2]),
                Duration.ofSeconds(Integer.parseInt(arguments[3])));
        try (BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line; (line = commands.readLine()) != null; ) {
                String[] words = line.split(" ");
                switch (words[0]) {
                    case "load" -> main.load(Integer.parseInt(words[1]));
                    case "fill" -> main.fills(Integer.parseInt(words[1]));
                    default -> throw new IllegalArgumentException(line);
                }
            }
        }
    }
}
