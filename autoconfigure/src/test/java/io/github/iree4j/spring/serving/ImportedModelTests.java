package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.Results;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.spring.InvocationOperations;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.status.IreeException;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Models imported from ONNX and PyTorch, without types in their modules: served, and batched, with types recovered from
 * their code, and with given types.
 */
@SpringBootTest(
        classes = ImportedModelTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "iree.serving.enabled=true",
            "iree.modules.imported.batching.enabled=true",
            "iree.modules.imported.batching.max-size=2",
            "iree.modules.imported.batching.max-delay=5m",
            "iree.modules.imported.warm-up[0].function=classifier",
            "iree.modules.imported.warm-up[0].inputs=2x8xf32,2xi64",
            "iree.modules.unused.functions.main.signature=(%image, %offset, %hint: tensor<?xf32>) -> (%probabilities, %label)",
            "iree.modules.unused.batching.enabled=true",
        })
@Timeout(600)
class ImportedModelTests {
    @LocalServerPort
    private int port;

    @Autowired
    private InvocationOperations invocations;

    @Autowired
    private MeterRegistry meters;

    private final HttpClient http = HttpClient.newHttpClient();

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        registry.add("iree.modules.imported.location", () -> fixture("onnx_classifier"));
        registry.add("iree.modules.unused.location", () -> fixture("torch_classifier"));
    }

    private static String fixture(String name) {
        return TestModules.fixture("3.13.0/vmvx/" + name + ".vmfb").toString();
    }

    private URI model(String name) {
        return URI.create("http://localhost:" + port + "/v2/models/" + name);
    }

    private String metadata(String name) throws Exception {
        return http.send(HttpRequest.newBuilder(model(name)).build(), BodyHandlers.ofString())
                .body();
    }

    @Test
    void metadataHasTheTypesOfTheProtocol() throws Exception {
        assertThat(metadata("imported"))
                .contains(
                        "\"inputs\":[{\"name\":\"input0\",\"datatype\":\"FP32\",\"shape\":[-1,8]},{\"name\":\"input1\",\"datatype\":\"INT64\",\"shape\":[-1]}]")
                .contains(
                        "\"outputs\":[{\"name\":\"output0\",\"datatype\":\"FP32\",\"shape\":[-1,4]},{\"name\":\"output1\",\"datatype\":\"INT64\",\"shape\":[-1]}]");
    }

    @Test
    void givenNamesAndTypesAreAdded() throws Exception {
        assertThat(metadata("unused"))
                .contains(
                        "\"inputs\":[{\"name\":\"image\",\"datatype\":\"FP32\",\"shape\":[-1,8]},{\"name\":\"offset\",\"datatype\":\"INT64\",\"shape\":[-1]},{\"name\":\"hint\",\"datatype\":\"FP32\",\"shape\":[-1]}]")
                .contains(
                        "\"outputs\":[{\"name\":\"probabilities\",\"datatype\":\"FP32\",\"shape\":[-1,4]},{\"name\":\"label\",\"datatype\":\"INT64\",\"shape\":[-1]}]");
    }

    @Test
    void requestsOfTwoClientsAreASingleCall() throws Exception {
        List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            String body = """
                    {"inputs": [{"name": "input0", "shape": [1, 8], "datatype": "FP32", "data": [%d, 0, 0, 0, 0, 0, 0, 0]},
                                {"name": "input1", "shape": [1], "datatype": "INT64", "data": [%d]}]}""".formatted(i == 0 ? 1 : -1, 100 * i);
            answers.add(http.sendAsync(
                    HttpRequest.newBuilder(model("imported/infer"))
                            .header("Content-Type", "application/json")
                            .POST(BodyPublishers.ofString(body))
                            .build(),
                    BodyHandlers.ofString()));
        }
        for (int i = 0; i < 2; i++) {
            HttpResponse<String> answer = answers.get(i).get(60, TimeUnit.SECONDS);
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
            JsonNode label = JsonMapper.shared()
                    .readTree(answer.body())
                    .required("outputs")
                    .get(1);
            // The first row of the weights is 1.25, 0.5, 0, -1.
            assertThat(label.required("data").get(0).intValue()).isEqualTo(i == 0 ? 0 : 103);
        }
        assertThat(Objects.requireNonNull(meters.find("iree.batch.size")
                                .tag("module", "imported")
                                .summary())
                        .max())
                .isEqualTo(2);
    }

    @Test
    void arraysBecomeTensorsAndErrorsNameTheArgument() {
        try (Results results = invocations.invoke("imported.classifier", new float[16], new int[] {5, 6})) {
            assertThat(results.tensor(0).shape()).isEqualTo(Shape.of(2, 4));
            assertThat(results.tensor(1).toLongArray()).containsExactly(5, 6);
        }
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> invocations.invoke("imported.classifier", new float[2][7], new long[2]))
                .withMessageContaining("'input0'")
                .withMessageContaining("tensor<?x8xf32>")
                .withMessageContaining("2x7xf32");
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {
        @Bean
        MeterRegistry meters() {
            return new SimpleMeterRegistry();
        }
    }
}
