package io.github.iree4j.spring.cluster.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.cluster.FreePorts;
import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.cluster.membership.ClusterMembership;
import io.github.iree4j.cluster.transport.GrpcTransport;
import io.github.iree4j.cluster.transport.NoConnections;
import io.github.iree4j.cluster.transport.TestCertificates;
import io.github.iree4j.cluster.transport.TransportOptions;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.status.IreeException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundleKey;
import org.springframework.boot.ssl.SslBundleRegistry;
import org.springframework.boot.ssl.jks.JksSslStoreBundle;
import org.springframework.boot.ssl.jks.JksSslStoreDetails;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

@Timeout(120)
class RotatingCertificatesTests {

    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final String HOST = "127.0.0.1";

    @TempDir
    private Path directory;

    /** Another node, with certificates of either authority. */
    private static final class Peer extends NoConnections implements AutoCloseable {
        final BlockingQueue<ClusterMember> asked = new LinkedBlockingQueue<>(); // of members with a good certificate
        final int port;
        private final GrpcTransport transport;

        Peer(Path store, int machine) {
            transport = new GrpcTransport(
                    TransportOptions.of(InetAddress.getLoopbackAddress(), 0).withTls(TestCertificates.tls(store)),
                    this);
            port = transport
                    .listen(new NodeIdentity(7, machine, 1, machine), HOST)
                    .port();
        }

        /** Whether the node at a port accepts this peer, and this peer the node. */
        boolean reaches(int other) throws Exception {
            CompletableFuture<Boolean> outcome = new CompletableFuture<>();
            byte[] message = {2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}; // a sign of life
            transport.ask(
                    InetSocketAddress.createUnresolved(HOST, other), message, LIMIT, new ClusterMembership.Reply() {
                        @Override
                        public void answered(ClusterMember from, byte[] answer) {
                            outcome.complete(true);
                        }

                        @Override
                        public void failed(IreeException cause) {
                            outcome.complete(false);
                        }
                    });
            return outcome.get(30, TimeUnit.SECONDS);
        }

        @Override
        public byte[] asked(ClusterMember member, byte[] message) {
            asked.add(member);
            return message;
        }

        @Override
        public void close() {
            transport.close();
        }
    }

    private static SslBundle bundle(Path store) {
        JksSslStoreDetails details =
                new JksSslStoreDetails("PKCS12", null, store.toUri().toString(), TestCertificates.PASSWORD);
        return SslBundle.of(new JksSslStoreBundle(details, details), SslBundleKey.of(TestCertificates.PASSWORD));
    }

    /** A node that accepts, shows and dials with the present content of its bundle. */
    @Test
    void newConnectionsUseTheCertificatesOfTheUpdatedBundle() throws Exception {
        Path before =
                new TestCertificates(Files.createDirectory(directory.resolve("before"))).issue("node", "ip:127.0.0.1");
        Path after =
                new TestCertificates(Files.createDirectory(directory.resolve("after"))).issue("node", "ip:127.0.0.1");
        int port = FreePorts.from(33_000 + (int) (ProcessHandle.current().pid() % 2_000));
        try (Peer early = new Peer(before, 1);
                Peer late = new Peer(after, 2)) {
            new ApplicationContextRunner()
                    .withConfiguration(AutoConfigurations.of(
                            SslAutoConfiguration.class,
                            IreeAutoConfiguration.class,
                            IreeClusterAutoConfiguration.class))
                    .withPropertyValues(
                            "iree.cluster.enabled=true",
                            "iree.cluster.identity.machine=3",
                            "iree.cluster.identity.file=" + directory.resolve("identity"),
                            "iree.cluster.bind.port=" + port,
                            "iree.cluster.ssl.bundle=nodes",
                            "iree.cluster.discovery.static=127.0.0.1:" + early.port + ",127.0.0.1:" + late.port,
                            "spring.ssl.bundle.jks.nodes.keystore.location=" + before.toUri(),
                            "spring.ssl.bundle.jks.nodes.keystore.password=" + TestCertificates.PASSWORD,
                            "spring.ssl.bundle.jks.nodes.truststore.location=" + before.toUri(),
                            "spring.ssl.bundle.jks.nodes.truststore.password=" + TestCertificates.PASSWORD)
                    .run(node -> {
                        assertThat(early.asked.poll(30, TimeUnit.SECONDS))
                                .as("dialed with the first certificate")
                                .isNotNull();
                        assertThat(early.reaches(port)).isTrue();
                        assertThat(late.reaches(port)).isFalse();
                        assertThat(late.asked).isEmpty();
                        node.getBean(SslBundleRegistry.class).updateBundle("nodes", bundle(after));
                        assertThat(late.asked.poll(30, TimeUnit.SECONDS))
                                .as("dialed with the second certificate")
                                .isNotNull();
                        assertThat(late.reaches(port)).isTrue();
                    });
        }
    }
}
