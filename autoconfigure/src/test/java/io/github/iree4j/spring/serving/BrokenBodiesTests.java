package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.TestModules;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** Bodies unreadable for the container, and duplicate members. */
@SpringBootTest(
        classes = BrokenBodiesTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "iree.serving.enabled=true",
            "iree.serving.repository=true",
            "server.servlet.context-path=/app",
            "spring.webflux.base-path=/app",
        })
@Timeout(300)
class BrokenBodiesTests {

    @LocalServerPort
    private int port;

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        registry.add(
                "iree.modules.add.location",
                () -> TestModules.fixture("3.11.0/cpu/add.vmfb").toString());
    }

    private String answer(String request, boolean halfClosed) throws IOException {
        try (Socket socket = new Socket("localhost", port)) {
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            if (halfClosed) {
                socket.shutdownOutput();
            }
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        }
    }

    private static String post(String path, String headers, String body) {
        return "POST /app/v2/%s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n%s\r\n\r\n%s"
                .formatted(path, headers, body);
    }

    boolean halfClosedConnectionsAreAnswered() {
        return true;
    }

    @ParameterizedTest
    @ValueSource(strings = {"models/add/infer", "models/add/generate", "repository/index"})
    void malformedChunkIsAnErrorOfTheProtocol(String path) throws IOException {
        String answer = answer(post(path, "Transfer-Encoding: chunked", "3\r\n{\"i\r\nzz\r\nnputs\r\n"), false);
        assertThat(answer)
                .startsWith("HTTP/1.1 400")
                .doesNotContain("\"timestamp\"")
                .contains("{\"error\":\"the body cannot be read: ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"models/add/infer", "models/add/generate", "repository/index"})
    void halfClosedBodyIsAnErrorOfTheProtocol(String path) throws IOException {
        String answer = answer(post(path, "Content-Length: 100", "{\"inputs\": ["), true);
        if (halfClosedConnectionsAreAnswered()) {
            assertThat(answer)
                    .startsWith("HTTP/1.1 400")
                    .contains("{\"error\":\"the body cannot be read: ")
                    .doesNotContain("\"timestamp\"");
        } else {
            assertThat(answer).isEmpty();
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "name     | \"name\": \"input1\"",
                "shape    | \"shape\": [2]",
                "datatype | \"datatype\": \"FP64\"",
                "data     | \"data\": [1, 2, 3, 4]",
            })
    void duplicateMemberIsRefused(String name, String again) throws IOException {
        for (boolean after : new boolean[] {false, true}) {
            String data = "\"data\": [1, 2, 3, 4]";
            String body = "{\"inputs\": [{\"name\": \"input0\", \"shape\": [4], \"datatype\": \"FP32\", %s}]}"
                    .formatted(after ? data + ", " + again : again + ", " + data);
            assertThat(answer(post("models/add/infer", "Content-Length: " + body.length(), body), false))
                    .startsWith("HTTP/1.1 400")
                    .contains("an input has duplicate '%s'".formatted(name));
        }
    }

    @Test
    void errorsOfOtherPathsAreTheApplications() throws IOException {
        assertThat(answer("GET /app/v2x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", false))
                .startsWith("HTTP/1.1 404")
                .contains("\"timestamp\"");
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
