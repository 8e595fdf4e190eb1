package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.http.RequestCounts.Reason;
import io.netty.channel.ChannelOption;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/**
 * Clients that never stand still, but read more slowly than a body may arrive, are disconnected, and leave their memory
 * to others: an unread answer leaves too little for another request.
 */
@SpringBootTest(
        classes = {
            ProtocolConformanceTests.Application.class,
            SlowReadersTests.Tensors.class,
            SteadyReadersTests.SmallBuffers.class
        },
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "iree.serving.enabled=true",
            "iree.http.max-in-flight-size=12MB",
            "iree.http.body-timeout=3s",
            "spring.mvc.problemdetails.enabled=true",
            "server.tomcat.connection-timeout=10m",
        })
@ExtendWith(OutputCaptureExtension.class)
@Timeout(600)
class SteadyReadersTests {

    private static final int BYTES = 4 << 20;

    @LocalServerPort
    private int port;

    @Autowired
    private BodyLimits limits;

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        registry.add(
                "iree.modules.values.location",
                () -> TestModules.fixture("3.11.0/cpu/add.vmfb").toString());
    }

    /** The system takes little of an answer. */
    @Configuration(proxyBeanMethods = false)
    static class SmallBuffers {
        private static final int BUFFER = 1 << 14;

        @Bean
        WebServerFactoryCustomizer<TomcatServletWebServerFactory> smallBuffersOfTomcat() {
            return factory -> factory.addConnectorCustomizers(
                    connector -> connector.setProperty("socket.txBufSize", Integer.toString(BUFFER)));
        }

        @Bean
        WebServerFactoryCustomizer<NettyReactiveWebServerFactory> smallBuffersOfNetty() {
            return factory ->
                    factory.addServerCustomizers(server -> server.childOption(ChannelOption.SO_SNDBUF, BUFFER));
        }
    }

    enum Kind {
        BINARY,
        JSON,
        TENSOR,
        JSON_TENSOR
    }

    private SlowReader ask(Kind kind) throws IOException {
        SlowReader reader = switch (kind) {
            case BINARY, JSON -> SlowReader.ask(port, BYTES, kind == Kind.BINARY);
            case TENSOR -> SlowReader.get(port, "/tensor?bytes=" + BYTES, "application/octet-stream");
            case JSON_TENSOR -> SlowReader.get(port, "/tensor?bytes=" + BYTES, "application/json");
        };
        assertThat(reader.line()).contains(" 200");
        return reader;
    }

    /**
     * Reads so many bytes every tenth of a second at most: a real server measures a real client, so time has to pass.
     * Ends when the server closes the connection.
     */
    private static String read(SlowReader reader, int bytes) throws IOException, InterruptedException {
        InputStream in = reader.socket().getInputStream();
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        try {
            byte[] read;
            do {
                Thread.sleep(100);
                read = in.readNBytes(bytes);
                all.write(read);
            } while (read.length == bytes);
        } catch (IOException e) {
            assertThat(e).hasMessageContaining("reset");
        }
        return all.toString(StandardCharsets.ISO_8859_1);
    }

    @ParameterizedTest
    @EnumSource
    void slowClientsAreDisconnectedAndOthersAreAnswered(Kind kind, CapturedOutput output) throws Exception {
        int before = output.getAll().length();
        try (SlowReader slow = ask(kind)) {
            String part = read(slow, 2000);
            assertThat(part).hasSizeLessThan(BYTES / 2);
            assertThat(part.endsWith("\r\n0\r\n\r\n")).as("seems complete").isFalse();
        }
        while (limits.inFlight() > 0) {
            Poll.pause(); // the class's timeout fails what stays
        }
        try (SlowReader other = ask(Kind.BINARY)) {
            assertThat(other.rest()).hasSizeGreaterThan(BYTES);
        }
        assertThat(output.getAll().substring(before).lines())
                .as("clients decide how often")
                .noneMatch(line -> line.contains(" ERROR ") || line.contains(" WARN ") || line.startsWith("\tat "));
    }

    /** Within the timeout, less than a part of the answer is read; each byte read would begin a timeout of the container. */
    @ParameterizedTest
    @EnumSource(names = {"BINARY", "JSON"})
    void clientsReadingSomeBytesNowAndThenAreDisconnected(Kind kind) throws Exception {
        try (SlowReader slow = ask(kind)) {
            long begun = System.nanoTime();
            Thread reader = Thread.ofVirtual().start(() -> {
                try {
                    read(slow, 50);
                } catch (IOException | InterruptedException | AssertionError e) {
                    // The test has ended.
                }
            });
            while (limits.inFlight() > 0) {
                assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(20));
                Poll.pause();
            }
            reader.interrupt();
        }
    }

    /** Answers of several parts, and of a single part too large for the system at once. */
    @ParameterizedTest
    @ValueSource(ints = {BYTES, 60_000})
    void aTooSlowReaderIsCounted(int bytes) throws IOException {
        long before = limits.counts().refused(Reason.UNREAD);
        try (SlowReader still = SlowReader.ask(port, bytes, true)) {
            assertThat(still.line()).contains(" 200");
            while (limits.inFlight() > 0) {
                Poll.pause(); // the class's timeout fails what stays
            }
        }
        assertThat(limits.counts().refused(Reason.UNREAD)).isEqualTo(before + 1);
    }

    @ParameterizedTest
    @EnumSource
    void clientsReadingAtAFairRateGetAll(Kind kind) throws Exception {
        try (SlowReader fair = ask(kind)) {
            assertThat(read(fair, 100_000)).hasSizeGreaterThanOrEqualTo(BYTES); // takes longer than the timeout
        }
    }

    private boolean isAnswered() throws IOException {
        try (SlowReader other = SlowReader.ask(port, BYTES, true)) {
            if (other.line().contains(" 503")) {
                return false;
            }
            assertThat(other.line()).contains(" 200");
            assertThat(other.rest()).hasSizeGreaterThan(BYTES);
            return true;
        } catch (SocketException e) { // refused before all is sent
            return false;
        }
    }

    /** A reader at a fair rate may take a long time, 40 s here, but not while others are refused for the memory. */
    @ParameterizedTest
    @EnumSource
    void slowlyReadingClientsGiveWayToOthers(Kind kind) throws Exception {
        try (SlowReader fair = ask(kind)) {
            CompletableFuture<String> part = CompletableFuture.supplyAsync(() -> {
                try {
                    return read(fair, 10_000);
                } catch (IOException | InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            long begun = System.nanoTime();
            while (!isAnswered()) {
                Poll.pause(); // a client with immediate retries
            }
            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(20));
            assertThat(part.get()).hasSizeLessThan(BYTES);
        }
    }

    /** The second is over the bound: the answer about the end must not have the length of the tensor. */
    @Test
    void anAnswerHasItsAnnouncedLength() throws IOException {
        try (SlowReader _ = ask(Kind.BINARY);
                SlowReader second =
                        SlowReader.get(port, "/tensor-at-once?bytes=" + BYTES, "application/octet-stream")) {
            String rest = second.rest();
            int end = rest.indexOf("\r\n\r\n");
            int body = rest.length() - end - 4;
            Matcher length = Pattern.compile("(?i)Content-Length: (\\d+)").matcher(rest.substring(0, end));
            assertThat(length.find() ? Integer.parseInt(length.group(1)) : body)
                    .as("%s, then %s", second.line(), rest.substring(0, end))
                    .isEqualTo(body);
        }
    }
}
