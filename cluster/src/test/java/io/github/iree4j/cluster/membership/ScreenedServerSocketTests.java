package io.github.iree4j.cluster.membership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.github.iree4j.cluster.ManualClock;
import io.github.iree4j.cluster.transport.TestCertificates;
import io.github.iree4j.cluster.transport.TransportOptions.Tls;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import org.jgroups.Version;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** What comes to the port of the membership. */
@Timeout(120)
class ScreenedServerSocketTests {
    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();
    private static final Duration LONG = Duration.ofMinutes(2);
    private static final byte[] GREETING = ByteBuffer.allocate(4 + 2 + 2 + 7)
            .put("bela".getBytes(StandardCharsets.US_ASCII))
            .putShort(Version.version)
            .putShort((short) 7)
            .put(new byte[] {4, 127, 0, 0, 1, 1, 2})
            .array();

    private final Logger log = (Logger) LoggerFactory.getLogger(ScreenedServerSocketTests.class);
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private final ManualClock clock = new ManualClock();
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            lines.add(event.getFormattedMessage());
        }
    };

    @BeforeEach
    void listen() {
        appender.start();
        log.addAppender(appender);
        log.setLevel(Level.INFO);
    }

    @AfterEach
    void stop() {
        log.detachAppender(appender);
    }

    private ScreenedServerSocket open(@Nullable SSLContext ssl, Duration limit) throws IOException {
        ScreenedServerSocket server = new ScreenedServerSocket(ssl, limit, new ConnectionLog(log, "connection", clock));
        server.bind(new InetSocketAddress(LOOPBACK, 0));
        return server;
    }

    private static Socket connect(ServerSocket to) throws IOException {
        Socket socket = new Socket(LOOPBACK, to.getLocalPort());
        socket.setSoTimeout(60_000);
        return socket;
    }

    /** Reads until the connection ends. */
    private static void drain(Socket socket) throws IOException {
        try {
            while (socket.getInputStream().read() >= 0) {
                // An alert of TLS.
            }
        } catch (SocketException | SSLException e) {
            // Ended by a reset, or by the alert.
        }
    }

    /** Accepts until the port is closed, as JGroups does. */
    private static BlockingQueue<Socket> accepting(ScreenedServerSocket server) {
        BlockingQueue<Socket> accepted = new LinkedBlockingQueue<>();
        Thread.startVirtualThread(() -> {
            try {
                while (true) {
                    accepted.add(server.accept());
                }
            } catch (IOException e) {
                // Closed.
            }
        });
        return accepted;
    }

    private static SSLContext context(Tls shows, Tls trusts) throws Exception {
        SSLContext ssl = SSLContext.getInstance("TLS");
        ssl.init(shows.keys().toArray(KeyManager[]::new), trusts.authorities().toArray(TrustManager[]::new), null);
        return ssl;
    }

    @Test
    void aStrangerThatSaysLittleKeepsNoNodeOut() throws IOException {
        try (ScreenedServerSocket server = open(null, LONG);
                Socket silent = connect(server);
                Socket slow = connect(server);
                Socket node = connect(server)) {
            slow.getOutputStream().write('b');
            node.getOutputStream().write(GREETING);
            node.getOutputStream().write(7);
            try (Socket connection = server.accept()) {
                assertThat(connection.getPort()).isEqualTo(node.getLocalPort());
                assertThat(connection.getInputStream().readNBytes(GREETING.length))
                        .isEqualTo(GREETING);
                assertThat(connection.getInputStream().read()).isEqualTo(7);
            }
            slow.getOutputStream().write(GREETING, 1, GREETING.length - 1);
            try (Socket connection = server.accept()) {
                assertThat(connection.getPort()).isEqualTo(slow.getLocalPort());
            }
            assertThat(silent.isConnected()).isTrue();
        }
        assertThat(lines).isEmpty();
    }

    @Test
    void aConnectionThatDoesNotGreetInTimeEnds() throws Exception {
        try (ScreenedServerSocket server = open(null, Duration.ofMillis(50))) {
            accepting(server);
            try (Socket slow = connect(server)) {
                slow.getOutputStream().write('b');
                drain(slow);
                assertThat(lines.take())
                        .isEqualTo("connection from /127.0.0.1:%d ended: no greeting within 50 ms"
                                .formatted(slow.getLocalPort()));
            }
        }
    }

    @Test
    void theOldestOfTooManyStrangersEnds() throws Exception {
        List<Socket> strangers = new ArrayList<>();
        try (ScreenedServerSocket server = open(null, LONG)) {
            accepting(server);
            Socket oldest = connect(server);
            strangers.add(oldest);
            for (int i = 0; i < ScreenedServerSocket.MOST_STRANGERS; i++) {
                strangers.add(connect(server));
            }
            drain(oldest);
            assertThat(lines.take())
                    .startsWith("connection from /127.0.0.1:%d ended: 512 younger".formatted(oldest.getLocalPort()));
        } finally {
            for (Socket each : strangers) {
                each.close();
            }
        }
    }

    @Test
    void closingEndsAWaitAndEveryConnection() throws Exception {
        ScreenedServerSocket server = open(null, LONG);
        try (Socket silent = connect(server);
                Socket node = connect(server)) {
            node.getOutputStream().write(GREETING);
            server.accept().close(); // so that it has begun
            CompletableFuture<Void> accepting = CompletableFuture.runAsync(
                    () -> assertThatThrownBy(server::accept).isInstanceOf(SocketException.class));
            server.close();
            accepting.get(60, TimeUnit.SECONDS);
            drain(silent);
        }
    }

    @Test
    void aLineSaysWhatIsWrongWithCertificates(@TempDir Path directory) throws Exception {
        Path other = Files.createDirectory(directory.resolve("other"));
        TestCertificates authority = new TestCertificates(directory);
        Tls near = TestCertificates.tls(authority.issue("near", "ip:127.0.0.1"));
        Tls expired = TestCertificates.tls(authority.issue("expired", "ip:127.0.0.1", "-startdate -9d -validity 5"));
        Tls early = TestCertificates.tls(authority.issue("early", "ip:127.0.0.1", "-startdate +2d"));
        Tls foreign = TestCertificates.tls(new TestCertificates(other).issue("foreign", "ip:127.0.0.1"));
        Tls none = new Tls(List.of(), near.authorities());
        Map<String, SSLContext> reasons = Map.of(
                "its certificate has expired: NotAfter", context(expired, near),
                "its certificate is not valid yet: NotBefore", context(early, near),
                "its certificate is of an unknown authority", context(foreign, near),
                "Empty client certificate chain", context(none, near),
                "it does not accept this node's certificate: Received fatal alert: ", context(near, foreign));
        for (Map.Entry<String, SSLContext> each : reasons.entrySet()) {
            try (ScreenedServerSocket server = open(context(near, near), LONG)) {
                BlockingQueue<Socket> accepted = accepting(server);
                List<String> starts = new ArrayList<>(); // of any of the three: each has a thread
                for (int attempt = 0; attempt < 3; attempt++) {
                    try (Socket socket = connect(server);
                            SSLSocket node = (SSLSocket) each.getValue()
                                    .getSocketFactory()
                                    .createSocket(socket, "127.0.0.1", socket.getPort(), true)) {
                        starts.add("connection from /127.0.0.1:%d ended: %s"
                                .formatted(socket.getLocalPort(), each.getKey()));
                        drain(node);
                    }
                }
                String line = lines.take();
                assertThat(starts).as(line).anyMatch(line::startsWith);
                assertThat(accepted).isEmpty();
            }
            assertThat(lines).isEmpty();
        }
    }

    @Test
    void aLineSaysThatOnlyOneSideHasTls(@TempDir Path directory) throws Exception {
        Tls tls = TestCertificates.tls(new TestCertificates(directory).issue("node", "ip:127.0.0.1"));
        SSLContext ssl = context(tls, tls);
        try (ScreenedServerSocket server = open(ssl, LONG)) {
            accepting(server);
            try (Socket plain = connect(server)) {
                plain.getOutputStream().write(GREETING);
                drain(plain);
            }
            assertThat(lines.take()).endsWith(" ended: not TLS");
        }
        try (ScreenedServerSocket server = open(null, LONG)) {
            accepting(server);
            try (Socket socket = connect(server);
                    SSLSocket node = (SSLSocket)
                            ssl.getSocketFactory().createSocket(socket, "127.0.0.1", socket.getPort(), true)) {
                drain(node);
            }
            assertThat(lines.take()).endsWith(" ended: it speaks TLS, which this node does not");
        }
    }

    @Test
    void aNodeWithACertificateIsLetIn(@TempDir Path directory) throws Exception {
        Tls tls = TestCertificates.tls(new TestCertificates(directory).issue("node", "ip:127.0.0.1"));
        SSLContext ssl = context(tls, tls);
        try (ScreenedServerSocket server = open(ssl, LONG);
                Socket socket = connect(server);
                SSLSocket node =
                        (SSLSocket) ssl.getSocketFactory().createSocket(socket, "127.0.0.1", socket.getPort(), true)) {
            CompletableFuture<Void> greets = CompletableFuture.runAsync(() -> {
                try {
                    node.getOutputStream().write(GREETING);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            try (Socket connection = server.accept()) {
                assertThat(connection.getInputStream().readNBytes(GREETING.length))
                        .isEqualTo(GREETING);
            }
            greets.get(60, TimeUnit.SECONDS);
        }
    }
}
