package io.github.iree4j.cluster.membership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.cluster.FreePorts;
import io.github.iree4j.cluster.transport.TestCertificates;
import io.github.iree4j.cluster.transport.TransportOptions;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import org.jgroups.Version;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** In one JVM, without a network. */
class JGroupsMembershipTests extends ClusterMembershipContract {

    private static final AtomicInteger GROUPS = new AtomicInteger();

    private final String group = "membership-" + GROUPS.incrementAndGet();

    @Override
    ClusterMembership node(int number) {
        return new JGroupsMembership(new GroupOptions(
                group,
                null,
                0,
                new GroupOptions.Discovery.Jvm(),
                Duration.ofSeconds(3),
                Duration.ofMillis(500),
                Duration.ofMillis(500),
                null));
    }

    /** A node that looks for others at some hosts. */
    private GroupOptions options(InetAddress address, int port, List<InetSocketAddress> hosts) {
        return new GroupOptions(
                group,
                address,
                port,
                new GroupOptions.Discovery.Static(hosts),
                Duration.ofSeconds(3),
                Duration.ofMillis(500),
                Duration.ofMillis(500),
                null);
    }

    @Test
    @Timeout(60)
    void aNodeThatLeasesItsIdentityElsewhereIsNoMemberAndIsNamed() throws Exception {
        ClusterMember here = ClusterViewTests.member(1);
        ClusterMember elsewhere = new ClusterMember(new NodeIdentity(77, 2, 1, 2), "far", 7600);
        CountDownLatch seen = new CountDownLatch(1);
        ClusterMembership one = node(1);
        ClusterMembership two = node(2);
        try {
            AtomicInteger members = new AtomicInteger();
            AtomicInteger views = new AtomicInteger();
            one.join(here, view -> {
                members.set(view.members().size());
                if (views.incrementAndGet() == 2) {
                    seen.countDown();
                }
            });
            assertThat(one.unreached()).isEmpty();
            two.join(elsewhere, _ -> {});
            seen.await();
            assertThat(members).hasValue(1);
            assertThat(one.unreached()).singleElement().satisfies(each -> {
                assertThat(each.address()).isEqualTo("far:7601");
                assertThat(each.refuses()).isTrue();
                assertThat(each.cause()).contains("the id of its cluster is 000000000000004d");
            });
        } finally {
            two.leave();
            one.leave();
        }
    }

