package io.github.iree4j.cluster.membership;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.iree4j.cluster.ManualClock;
import io.github.iree4j.cluster.transport.TestCertificates;
import io.github.iree4j.cluster.transport.TransportOptions.Tls;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import org.jgroups.PhysicalAddress;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** What a node says of the addresses at which it looks for others. */
@Timeout(120)
class ContactsTests {
    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();
    private static final Duration LONG = Duration.ofMinutes(2);
    private static final int SECONDS = 60_000;

    private final Logger log = (Logger) LoggerFactory.getLogger(ContactsTests.class);
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final ManualClock clock = new ManualClock();
    private final Contacts contacts = new Contacts(log, clock);
    private final InetSocketAddress there = new InetSocketAddress(LOOPBACK, 7601);

    @BeforeEach
    void listen() {
        lines.start();
        log.addAppender(lines);
        log.setLevel(Level.INFO);
    }

    @AfterEach
    void stop() {
        log.detachAppender(lines);
    }

    private List<String> told() {
        return lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }

    private List<Unreached> unreached() {
        return contacts.unreached(Set.of());
    }

    private static SSLContext context(Tls shows, Tls trusts) throws Exception {
        SSLContext ssl = SSLContext.getInstance("TLS");
        ssl.init(shows.keys().toArray(KeyManager[]::new), trusts.authorities().toArray(TrustManager[]::new), null);
        return ssl;
    }

    /** Connects as JGroups does, and reads what comes. */
    private void call(int port, @Nullable SSLContext ssl, Duration limit) throws IOException {
        InetSocketAddress to = new InetSocketAddress(LOOPBACK, port);
        try (Socket caller = new Caller(ssl, limit, contacts)) {
            caller.setKeepAlive(true);
            caller.bind(new InetSocketAddress(LOOPBACK, 0));
            caller.connect(to, SECONDS);
            caller.getOutputStream().write("bela, and something".getBytes(StandardCharsets.US_ASCII));
            caller.setSoTimeout(SECONDS);
            caller.getInputStream().read();
        } catch (IOException e) {
            // It was not let in.
        }
    }

    @Test
    void eachCauseOfAnAddressIsToldOnceUntilItIsReached() {
        for (int i = 0; i < 3; i++) {
            contacts.absent(there, "Connection refused");
            contacts.refused(there, "its certificate\nhas expired");
        }
        assertThat(told())
                .containsExactly(
                        "no node at localhost:7601 yet: Connection refused",
                        "no connection to the membership at localhost:7601: its certificate has expired");
        assertThat(unreached()).containsExactly(new Unreached("localhost:7601", true, "its certificate has expired"));
        contacts.reached(there);
        assertThat(unreached()).isEmpty();
        contacts.absent(there, "Connection refused");
        assertThat(told()).hasSize(4).last().isEqualTo("no node at localhost:7601 yet: Connection refused");
    }

    @Test
    void aMemberHasReachedThisNodeAndIsNotDialedAnyMore() {
        contacts.absent(there, "Connection refused");
        assertThat(contacts.unreached(Set.of(new InetSocketAddress(LOOPBACK, 7604))))
                .hasSize(1);
        assertThat(contacts.unreached(Set.of(there))).isEmpty();
        assertThat(unreached()).isEmpty();
    }

    @Test
    void anAddressThatIsNotTriedAnyMoreIsForgotten() {
        contacts.absent(there, "Connection refused");
        clock.advance(Duration.ofSeconds(60));
        assertThat(unreached()).hasSize(1);
        clock.advance(Duration.ofSeconds(1));
        assertThat(unreached()).isEmpty();
    }

    @Test
    void thereAreNotMoreAddressesThanNodes() {
        for (int port = 1; port <= 1000; port++) {
            contacts.absent(new InetSocketAddress(LOOPBACK, port), "Connection refused");
        }
        assertThat(unreached())
                .hasSize(256)
                .last()
                .satisfies(each -> assertThat(each.address()).isEqualTo("localhost:1000"));
    }

    @Test
    void aConnectionOnWhichNothingComesIsToldAfterAWhile() {
        contacts.connected(there);
        clock.advance(Duration.ofSeconds(4));
        assertThat(unreached()).isEmpty();
        clock.advance(Duration.ofSeconds(1));
        assertThat(unreached())
                .singleElement()
                .satisfies(each -> assertThat(each.refuses()).isTrue());
        contacts.reached(there);
        assertThat(unreached()).isEmpty();
    }

