package io.github.iree4j.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.cluster.membership.ClusterMembership;
import io.github.iree4j.cluster.membership.ClusterView;
import io.github.iree4j.cluster.membership.HeartbeatMembership;
import io.github.iree4j.cluster.membership.MembershipOptions;
import io.github.iree4j.cluster.transport.GrpcTransport;
import io.github.iree4j.cluster.transport.NoConnections;
import io.github.iree4j.cluster.transport.TestCertificates;
import io.github.iree4j.cluster.transport.TransportOptions;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.hal.remote.RemoteNode;
import io.github.iree4j.status.IreeException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three nodes with certificates, and strangers at their ports: without a certificate, or with the certificate of
 * another host.
 */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StrangersTests {

    private static final int NODES = 3;
    private static final String HOST = "127.0.0.1";
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

    @TempDir
    private Path directory;

    private final List<ClusterNode> nodes = new ArrayList<>();
    private final List<ExecutorService> executors = new ArrayList<>();
    private final List<Object> events = new CopyOnWriteArrayList<>(); // after the start
    private TestCertificates authority;
    private List<InetSocketAddress> addresses;

    private ExecutorService executor() {
        ExecutorService made = Executors.newSingleThreadExecutor(
                Thread.ofPlatform().daemon().name("strangers-views").factory());
        executors.add(made);
        return made;
    }

    @BeforeEach
    void start() throws Exception {
        authority = new TestCertificates(directory);
        int first = FreePorts.from(31_000 + (int) (ProcessHandle.current().pid() % 900));
        addresses = IntStream.range(0, NODES)
                .mapToObj(each -> InetSocketAddress.createUnresolved(HOST, first + each))
                .toList();
        TransportOptions.Tls tls = TestCertificates.tls(authority.issue("node", "ip:127.0.0.1"));
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().daemon().name("strangers-looks").factory());
        executors.add(timer);
        for (int index = 0; index < NODES; index++) {
            NodeIdentity identity = new NodeIdentity(7, index, 1, index + 1);
            ClusterNode node = new ClusterNode(
                    identity,
                    RemoteNode.builder(
                            identity,
                            SchedulingDomain.create(AxisAllocator.create(1, index), FrontierTracker.create(), 12)),
                    TransportOptions.of(LOOPBACK, addresses.get(index).getPort())
                            .withTls(tls),
                    new HeartbeatMembership(new MembershipOptions(
                            new MembershipOptions.Discovery.Static(addresses),
                            Duration.ofSeconds(3),
                            Duration.ofMillis(100))),
                    HOST,
                    Duration.ofSeconds(5),
                    System::nanoTime,
                    executor(),
                    new Events());
            nodes.add(node);
            node.start();
            timer.scheduleWithFixedDelay(node::look, 200, 200, TimeUnit.MILLISECONDS);
        }
        awaitWhole();
        events.clear();
    }

    private void awaitWhole() throws InterruptedException {
        for (ClusterNode each : nodes) {
            long deadline = System.nanoTime() + LIMIT.toNanos();
            while (each.view().members().size() < NODES) {
                assertThat(System.nanoTime() - deadline).isNegative();
                Thread.onSpinWait();
            }
            assertThat(each.awaitSessions(LIMIT)).isTrue();
        }
    }

    /** Records all changes. */
    private final class Events implements ClusterListener {
        @Override
        public void viewChanged(ClusterView view) {
            events.add(view);
        }

        @Override
        public void failed(long incarnation, IreeException cause) {
            events.add(cause);
        }

        @Override
        public void fenced(IreeException cause) {
            events.add(cause);
        }
    }

    @AfterEach
    void stop() {
        nodes.forEach(ClusterNode::close);
        executors.forEach(ExecutorService::shutdownNow);
    }

    private void nothingHasHappened() throws InterruptedException {
        awaitWhole();
        assertThat(events).isEmpty();
        for (ClusterNode each : nodes) {
            assertThat(each.remote().failures()).isEmpty();
            assertThat(each.unreached()).isEmpty();
        }
    }

    /** Short connections with a reset at the end, from an alleged node or from nobody; hundreds at all ports. */
    @Test
    void shortConnectionsOfStrangersChangeNothing() throws Exception {
        Random random = new Random(1);
        byte[] hello = {22, 3, 1, 0, 5, 1, 0, 0, 1, 0};
        byte[] preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
        List<Socket> held = new ArrayList<>();
        for (int i = 0; i < 600; i++) {
            int port = addresses.get(i % NODES).getPort();
            Socket socket = new Socket(LOOPBACK, port);
            byte[] noise = new byte[random.nextInt(400)];
            random.nextBytes(noise);
            try {
                switch (i / NODES % 5) {
                    case 0 -> socket.getOutputStream().write(noise);
                    case 1 -> socket.getOutputStream().write(hello);
                    case 2 -> socket.getOutputStream().write(preface);
                    case 3 ->
                        socket.getOutputStream()
                                .write(new ClusterMember(new NodeIdentity(7, 1, 1, 2), HOST, port).encode());
                    default -> {}
                }
            } catch (IOException e) {
                // The node has ended the connection.
            }
            if (i % 7 == 0) {
                held.add(socket);
            } else {
                socket.setSoLinger(random.nextBoolean(), 0);
                socket.close();
            }
        }
        nothingHasHappened();
        for (Socket each : held) {
            each.close();
        }
        nothingHasHappened();
    }

    /** Farewells in the name of each node, and reports of failures of all by all. */
    @Test
    void farewellsAndReportsOfStrangersChangeNothing() throws Exception {
        TestCertificates others = new TestCertificates(Files.createDirectory(directory.resolve("others")));
        List<TransportOptions> strangers = List.of(
                TransportOptions.of(LOOPBACK, 0),
                TransportOptions.of(LOOPBACK, 0).withTls(TestCertificates.tls(others.issue("forged", "ip:127.0.0.1"))),
                TransportOptions.of(LOOPBACK, 0)
                        .withTls(TestCertificates.tls(authority.issue("elsewhere", "dns:elsewhere.example"))));
        byte[] farewell = {3, 0, 0, 0, 0, 0, 0};
        byte[] report = {2, 0, 9, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2};
        for (TransportOptions each : strangers) {
            for (int node = 0; node < NODES; node++) {
                try (GrpcTransport stranger = new GrpcTransport(each, new Nobody())) {
                    NodeIdentity identity = new NodeIdentity(7, node, 1, node + 1); // of a node
                    stranger.listen(identity, HOST);
                    BlockingQueue<Object> outcomes = new LinkedBlockingQueue<>();
                    CountDownLatch left = new CountDownLatch(2 * NODES);
                    for (InetSocketAddress address : addresses) {
                        for (byte[] message : List.of(farewell, report)) {
                            stranger.ask(address, message, LIMIT, new Outcome(outcomes, left));
                        }
                    }
                    assertThat(left.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
                    assertThat(outcomes).as("the answers").isEmpty();
                }
            }
        }
        nothingHasHappened();
    }

    private record Outcome(BlockingQueue<Object> answers, CountDownLatch left) implements ClusterMembership.Reply {
        @Override
        public void answered(ClusterMember from, byte[] answer) {
            answers.add(from);
            left.countDown();
        }

        @Override
        public void failed(IreeException cause) {
            left.countDown();
        }
    }

    /** Accepts nothing. */
    private static final class Nobody extends NoConnections {
        @Override
        public byte[] asked(ClusterMember peer, byte[] message) {
            throw new AssertionError(peer);
        }
    }
}
