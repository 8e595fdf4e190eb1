package io.github.iree4j.spring.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.web.server.LocalManagementPort;
import org.springframework.context.annotation.Configuration;

/** Bodies beyond Actuator, on a separate port. */
@SpringBootTest(
        classes = ManagementPortTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = "management.server.port=0")
@ExtendWith(OutputCaptureExtension.class)
@Timeout(300)
class ManagementPortTests {

    @LocalManagementPort
    private int port;

    private HttpResponse<String> post(String path, String type) throws Exception {
        try (HttpClient http = HttpClient.newHttpClient()) {
            return http.send(
                    HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
                            .header("Content-Type", type)
                            .POST(BodyPublishers.ofString("--x--"))
                            .build(),
                    BodyHandlers.ofString());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/actuator", "/actuator/health", "/nothing"})
    void multipartBodiesAreRefusedWithoutAnError(String path, CapturedOutput output) throws Exception {
        HttpResponse<String> response = post(path, "multipart/form-data; boundary=x");
        assertThat(response.statusCode()).as(response.body()).isBetween(400, 499);
        assertThat(output.getAll()).doesNotContain("ERROR", "multi-part");
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