    @Test
    void connectionsThatEndWithoutAWordAreToldWhenTheyAreMany() {
        for (int i = 0; i < 2; i++) {
            contacts.connected(there);
            contacts.ended(there);
        }
        assertThat(unreached()).isEmpty();
        contacts.connected(there);
        contacts.ended(there);
        assertThat(unreached())
                .containsExactly(new Unreached("localhost:7601", true, "it ends connections before it says anything"));
    }

    @Test
    void strangersDoNotKeepTheLinesOfConfiguredHostsOut() {
        contacts.configured(Map.of(new InetSocketAddress(InetAddress.ofLiteral("10.0.0.8"), 7601), "node1.example"));
        ConnectionLog connections = new ConnectionLog(log, "connection", clock, contacts::isConfigured);
        for (int port = 1; port <= 3; port++) {
            connections.tell(new InetSocketAddress(LOOPBACK, port), "not TLS");
            connections.tell(new InetSocketAddress(InetAddress.ofLiteral("10.0.0.9"), port), "not TLS");
            connections.tell(new InetSocketAddress(InetAddress.ofLiteral("10.0.0.8"), port), "expired");
        }
        assertThat(told())
                .containsExactly(
                        "connection from localhost/127.0.0.1:1 ended: not TLS",
                        "connection from /10.0.0.8:1 ended: expired");
        clock.advance(Duration.ofSeconds(10));
        connections.tell(new InetSocketAddress(InetAddress.ofLiteral("10.0.0.8"), 4), "expired");
        assertThat(told())
                .last()
                .isEqualTo("connection from /10.0.0.8:4 ended: expired (and 2 others since the last such line)");
    }

    @Test
    void aConnectionThatIsCutShortSaysLessThanACertificate() {
        contacts.cutShort(there, "ended");
        assertThat(unreached()).containsExactly(new Unreached("localhost:7601", true, "ended"));
        contacts.refused(there, "its certificate has expired");
        contacts.cutShort(there, "ended");
        assertThat(unreached()).containsExactly(new Unreached("localhost:7601", true, "its certificate has expired"));
    }

    @Test
    void aPortWhereNothingListensIsNoRefusal() throws IOException {
        int port;
        try (ServerSocket closed = new ServerSocket(0, 1, LOOPBACK)) {
            port = closed.getLocalPort();
        }
        call(port, null, LONG);
        assertThat(unreached()).containsExactly(new Unreached("localhost:" + port, false, "Connection refused"));
    }

    @Test
    void aProcessThatIsPausedDoesNotAnswerToTls(@TempDir Path directory) throws Exception {
        Tls tls = TestCertificates.tls(new TestCertificates(directory).issue("node", "ip:127.0.0.1"));
        try (ServerSocket silent = new ServerSocket(0, 50, LOOPBACK)) {
            call(silent.getLocalPort(), context(tls, tls), Duration.ofMillis(100));
            assertThat(unreached())
                    .containsExactly(new Unreached(
                            "localhost:" + silent.getLocalPort(), false, "no answer to TLS within 100 ms"));
        }
    }

    @Test
    void theSideThatDialsSaysWhyItIsNotLetIn(@TempDir Path directory) throws Exception {
        Path other = Files.createDirectory(directory.resolve("other"));
        TestCertificates authority = new TestCertificates(directory);
        Tls near = TestCertificates.tls(authority.issue("near", "ip:127.0.0.1"));
        Tls expired = TestCertificates.tls(authority.issue("expired", "ip:127.0.0.1", "-startdate -9d -validity 5"));
        Tls early = TestCertificates.tls(authority.issue("early", "ip:127.0.0.1", "-startdate +2d"));
        Tls foreign = TestCertificates.tls(new TestCertificates(other).issue("foreign", "ip:127.0.0.1"));
        Tls none = new Tls(List.of(), near.authorities());
        SSLContext usual = context(near, near);
        Map<String, List<@Nullable SSLContext>> reasons = Map.of(
                "its certificate has expired: NotAfter", List.of(usual, context(expired, near)),
                "its certificate is not valid yet: NotBefore", List.of(usual, context(early, near)),
                "its certificate is of an unknown authority", List.of(usual, context(foreign, near)),
                "it does not accept this node's certificate: Received fatal alert: certificate_unknown",
                        List.of(context(expired, near), usual),
                "it does not accept this node's certificate: Received fatal alert: certificate_required",
                        List.of(context(none, near), usual),
                "it refuses TLS: Received fatal alert: handshake_failure", List.of(usual, context(none, near)));
        for (Map.Entry<String, List<@Nullable SSLContext>> each : reasons.entrySet()) {
            assertRefused(each.getValue().getFirst(), each.getValue().getLast(), each.getKey());
        }
        assertRefused(null, usual, "it speaks TLS, which this node does not");
        assertRefused(usual, null, "it ended the connection in place of a TLS handshake");
    }

