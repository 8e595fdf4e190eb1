package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** Calls that do not end by themselves, and whose clients go. */
@SpringBootTest(
        classes = DisconnectedCallsTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {"iree.serving.enabled=true", "iree.invocation.timeout=0"})
@Timeout(300)
class DisconnectedCallsTests {

    private static final long PATIENCE = Duration.ofSeconds(20).toNanos();

    @TempDir
    static Path directory;

    @LocalServerPort
    private int port;

    @Autowired
    private Programs programs;

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        registry.add("iree.modules.spinning.location", () -> spinner().toString());
    }

    private static Path spinner() {
        try {
            return TestModules.spinner(directory);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private Socket send(String path, String headers, String body) throws IOException {
        Socket socket = new Socket("localhost", port);
        socket.getOutputStream()
                .write("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n%s\r\n\r\n%s"
                        .formatted(path, headers, body)
                        .getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    private void awaitCalls(int count) {
        long start = System.nanoTime();
        while (programs.activeCalls() != count) {
            assertThat(System.nanoTime() - start)
                    .as("time until there are %d calls", count)
                    .isLessThan(PATIENCE);
            Thread.onSpinWait();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aCallOfTheProtocolEndsWithTheConnectionOfItsClient(boolean chunked) throws IOException {
        String body = "{\"inputs\": []}";
        try (Socket _ = chunked
                ? send("/v2/models/spinning/infer", "Transfer-Encoding: chunked", "e\r\n" + body + "\r\n0\r\n\r\n")
                : send("/v2/models/spinning/infer", "Content-Length: 14", body)) {
            awaitCalls(1);
        }
        awaitCalls(0);
    }

    @Test
    void aConnectionThatIsResetEndsItsCall() throws IOException {
        try (Socket socket = send("/v2/models/spinning/infer", "Content-Length: 14", "{\"inputs\": []}")) {
            awaitCalls(1);
            socket.setSoLinger(true, 0);
        }
        awaitCalls(0);
    }

    @Test
    void aCallOfTheApplicationsOwnControllerEndsWithTheConnectionOfItsClient() throws IOException {
        try (Socket _ = send("/own", "Content-Length: 0", "")) {
            awaitCalls(1);
        }
        awaitCalls(0);
    }

    /** The first call runs while looks find the second request. */
    @Test
    void aClientThatSendsItsNextRequestEarlyIsStillThere() throws IOException {
        String body = "{\"inputs\": [], \"parameters\": {\"timeout\": 2500000}}";
        try (Socket socket = send("/v2/models/spinning/infer", "Content-Length: " + body.length(), body)) {
            awaitCalls(1);
            socket.getOutputStream()
                    .write("GET /v2/health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));
            assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
                    .startsWith("HTTP/1.1 504")
                    .contains("HTTP/1.1 200")
                    .contains("\"live\":true");
        }
        awaitCalls(0);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {
        @Bean
        Own own(InvocationService invocations) {
            return new Own(invocations);
        }
    }

    @RestController
    static class Own {
        private final InvocationService invocations;

        Own(InvocationService invocations) {
            this.invocations = invocations;
        }

        @PostMapping("/own")
        void call(InputStream body) throws IOException {
            body.readAllBytes();
            invocations.invoke("spinning.spin").close();
        }
    }
}
