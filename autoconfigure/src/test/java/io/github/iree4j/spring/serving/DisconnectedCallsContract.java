package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import java.io.IOException;
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
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.context.TestPropertySource;

/** Endless calls with vanishing clients, or with clients that ask for more time than the operator grants. */
@TestPropertySource(
        properties = {"iree.serving.enabled=true", "iree.invocation.timeout=0", "iree.modules.limited.timeout=100ms"})
@Timeout(300)
abstract class DisconnectedCallsContract {

    private static final long PATIENCE = Duration.ofSeconds(20).toNanos();

    @TempDir
    static Path directory;

    @LocalServerPort
    int port;

    @Autowired
    private Programs programs;

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        registry.add("iree.modules.spinning.location", () -> spinner().toString());
        registry.add("iree.modules.limited.location", () -> spinner().toString());
    }

    private static Path spinner() {
        try {
            return TestModules.spinner(directory);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    Socket send(String path, String headers, String body) throws IOException {
        Socket socket = new Socket("localhost", port);
        socket.getOutputStream()
                .write("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n%s\r\n\r\n%s"
                        .formatted(path, headers, body)
                        .getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    void awaitCalls(int count) {
        long start = System.nanoTime();
        while (programs.activeCalls() != count) {
            assertThat(System.nanoTime() - start)
                    .as("time until there are %d calls", count)
                    .isLessThan(PATIENCE);
            Poll.pause();
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
    void aResetConnectionEndsItsCall() throws IOException {
        try (Socket socket = send("/v2/models/spinning/infer", "Content-Length: 14", "{\"inputs\": []}")) {
            awaitCalls(1);
            socket.setSoLinger(true, 0);
        }
        awaitCalls(0);
    }

    @Test
    void aTimeoutOfARequestDoesNotLengthenTheLimitOfTheOperator() throws IOException {
        String body = "{\"inputs\": [], \"parameters\": {\"timeout\": 9000000000000000}}";
        try (Socket socket =
                send("/v2/models/limited/infer", "Connection: close\r\nContent-Length: " + body.length(), body)) {
            assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
                    .startsWith("HTTP/1.1 504");
        }
        awaitCalls(0);
    }
}
