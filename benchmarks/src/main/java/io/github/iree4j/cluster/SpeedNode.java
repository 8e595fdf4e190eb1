package io.github.iree4j.cluster;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.cluster.membership.HeartbeatMembership;
import io.github.iree4j.cluster.membership.MembershipOptions;
import io.github.iree4j.cluster.transport.TransportOptions;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.hal.remote.RemoteNode;
import io.github.iree4j.hal.remote.RemoteOptions;
import io.github.iree4j.hal.remote.RemoteSessionStatistics;
import io.github.iree4j.hal.spi.DeviceOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * A node of {@link ClusterSpeed} with a CPU device, {@code local}, and a second one of many queues, {@code queues}; as
 * the main class, in a separate process until the standard input ends. A line with a node's number is answered by the
 * frames and bytes sent to that node.
 */
final class SpeedNode implements AutoCloseable {
    static final int NODES = 3;
    static final int QUEUES = 12;
    static final int BYTES = 64 << 20;
    static final Duration LIMIT = Duration.ofMinutes(1);
    static final String PASSWORD = "changeit"; // of a key made for a run

    final SchedulingDomain domain;
    final IreeRuntime runtime;
    final BareGrpc bare;
    private final ClusterNode cluster;
    private final ExecutorService views = Executors.newSingleThreadExecutor(
            Thread.ofPlatform().daemon().name("views").factory());
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("timer").factory());

    /**
     * Frames of a session.
     *
     * @param bytes of the frames
     */
    record Frames(long count, long bytes) {
        Frames minus(Frames before) {
            return new Frames(count - before.count, bytes - before.bytes);
        }

        Frames plus(Frames other) {
            return new Frames(count + other.count, bytes + other.bytes);
        }
    }

    /**
     * Joins the cluster.
     *
     * @param index the number of this node
     * @param ports of the nodes of the cluster, by number, and then of the bare streams
     * @param keys a key store for TLS; null for plain text
     */
    SpeedNode(int index, List<Integer> ports, @Nullable Path keys) throws IOException, GeneralSecurityException {
        NodeIdentity identity = identity(index);
        domain = SchedulingDomain.create(AxisAllocator.create(1, index), FrontierTracker.create(), QUEUES);
        DeviceOptions.Builder options =
                DeviceOptions.builder().schedulingDomain(domain).with(new ClusterDevices(this::cluster, LIMIT));
        runtime = IreeRuntime.builder()
                .device("0", "local", options.build())
                .device("1", "cluster://1/local", options.build())
                .device("2", "cluster://2/local", options.build())
                .device("2-queues", "cluster://2/queues", options.build())
                .device("queues", "local", options.queueCount(QUEUES).build())
                .build();
        InetAddress address = InetAddress.getLoopbackAddress();
        TransportOptions transport = TransportOptions.of(address, ports.get(index));
        if (keys != null) {
            transport = transport.withTls(tls(keys));
        }
        List<InetSocketAddress> all = ports.subList(0, NODES).stream()
                .map(port -> InetSocketAddress.createUnresolved(address.getHostAddress(), port))
                .toList();
        cluster = new ClusterNode(
                identity,
                RemoteNode.builder(identity, domain)
                        .device("local", runtime.device("0"))
                        .device("queues", runtime.device("queues"))
                        .executor(Executors.newCachedThreadPool(
                                Thread.ofPlatform().daemon().factory())),
                transport,
                new HeartbeatMembership(new MembershipOptions(
                        new MembershipOptions.Discovery.Static(all), Duration.ofSeconds(3), Duration.ofMillis(500))),
                address.getHostAddress(),
                Duration.ofSeconds(6),
                System::nanoTime,
                views);
        cluster.start();
        timer.scheduleWithFixedDelay(cluster::look, 500, 500, TimeUnit.MILLISECONDS);
        bare = new BareGrpc(
                index, ports.subList(NODES, 2 * NODES), transport, BYTES, RemoteOptions.DEFAULTS.chunkBytes());
    }

    private static NodeIdentity identity(int index) {
        return new NodeIdentity(7, index, 1, index + 1);
    }

    private ClusterNode cluster() {
        return cluster;
    }

    private static TransportOptions.Tls tls(Path file) throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            store.load(in, PASSWORD.toCharArray());
        }
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, PASSWORD.toCharArray());
        TrustManagerFactory authorities = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        authorities.init(store);
        return new TransportOptions.Tls(List.of(keys.getKeyManagers()), List.of(authorities.getTrustManagers()));
    }

    /** Waits for sessions with the other nodes. */
    void awaitOthers() throws InterruptedException {
        for (int index = 0; index < NODES; index++) {
            long incarnation = identity(index).incarnation();
            if (incarnation != cluster.identity().incarnation()
                    && cluster.awaitSession(each -> each.identity().incarnation() == incarnation, LIMIT)
                            .isEmpty()) {
                throw new IllegalStateException("no session with node " + index + " within " + LIMIT);
            }
        }
    }

    private RemoteSessionStatistics statistics(int index) {
        return cluster.remote().session(identity(index).incarnation()).statistics();
    }

    /** The frames sent to a node so far. */
    Frames sentTo(int index) {
        RemoteSessionStatistics all = statistics(index);
        return new Frames(all.framesSent(), all.bytesSent());
    }

    /** The frames received from a node so far. */
    Frames receivedFrom(int index) {
        RemoteSessionStatistics all = statistics(index);
        return new Frames(all.framesReceived(), all.bytesReceived());
    }

    @Override
    public void close() {
        bare.close();
        cluster.close();
        timer.shutdown();
        views.shutdown();
        runtime.close();
    }

    /**
     * Runs a node.
     *
     * @param arguments the number, the ports with commas in between, and perhaps the key store
     */
    public static void main(String[] arguments) throws Exception {
        List<Integer> ports =
                Arrays.stream(arguments[1].split(",")).map(Integer::valueOf).toList();
        Path keys = arguments.length > 2 ? Path.of(arguments[2]) : null;
        try (SpeedNode node = new SpeedNode(Integer.parseInt(arguments[0]), ports, keys);
                BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            node.awaitOthers();
            System.out.println("ready");
            for (String line; (line = lines.readLine()) != null; ) {
                Frames sent = node.sentTo(Integer.parseInt(line));
                System.out.println(sent.count() + " " + sent.bytes());
            }
        }
        System.exit(0); // whatever still waits: the first process is gone
    }
}