    private void assertRefused(@Nullable SSLContext here, @Nullable SSLContext peer, String why) throws IOException {
        try (ScreenedServerSocket server =
                        new ScreenedServerSocket(peer, LONG, new ConnectionLog(log, "connection", clock));
                ServerSocket _ = server) {
            server.bind(new InetSocketAddress(LOOPBACK, 0));
            Thread.startVirtualThread(() -> {
                try {
                    server.accept();
                } catch (IOException e) {
                    // Closed.
                }
            });
            InetSocketAddress to = new InetSocketAddress(LOOPBACK, server.getLocalPort());
            String cause = "";
            while (!cause.startsWith(why)) { // what is written may be refused before the alert is read
                call(server.getLocalPort(), here, LONG);
                List<Unreached> found = unreached();
                assertThat(found).allSatisfy(each -> assertThat(each.refuses()).isTrue());
                cause = found.isEmpty() ? "" : found.getFirst().cause();
            }
            contacts.reached(to);
        }
    }

    @Test
    void whatComesFromANodeReachesIt(@TempDir Path directory) throws Exception {
        Tls tls = TestCertificates.tls(new TestCertificates(directory).issue("node", "ip:127.0.0.1"));
        for (SSLContext ssl : new @Nullable SSLContext[] {null, context(tls, tls)}) {
            try (ServerSocket node = ssl == null
                    ? new ServerSocket(0, 1, LOOPBACK)
                    : ssl.getServerSocketFactory().createServerSocket(0, 1, LOOPBACK)) {
                contacts.refused(new InetSocketAddress(LOOPBACK, node.getLocalPort()), "something else");
                Thread.startVirtualThread(() -> {
                    try (Socket connection = node.accept();
                            InputStream in = connection.getInputStream()) {
                        in.read();
                        connection.getOutputStream().write(7);
                        in.readAllBytes();
                    } catch (IOException e) {
                        // It has left.
                    }
                });
                call(node.getLocalPort(), ssl, LONG);
                assertThat(unreached()).isEmpty();
            }
        }
    }

    @Test
    void aHostIsFoundThatGetsItsAddressLaterAndAnotherOne() {
        AtomicReference<@Nullable InetAddress> address = new AtomicReference<>();
        NamedHosts hosts = new NamedHosts(
                List.of(InetSocketAddress.createUnresolved("node1.vision.example", 7601)), contacts, _ -> {
                    InetAddress known = address.get();
                    if (known == null) {
                        throw new UnknownHostException();
                    }
                    return known;
                });
        assertThat(hosts.lookUp()).isEmpty();
        assertThat(unreached()).containsExactly(new Unreached("node1.vision.example:7601", false, "unknown host"));
        List<String> found = new ArrayList<>();
        for (String each : List.of("10.0.0.7", "10.0.0.8", "")) {
            address.set(each.isEmpty() ? null : InetAddress.ofLiteral(each));
            hosts.lookUp().stream().map(PhysicalAddress::printIpAddress).forEach(found::add);
        }
        assertThat(found).containsExactly("10.0.0.7:7601", "10.0.0.8:7601", "10.0.0.8:7601");
        assertThat(unreached()).hasSize(1);
        address.set(InetAddress.ofLiteral("10.0.0.8"));
        hosts.lookUp();
        assertThat(unreached()).isEmpty();
        contacts.refused(new InetSocketAddress(InetAddress.ofLiteral("10.0.0.8"), 7601), "not TLS");
        assertThat(unreached())
                .as("with its name")
                .containsExactly(new Unreached("node1.vision.example:7601", true, "not TLS"));
    }
}
