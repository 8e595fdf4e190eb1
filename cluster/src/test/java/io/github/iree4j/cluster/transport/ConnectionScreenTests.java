package io.github.iree4j.cluster.transport;

import static io.github.iree4j.cluster.transport.GrpcTransportTests.HOST;
import static io.github.iree4j.cluster.transport.GrpcTransportTests.LOOPBACK;
import static io.github.iree4j.cluster.transport.GrpcTransportTests.connectingWithin;
import static io.github.iree4j.cluster.transport.GrpcTransportTests.identity;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.github.iree4j.cluster.ManualClock;
import io.github.iree4j.cluster.membership.ClusterMember;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Error;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Exception;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Arrivals at the port of a node that are no nodes. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ConnectionScreenTests {

    private static final byte[] TLS_HELLO = {22, 3, 1, 0, 5, 1, 0, 0, 1, 0};
    private static final byte[] HTTP = "GET / HTTP/1.1\r\nHost: node\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private final Logger log = (Logger) LoggerFactory.getLogger(ConnectionScreen.class);
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final List<LogRecord> traces = new CopyOnWriteArrayList<>();
    private final List<GrpcTransport> opened = new ArrayList<>();
    private final Ends one = new Ends();
    private final Ends two = new Ends();

    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            lines.add(event.getFormattedMessage());
        }
    };

    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord logged) {
            traces.add(logged);
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    @BeforeEach
    void listen() {
        appender.start();
        log.addAppender(appender);
        log.setLevel(Level.INFO);
        ConnectionScreen.FAILURES.addHandler(handler);
    }

    @AfterEach
    void close() {
        opened.forEach(GrpcTransport::close);
        log.detachAppender(appender);
        log.setLevel(null);
        ConnectionScreen.FAILURES.removeHandler(handler);
    }

    private ClusterMember open(TransportOptions options, Ends ends, int incarnation) {
        GrpcTransport transport = new GrpcTransport(options, ends);
        opened.add(transport);
        return transport.listen(identity(incarnation), HOST);
    }

    /** Says something, and waits until the connection has ended. Returns the origin's port. */
    private static int say(ClusterMember to, byte[] what) throws IOException {
        try (Socket stranger = new Socket(LOOPBACK, to.port())) {
            stranger.setSoTimeout(60_000);
            try {
                stranger.getOutputStream().write(what);
                while (stranger.getInputStream().read() >= 0) {
                    // The server's answer before the close.
                }
            } catch (SocketException e) {
                // Closed by a reset.
            }
            return stranger.getLocalPort();
        }
    }

    private void allAreASingleLine(ClusterMember to, boolean silent, byte[]... said) throws IOException {
        Random random = new Random(7);
        byte[] garbage = new byte[4096];
        random.nextBytes(garbage);
        List<Integer> ports = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            for (byte[] each : said) {
                ports.add(say(to, each));
            }
            ports.add(say(to, garbage));
        }
        opened.forEach(GrpcTransport::close); // and with it all pending log lines
        assertThat(traces).isEmpty();
        if (lines.isEmpty() && silent) {
            return;
        }
        assertThat(lines).singleElement().satisfies(line -> {
            assertThat(ports) // any of them: the end may be seen before the server reports it
                    .anyMatch(port -> line.startsWith("connection from /%s:%d ended: Http2Exc".formatted(HOST, port)));
            assertThat(line.length()).isLessThan(300);
            assertThat(line).doesNotContain("\n");
        });
    }

    @Test
    void otherProtocolsAreALineWithTheirAddress() throws IOException {
        allAreASingleLine(open(TransportOptions.of(LOOPBACK, 0), one, 1), false, HTTP, TLS_HELLO);
    }

    @Test
    void plainTextWhereTlsIsRequiredIsALineAtMost(@TempDir Path directory) throws IOException {
        TestCertificates authority = new TestCertificates(directory);
        TransportOptions tls =
                TransportOptions.of(LOOPBACK, 0).withTls(TestCertificates.tls(authority.issue("near", "ip:127.0.0.1")));
        allAreASingleLine(open(tls, one, 1), true, HTTP, TLS_HELLO); // about which gRPC is silent today
    }

    @Test
    void aLineCountsTheUnloggedStrangers() {
        ManualClock clock = new ManualClock();
        ConnectionScreen door = new ConnectionScreen(clock);
        for (int port = 1; port <= 3; port++) {
            door.log(new InetSocketAddress(LOOPBACK, port), "garbage");
        }
        clock.advance(Duration.ofSeconds(10));
        door.log(new InetSocketAddress(LOOPBACK, 4), "garbage");
        assertThat(lines).hasSize(2);
        assertThat(lines.getFirst()).endsWith(":1 ended: garbage");
        assertThat(lines.getLast()).contains(":4 ended: garbage (and 2 others");
    }

    @Test
    void theOldestOfTooManyStrangersGoesAndPeersConnect() throws Exception {
        TransportOptions patient = connectingWithin(Duration.ofMinutes(5)); // idle, without strangers
        open(patient, one, 1);
        ClusterMember there = open(patient, two, 2);
        List<Socket> strangers = new ArrayList<>();
        try {
            Socket oldest = new Socket(LOOPBACK, there.port());
            strangers.add(oldest);
            oldest.setSoTimeout(60_000);
            // The server speaks first and other threads let the others in.
            assertThat(oldest.getInputStream().read()).isNotNegative();
            for (int i = 0; i < ConnectionScreen.MOST_STRANGERS; i++) {
                strangers.add(new Socket(LOOPBACK, there.port()));
            }
            long full = System.nanoTime();
            try {
                while (oldest.getInputStream().read() >= 0) {
                    // The first bytes of the server.
                }
            } catch (SocketException e) {
                // Closed by a reset.
            }
            assertThat(Duration.ofNanos(System.nanoTime() - full))
                    .as("an answer of the stranger is not waited for, though HTTP/2 would for 10 s")
                    .isLessThan(Duration.ofSeconds(9));
            assertThat(lines)
                    .singleElement()
                    .satisfies(line ->
                            assertThat(line).contains(":%d ended".formatted(oldest.getLocalPort()), "512 younger"));
            opened.getFirst().dial(there);
            Ends.take(one.dialed);
            Ends.take(two.accepted);
        } finally {
            for (Socket each : strangers) {
                each.close();
            }
        }
    }

    @Test
    void streamsOpenWhenAConnectionEndsAreNoErrorsInTheLog() {
        ConnectionScreen.STREAMS.addHandler(handler);
        try {
            for (String message : List.of("Stream closed before write could take place", "another error")) {
                ConnectionScreen.STREAMS.log(
                        java.util.logging.Level.WARNING,
                        "Stream Error",
                        Http2Exception.streamError(3, Http2Error.CANCEL, message));
            }
        } finally {
            ConnectionScreen.STREAMS.removeHandler(handler);
        }
        assertThat(traces)
                .singleElement()
                .satisfies(each -> assertThat(each.getThrown()).hasMessage("another error"));
    }
}
