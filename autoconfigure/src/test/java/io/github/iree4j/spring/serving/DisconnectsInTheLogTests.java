package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Tensor;
import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.http.BodyLimits;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** Clients decide the number of their departures, and so not the number of log lines. */
@SpringBootTest(
        classes = DisconnectsInTheLogTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {"iree.serving.enabled=true", "iree.serving.repository=true", "server.tomcat.threads.max=4"})
@ExtendWith(OutputCaptureExtension.class)
@Timeout(300)
class DisconnectsInTheLogTests {

    private static final int CLIENTS = 20;
    private static final long PATIENCE = Duration.ofSeconds(60).toNanos();

    @LocalServerPort
    private int port;

    @Autowired
    private BodyLimits limits;

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        registry.add(
                "iree.modules.add.location",
                () -> TestModules.fixture("3.11.0/cpu/add.vmfb").toString());
    }

    private void send(String request, boolean reset) throws IOException {
        try (Socket socket = new Socket("localhost", port)) {
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            socket.setSoLinger(reset, 0);
        }
    }

    private static String post(String path, String headers, String body) {
        return "POST /%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n%s\r\n\r\n%s"
                .formatted(path, headers.replace(" and ", "\r\n"), body);
    }

    /** As many as there are threads, behind the abandoned threads. */
    private void awaitIdle() throws IOException {
        long start = System.nanoTime();
        while (limits.awaited() != 0 || limits.inFlight() != 0) {
            assertThat(System.nanoTime() - start).isLessThan(PATIENCE);
            Poll.pause();
        }
        for (int i = 0; i < CLIENTS; i++) {
            try (Socket socket = new Socket("localhost", port)) {
                socket.getOutputStream()
                        .write("GET /v2/health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                                .getBytes(StandardCharsets.US_ASCII));
                assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
                        .startsWith("HTTP/1.1 200");
            }
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "v2/models/add/infer    | Content-Length: 1000                                             | {\"inputs\": [",
                "v2/models/add/infer    | Content-Length: 1000 and Inference-Header-Content-Length: 20     | {\"inputs\": [",
                "v2/models/add/infer    | Transfer-Encoding: chunked                                       | ff~{\"inputs\": [",
                "v2/models/add/infer    | Transfer-Encoding: chunked                                       | 2~{\"~zz~in~",
                "v2/models/add/generate | Content-Length: 1000                                             | {\"text_input\": ",
                "v2/repository/index    | Content-Length: 1000                                             | {\"ready\": ",
                "v2/models/add/infer    | Content-Length: 13                                               | {\"inputs\": 1}",
                "v2/models/none/infer   | Content-Length: 1000                                             | {\"inputs\": [",
                "own                    | Content-Length: 1000                                             | {\"shape\": [",
                "plain                  | Content-Length: 1000                                             | {\"shape\": [",
            })
    void aVanishingClientIsALineAtMost(String path, String headers, String body, CapturedOutput output)
            throws IOException {
        int before = output.getAll().length();
        for (int i = 0; i < CLIENTS; i++) {
            send(post(path, headers, body.replace("~", "\r\n")), i % 2 == 0);
        }
        awaitIdle();
        String logged = output.getAll().substring(before);
        assertThat(logged.lines().filter(line -> line.startsWith("\tat ")))
                .as("stacks")
                .isEmpty();
        assertThat(logged.lines().filter(line -> line.contains(" ERROR ")))
                .as("errors")
                .isEmpty();
        assertThat(logged.lines().count()).isLessThanOrEqualTo(CLIENTS);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {
        @Bean
        Own own() {
            return new Own();
        }
    }

    @RestController
    static class Own {
        @PostMapping("/plain")
        int size(@RequestBody Map<String, Object> body) {
            return body.size();
        }

        @PostMapping("/own")
        String rank(@RequestBody Tensor tensor) {
            return tensor.shape().toString();
        }
    }
}