    @Test
    void aPortInUseIsUnavailable() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            JGroupsMembership membership = new JGroupsMembership(new GroupOptions(
                    group,
                    InetAddress.getLoopbackAddress(),
                    taken.getLocalPort(),
                    new GroupOptions.Discovery.Jvm(),
                    Duration.ofSeconds(3),
                    Duration.ofMillis(500),
                    Duration.ofMillis(500),
                    null));
            assertThatThrownBy(() -> membership.join(ClusterViewTests.member(1), _ -> {}))
                    .isInstanceOfSatisfying(IreeException.class, e -> {
                        assertThat(e.code()).isEqualTo(StatusCode.UNAVAILABLE);
                        assertThat(e).hasMessageContaining(String.valueOf(taken.getLocalPort()));
                    });
            membership.leave();
        }
    }

    @Test
    void whenAnyCallThatLeavesReturnsThePortsAreFree() throws Exception {
        int port = FreePorts.two(29_000 + (int) (ProcessHandle.current().pid() % 900));
        GroupOptions options = options(
                InetAddress.getLoopbackAddress(),
                port,
                List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), port)));
        try (ExecutorService other = Executors.newSingleThreadExecutor()) {
            for (int round = 0; round < 3; round++) {
                JGroupsMembership membership = new JGroupsMembership(options);
                membership.join(ClusterViewTests.member(1 + round), _ -> {});
                other.execute(membership::leave);
                membership.leave();
            }
        }
    }

    /** Its own name has another address for it behind a router, say. */
    @Test
    @Timeout(60)
    void aNodeThatDoesNotReachItselfMissesNone() throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        int port = FreePorts.two(25_000 + (int) (ProcessHandle.current().pid() % 900));
        JGroupsMembership membership = new JGroupsMembership(options(
                loopback,
                port,
                List.of(new InetSocketAddress("127.0.0.3", port), new InetSocketAddress("127.0.0.4", port))));
        membership.join(new ClusterMember(new NodeIdentity(-5, 1, 1, 1), "127.0.0.3", port - 1), _ -> {});
        try {
            while (membership.unreached().isEmpty()) {
                Thread.onSpinWait();
            }
            assertThat(membership.unreached())
                    .containsExactly(new Unreached("127.0.0.4:" + port, false, "Connection refused"));
        } finally {
            membership.leave();
        }
    }

    /** They are for other users of JGroups; the node would be reached from where it must not be. */
    @Test
    void propertiesOfTheSystemDoNotMoveThePorts() throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        InetAddress other = InetAddress.ofLiteral("127.0.0.2");
        int port = FreePorts.two(27_000 + (int) (ProcessHandle.current().pid() % 900));
        JGroupsMembership membership = new JGroupsMembership(options(loopback, port, List.of()));
        System.setProperty("jgroups.bind_addr", "127.0.0.2");
        try {
            membership.join(ClusterViewTests.member(1), _ -> {});
        } finally {
            System.clearProperty("jgroups.bind_addr");
        }
        try {
            new Socket(loopback, port).close();
            assertThatThrownBy(() -> new Socket(other, port).close()).isInstanceOf(ConnectException.class);
        } finally {
            membership.leave();
        }
    }

    /** Without TLS a stranger can use a second port to speak for a node, and can have healthy nodes expelled. */
    @Test
    void aMembershipHasOnePort() throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        int port = FreePorts.two(26_000 + (int) (ProcessHandle.current().pid() % 900));
        JGroupsMembership membership = new JGroupsMembership(options(loopback, port, List.of()));
        membership.join(ClusterViewTests.member(1), _ -> {});
        try (ServerSocket next = new ServerSocket(port + 1, 1, loopback)) {
            new Socket(loopback, port).close();
            assertThat(next.isBound()).isTrue();
        } finally {
            membership.leave();
        }
    }

    /** Otherwise a few connections exhaust the memory of the process. */
    @Test
    @Timeout(60)
    void aLongMessageIsRefusedBeforeItHasMemory() throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        int port = FreePorts.two(29_900 + (int) (ProcessHandle.current().pid() % 900));
        JGroupsMembership membership =
                new JGroupsMembership(options(loopback, port, List.of(new InetSocketAddress(loopback, port))));
        membership.join(ClusterViewTests.member(1), _ -> {});
        try {
            try (Socket socket = new Socket(loopback, port)) {
                ByteBuffer greeting = ByteBuffer.allocate(4 + 2 + 2 + 7 + 4)
                        .put("bela".getBytes(StandardCharsets.US_ASCII))
                        .putShort(Version.version)
                        .putShort((short) 7) // of the address
                        .put(new byte[] {4, 127, 0, 0, 1})
                        .putShort((short) socket.getLocalPort())
                        .putInt(90_000_000); // of the message
                socket.getOutputStream().write(greeting.array());
                socket.setSoTimeout(20_000);
                while (socket.getInputStream().read() >= 0) {
                    // Its own greeting.
                }
            } catch (SocketException e) {
                assertThat(e).as("ended by a reset").isNotInstanceOf(ConnectException.class);
            }
        } finally {
            membership.leave();
        }
    }

    /** Such as that of a process that is paused: the system accepts for it. */
    @Test
    @Timeout(90)
    void aPortWhereNobodyAnswersKeepsNoOtherNodesApart(@TempDir Path directory) throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        TestCertificates certificates = new TestCertificates(directory);
        TransportOptions.Tls tls = TestCertificates.tls(certificates.issue("node", "ip:127.0.0.1"));
        SSLContext ssl = SSLContext.getInstance("TLS");
        ssl.init(tls.keys().toArray(KeyManager[]::new), tls.authorities().toArray(TrustManager[]::new), null);
        int first = FreePorts.two(28_000 + (int) (ProcessHandle.current().pid() % 900));
        int second = FreePorts.two(first + 3);
        List<JGroupsMembership> nodes = new ArrayList<>();
        try (ServerSocket silent = new ServerSocket(0, 50, loopback)) {
            List<InetSocketAddress> hosts = IntStream.of(silent.getLocalPort(), first, second)
                    .mapToObj(port -> new InetSocketAddress(loopback, port))
                    .toList();
            CountDownLatch both = new CountDownLatch(2);
            for (int port : new int[] {first, second}) {
                JGroupsMembership node = new JGroupsMembership(new GroupOptions(
                        group,
                        loopback,
                        port,
                        new GroupOptions.Discovery.Static(hosts),
                        Duration.ofSeconds(3),
                        Duration.ofMillis(500),
                        Duration.ofMillis(500),
                        ssl));
                nodes.add(node);
                AtomicBoolean seen = new AtomicBoolean();
                node.join(ClusterViewTests.member(nodes.size()), view -> {
                    if (view.members().size() == 2 && seen.compareAndSet(false, true)) {
                        both.countDown();
                    }
                });
            }
            assertThat(both.await(60, TimeUnit.SECONDS)).isTrue();
        } finally {
            nodes.forEach(JGroupsMembership::leave);
        }
    }
}
