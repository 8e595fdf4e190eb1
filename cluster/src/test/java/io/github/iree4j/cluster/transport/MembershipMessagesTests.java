package io.github.iree4j.cluster.transport;

import static io.github.iree4j.cluster.transport.GrpcTransportTests.HOST;
import static io.github.iree4j.cluster.transport.GrpcTransportTests.LOOPBACK;
import static io.github.iree4j.cluster.transport.GrpcTransportTests.identity;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.cluster.membership.ClusterMembership;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Messages of the membership over real connections, and reasons for missing answers. */
@Timeout(60)
class MembershipMessagesTests {

    private static final TransportOptions PLAIN = TransportOptions.of(LOOPBACK, 0);
    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final byte[] MESSAGE = {1, 2, 3};
    private static TransportOptions near;
    private static TransportOptions elsewhere;
    private static TransportOptions forged;
    private static TransportOptions expired;
    private static TransportOptions future;

    private final List<GrpcTransport> opened = new ArrayList<>();

    @BeforeAll
    static void issue(@TempDir Path directory) throws IOException {
        TestCertificates authority = new TestCertificates(directory);
        near = PLAIN.withTls(TestCertificates.tls(authority.issue("near", "ip:127.0.0.1")));
        elsewhere = PLAIN.withTls(TestCertificates.tls(authority.issue("elsewhere", "dns:elsewhere.example")));
        expired = PLAIN.withTls(
                TestCertificates.tls(authority.issue("expired", "ip:127.0.0.1", "-startdate -9d -validity 2")));
        future = PLAIN.withTls(
                TestCertificates.tls(authority.issue("future", "ip:127.0.0.1", "-startdate +9d -validity 2")));
        TestCertificates other = new TestCertificates(Files.createDirectory(directory.resolve("other")));
        forged = PLAIN.withTls(TestCertificates.tls(other.issue("near", "ip:127.0.0.1")));
    }

    @AfterEach
    void close() {
        opened.forEach(GrpcTransport::close);
    }

    private GrpcTransport transport(TransportOptions options) {
        return transport(options, new Ends());
    }

    private GrpcTransport transport(TransportOptions options, PeerHandler handler) {
        GrpcTransport made = new GrpcTransport(options, handler);
        opened.add(made);
        return made;
    }

    /** The outcome of a message: the answer's sender, or the failure. */
    private Object ask(TransportOptions from, InetSocketAddress to) throws Exception {
        return ask(from, to, LIMIT, MESSAGE);
    }

    private Object ask(TransportOptions from, InetSocketAddress to, Duration limit, byte[] message) throws Exception {
        GrpcTransport asker = transport(from);
        asker.listen(identity(1), HOST);
        CompletableFuture<Object> outcome = new CompletableFuture<>();
        asker.ask(to, message, limit, new ClusterMembership.Reply() {
            @Override
            public void answered(ClusterMember member, byte[] answer) {
                assertThat(answer).isEqualTo(message);
                assertThat(outcome.complete(member)).as("once").isTrue();
            }

            @Override
            public void failed(IreeException cause) {
                assertThat(outcome.complete(cause)).as("once").isTrue();
            }
        });
        return outcome.get(30, TimeUnit.SECONDS);
    }

    private IreeException failure(TransportOptions from, TransportOptions to) throws Exception {
        return (IreeException) ask(from, address(transport(to).listen(identity(2), HOST)));
    }

    private static InetSocketAddress address(ClusterMember member) {
        return InetSocketAddress.createUnresolved(member.host(), member.port());
    }

    @Test
    void aMessageIsAnsweredWithAndWithoutTls() throws Exception {
        for (TransportOptions each : List.of(PLAIN, near)) {
            ClusterMember there = transport(each).listen(identity(2), HOST);
            assertThat(ask(each, address(there))).isEqualTo(there);
        }
    }

    /** Discovery knows a numeric address, or another name; the certificate is of the advertised host. */
    @Test
    void theCertificateIsOfTheAdvertisedHostAndNotOfTheDialedAddress() throws Exception {
        ClusterMember there = transport(near).listen(identity(2), HOST);
        assertThat(ask(near, InetSocketAddress.createUnresolved("localhost", there.port())))
                .isEqualTo(there);
        refuses(failure(near, elsewhere), StatusCode.PERMISSION_DENIED, "its certificate is for [elsewhere.example]");
        refuses(
                failure(elsewhere, near),
                StatusCode.FAILED_PRECONDITION,
                "it refuses this node: a node advertises host '127.0.0.1', and its certificate is for");
    }

    private static void refuses(IreeException failure, StatusCode code, String cause) {
        assertThat(failure.code()).isEqualTo(code);
        assertThat(failure).hasMessageContaining(cause);
    }

    @Test
    void unacceptedCertificatesAreExplainedOnBothSides() throws Exception {
        StatusCode refusal = StatusCode.FAILED_PRECONDITION;
        refuses(failure(near, expired), refusal, "its certificate has expired: NotAfter: ");
        refuses(
                failure(expired, near),
                refusal,
                "it does not accept this node's certificate: alert_certificate_expired");
        refuses(failure(near, future), refusal, "its certificate is not valid yet: NotBefore: ");
        refuses(failure(near, forged), refusal, "its certificate is of an unknown authority");
        refuses(failure(PLAIN, near), refusal, "it ended the connection, perhaps since only one side speaks TLS");
        refuses(failure(near, PLAIN), refusal, "it does not speak TLS, which this node does");
    }

