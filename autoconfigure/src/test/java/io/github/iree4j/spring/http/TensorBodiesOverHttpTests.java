package io.github.iree4j.spring.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.NpyFormat;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.reactive.ReactiveInvocationService;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.MediaType;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Tensors as controller bodies over real HTTP, and failures as problem details. */
@SpringBootTest(
        classes = TensorBodiesOverHttpTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "iree.http.max-request-size=2KB",
            "spring.mvc.problemdetails.enabled=true",
            "spring.webflux.problemdetails.enabled=true"
        })
@Timeout(900)
class TensorBodiesOverHttpTests {

    private static final byte[] FOUR = Tensor.of(new float[] {1, 2, 3, 4}).rawBytes();
    private static final byte[] DOUBLED = Tensor.of(new float[] {2, 4, 6, 8}).rawBytes();

    @LocalServerPort
    private int port;

    @Autowired
    private IreeRuntime runtime;

    private final HttpClient http = HttpClient.newHttpClient();

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        registry.add(
                "iree.modules.add.location",
                () -> TestModules.fixture("3.11.0/cpu/add.vmfb").toString());
    }

    @AfterEach
    void writtenTensorsAreClosed() {
        while (runtime.monitor().leaks().openTensors()
                != 0) { // the client may receive its response before the server's clean-up
            Poll.pause();
        }
    }

    private HttpResponse<byte[]> post(String type, String accept, byte[] body) throws Exception {
        return http.send(
                HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/double"))
                        .header("Content-Type", type)
                        .header("Accept", accept)
                        .POST(BodyPublishers.ofByteArray(body))
                        .build(),
                BodyHandlers.ofByteArray());
    }

    private static byte[] npy(Tensor tensor) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        NpyFormat.write(out, tensor);
        return out.toByteArray();
    }

    private static MediaType typeOf(HttpResponse<byte[]> response) {
        return MediaType.valueOf(response.headers().firstValue("Content-Type").orElseThrow());
    }

    private static JsonNode problem(HttpResponse<byte[]> response, int status) {
        assertThat(response.statusCode())
                .as(new String(response.body(), StandardCharsets.UTF_8))
                .isEqualTo(status);
        assertThat(typeOf(response)).isEqualTo(MediaType.APPLICATION_PROBLEM_JSON);
        JsonNode problem = JsonMapper.shared().readTree(response.body());
        assertThat(problem.required("status").intValue()).isEqualTo(status);
        return problem;
    }

    @Test
    void asNpy() throws Exception {
        HttpResponse<byte[]> response =
                post("application/x-npy", "application/x-npy", npy(Tensor.of(new float[] {1, 2, 3, 4})));
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(typeOf(response)).isEqualTo(TensorMediaTypes.NPY);
        assertThat(NpyFormat.read(new ByteArrayInputStream(response.body()))).hasToString("4xf32=2 4 6 8");
    }

    @Test
    void asBytesDescribedByTheContentType() throws Exception {
        HttpResponse<byte[]> response =
                post("application/octet-stream;type=f32;shape=\"4\"", "application/octet-stream", FOUR);
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(typeOf(response).getParameter("type")).isEqualTo(ElementType.F32.toString());
        assertThat(typeOf(response).getParameter("shape")).isEqualTo("\"4\"");
        assertThat(response.headers().firstValueAsLong("Content-Length")).hasValue(16);
        assertThat(response.body()).isEqualTo(DOUBLED);
    }

    @Test
    void tooLongBodyOfJsonIsTooLarge() throws Exception {
        String tensor = "{\"shape\": [4], \"type\": \"f32\", \"data\": [1, 2, 3, 4]}";
        byte[] body = (" ".repeat(2048) + tensor).getBytes(StandardCharsets.UTF_8);
        assertThat(problem(post("application/json", "application/json", body), 413)
                        .required("detail")
                        .stringValue())
                .contains("2048 bytes", "iree.http.max-request-size");
    }

    @Test
    void asJson() throws Exception {
        HttpResponse<byte[]> response = post(
                "application/json",
                "application/json",
                "{\"shape\": [4], \"type\": \"f32\", \"data\": [1, 2.5, 3, 4]}".getBytes(StandardCharsets.UTF_8));
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(new String(response.body(), StandardCharsets.UTF_8))
                .isEqualTo("{\"shape\":[4],\"type\":\"f32\",\"data\":[2.0,5.0,6.0,8.0]}");
    }

    @Test
    void convertsBetweenFormats() throws Exception {
        HttpResponse<byte[]> response = post(
                "application/json",
                "application/octet-stream",
                "{\"shape\": [4], \"type\": \"f32\", \"data\": [1, 2, 3, 4]}".getBytes(StandardCharsets.UTF_8));
        assertThat(response.body()).isEqualTo(DOUBLED);
    }

    @Test
    void failuresOfCallsAreProblemDetails() throws Exception {
        JsonNode problem = problem(
                post("application/x-npy", "application/x-npy, application/problem+json", npy(Tensor.of(new float[] {1, 2
                }))),
                400);
        assertThat(problem.required("title").stringValue()).isEqualTo("Call failed");
        assertThat(problem.required("code").stringValue()).isEqualTo("INVALID_ARGUMENT");
        assertThat(problem.required("detail").stringValue())
                .contains("tensor<4xf32>")
                .contains("2xf32");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "application/octet-stream;type=f32 | 1234 | 'shape' is missing",
                "application/octet-stream;type=f32;shape=4 | 1234 | the body of 4 bytes does not match its header: a tensor of 16 bytes",
                "application/octet-stream;type=f32;shape=1 | 12345678 | longer than the 4 bytes",
                "application/octet-stream;type=q3;shape=1 | 1234 | q3",
                "application/octet-stream;type=f32;shape=1000000000 | 1234 | a tensor of 4000000000 bytes is larger than 4",
                "application/x-npy | 1234 | ",
            })
    void invalidTensorIsAProblemDetail(String type, String body, String detail) throws Exception {
        JsonNode problem = problem(
                post(type, "application/x-npy, application/problem+json", body.getBytes(StandardCharsets.US_ASCII)),
                400);
        assertThat(problem.has("code")).isTrue();
        if (detail != null) {
            assertThat(problem.required("detail").stringValue()).contains(detail);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"shape\": [2], \"data\": [1, \"two\"]} | element 1 is not a number",
                "{\"shape\": [3], \"data\": [1, 2]} | not a tensor",
                "{\"shape\": [2], \"data\": [1, 2], \"of\": 3} | a tensor has no 'of'",
                "{\"shape\": [2], \"type\": \"q3\", \"data\": [1, 2]} | 'type': ",
                "[1, 2 | a tensor is {\"shape\": [2], \"type\": \"f32\", \"data\": [1, 2]}",
                "{\"shape\": | not a tensor in JSON: no JSON (line 1, column ",
                "{\"shape\": %s | not a tensor in JSON",
            })
    void theReasonsOfInvalidJsonAreInTheProblemDetail(String body, String detail) throws Exception {
        String sent = body.replace("%s", "[".repeat(1500)); // nested too deeply
        JsonNode problem =
                problem(post("application/json", "application/json", sent.getBytes(StandardCharsets.US_ASCII)), 400);
        assertThat(problem.required("detail").stringValue())
                .contains(detail)
                .doesNotContain("jackson", "iree4j", "StreamRead");
    }

    @Test
    void tooLargeTensorIsAProblemDetail() throws Exception {
        JsonNode problem = problem(
                post(
                        "application/octet-stream;type=f32;shape=600",
                        "application/x-npy, application/problem+json",
                        new byte[2400]),
                413);
        assertThat(problem.required("detail").stringValue())
                .contains("is larger than 2048 bytes")
                .contains("'iree.http.max-request-size'");
        // Tomcat reads 2 MiB of a rejected body; beyond that length the connection is closed, and a client may miss the
        // response
        JsonNode unread = problem(
                post(
                        "application/octet-stream;type=f32;shape=300000",
                        "application/x-npy, application/problem+json",
                        new byte[1_200_000]),
                413);
        assertThat(unread.required("detail").stringValue()).contains("'iree.http.max-request-size'");
    }

    @Test
    void rawBytesWithoutParametersAreUnsupported() throws Exception {
        problem(post("application/octet-stream", "application/x-npy, application/problem+json", FOUR), 415);
    }

    @Test
    void clientsGuessingNamesLearnNone() throws Exception {
        for (String name : new String[] {"guess", "guess.add"}) {
            HttpResponse<byte[]> response = http.send(
                    HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/call/" + name))
                            .POST(BodyPublishers.noBody())
                            .build(),
                    BodyHandlers.ofByteArray());
            assertThat(problem(response, 404).required("detail").stringValue())
                    .contains("'" + name + "'")
                    .doesNotContain("add]");
        }
    }

    @RestController
    static class Doubling {
        private final ReactiveInvocationService invocations;

        Doubling(ReactiveInvocationService invocations) {
            this.invocations = invocations;
        }

        @PostMapping("/double")
        Mono<Tensor> twice(@RequestBody Tensor input) {
            return invocations.invoke("add.add", Doubling::first, input, input);
        }

        @PostMapping("/call/{name}")
        Mono<Tensor> call(@PathVariable String name) {
            return invocations.invoke(name, Doubling::first);
        }

        private static Tensor first(Results results) {
            return results.take(0);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Doubling.class)
    static class Application {}
}
