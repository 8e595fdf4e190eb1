package io.github.iree4j.spring.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Tensor;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** Answers where the application has problem details for iree4j only, and not for Spring's own failures. */
@SpringBootTest(
        classes = ProblemDetailsOverHttpTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {"iree.http.max-request-size=2KB", "iree.http.problem-details=true"})
@Timeout(120)
class ProblemDetailsOverHttpTests {

    @LocalServerPort
    private int port;

    private final HttpClient http = HttpClient.newHttpClient();

    private String post(String path, String body, int status, String type) throws Exception {
        HttpResponse<String> response = http.send(
                HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString(body))
                        .build(),
                BodyHandlers.ofString());
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        assertThat(response.headers().firstValue("Content-Type")).contains(type);
        return response.body();
    }

    @Test
    void refusalOfATensorHasTheReason() throws Exception {
        assertThat(post("/tensor", "{\"shape\": [2], \"data\": [1, \"two\"]}", 400, "application/problem+json"))
                .contains("element 1 is not a number");
        assertThat(post("/tensor", " ".repeat(3000) + "{}", 413, "application/problem+json"))
                .contains("iree.http.max-request-size");
    }

    @Test
    void failuresOfTheApplicationKeepTheirForm() throws Exception {
        assertThat(post("/own", "", 400, "application/json")).doesNotContain("the application's reason");
    }

    @RestController
    static class Tensors {
        @PostMapping("/tensor")
        int rank(@RequestBody Tensor input) {
            return input.shape().rank();
        }

        @PostMapping("/own")
        void own() {
            throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "the application's reason");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Tensors.class)
    static class Application {}
}