    @Test
    void whereNobodyAnswersNobodyRefuses() throws Exception {
        Duration second = Duration.ofSeconds(1);
        try (ServerSocket silent = new ServerSocket(0, 10, LOOPBACK)) {
            for (TransportOptions each : List.of(PLAIN, near)) {
                refuses(
                        (IreeException) ask(each, there(silent.getLocalPort()), second, MESSAGE),
                        StatusCode.DEADLINE_EXCEEDED,
                        "no answer within 1 s: it is paused, or no node");
            }
        }
        StatusCode absent = StatusCode.UNAVAILABLE;
        refuses((IreeException) ask(near, there(1)), absent, "Connection refused");
        refuses(
                (IreeException) ask(near, InetSocketAddress.createUnresolved("nohost.invalid", 1)),
                absent,
                "unknown host");
        for (String host : List.of("not a host", "http://x", "\u0000", "[", "x".repeat(250), "::1::2")) {
            assertThat(((IreeException) ask(near, InetSocketAddress.createUnresolved(host, 1))).code())
                    .as(host)
                    .isEqualTo(absent);
        }
    }

    /** As before the join, or on leaving. */
    @Test
    void aNodeOutsideOfTheClusterRefusesNobody() throws Exception {
        PeerHandler outside = new Ends() {
            @Override
            public byte[] asked(ClusterMember peer, byte[] message) {
                throw IreeException.of(StatusCode.UNAVAILABLE, "this node is in no cluster");
            }
        };
        ClusterMember there = transport(PLAIN, outside).listen(identity(2), HOST);
        refuses(
                (IreeException) ask(PLAIN, address(there)),
                StatusCode.UNAVAILABLE,
                "it is in no cluster yet, or no more");
    }

    private static InetSocketAddress there(int port) {
        return InetSocketAddress.createUnresolved("127.0.0.1", port);
    }

    @Test
    void otherServersAreNoNodes() throws Exception {
        byte[] http = "HTTP/1.1 400 Bad\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
        for (byte[] greeting : List.of(http, new byte[100], new byte[0])) {
            try (ServerSocket server = new ServerSocket(0, 10, LOOPBACK)) {
                Thread.ofVirtual().start(() -> {
                    try {
                        while (true) {
                            try (Socket socket = server.accept()) {
                                socket.getOutputStream().write(greeting);
                            }
                        }
                    } catch (IOException e) {
                        // The end of the test.
                    }
                });
                for (TransportOptions each : List.of(PLAIN, near)) {
                    assertThat(((IreeException) ask(each, there(server.getLocalPort()))).code())
                            .isEqualTo(StatusCode.FAILED_PRECONDITION);
                }
            }
        }
    }

    @Test
    void longMessagesAreRefused() throws Exception {
        ClusterMember there = transport(PLAIN).listen(identity(2), HOST);
        for (int bytes : new int[] {600_000, 2_600_000}) {
            refuses(
                    (IreeException) ask(PLAIN, address(there), LIMIT, new byte[bytes]),
                    StatusCode.FAILED_PRECONDITION,
                    "it refuses this node: ");
        }
        assertThat(ask(PLAIN, address(there), LIMIT, new byte[500_000])).isEqualTo(there);
    }

    /** A process closed with the port still bound cannot start again in the same JVM. */
    @Test
    void closingWhileMessagesWaitForConnectionsFreesThePort() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 10, LOOPBACK)) {
            GrpcTransport asker = transport(near);
            int port = asker.listen(identity(1), HOST).port();
            ClusterMembership.Reply ignored = new ClusterMembership.Reply() {
                @Override
                public void answered(ClusterMember member, byte[] answer) {
                    throw new AssertionError(member);
                }

                @Override
                public void failed(IreeException cause) {
                    // At the close.
                }
            };
            for (String host : List.of(HOST, "localhost")) {
                asker.ask(InetSocketAddress.createUnresolved(host, silent.getLocalPort()), MESSAGE, LIMIT, ignored);
            }
            try (Socket first = silent.accept();
                    Socket second = silent.accept()) {
                assertThat(first.isConnected() && second.isConnected()).isTrue();
                asker.close();
            }
            try (ServerSocket free = new ServerSocket(port, 1, LOOPBACK)) {
                assertThat(free.isBound()).isTrue();
            }
        }
    }

    @Test
    void aPeerWithAnInvalidHostIsUnreachable() throws Exception {
        Ends ends = new Ends();
        GrpcTransport dialer = transport(PLAIN, ends);
        dialer.listen(identity(1), HOST);
        dialer.dial(new ClusterMember(identity(2), "not a host", 1));
        assertThat(Ends.take(ends.unreachable)).hasMessageContaining("has no address");
    }

    @Test
    void aClosedTransportFailsMessagesAtOnce() throws Exception {
        GrpcTransport closed = transport(PLAIN);
        CompletableFuture<IreeException> failure = new CompletableFuture<>();
        ClusterMembership.Reply reply = new ClusterMembership.Reply() {
            @Override
            public void answered(ClusterMember member, byte[] answer) {
                throw new AssertionError(member);
            }

            @Override
            public void failed(IreeException cause) {
                failure.complete(cause);
            }
        };
        closed.listen(identity(1), HOST);
        closed.close();
        closed.ask(there(1), MESSAGE, LIMIT, reply);
        assertThat(failure.get().code()).isEqualTo(StatusCode.UNAVAILABLE);
    }
}
