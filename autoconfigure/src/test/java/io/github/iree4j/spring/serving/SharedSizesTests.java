package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.TestModules;
import io.grpc.Status;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
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
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** No client reads memory of other clients with inputs of mismatched sizes. */
@SpringBootTest(
        classes = SharedSizesTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "spring.grpc.server.enabled=true",
            "spring.grpc.server.port=0",
            "iree.serving.enabled=true",
            "iree.modules.product-declared.variants.matmul.shapes=[rows inner], [inner columns] -> [rows columns]",
            "iree.modules.sum-declared.variants.add.shapes=[length], [length] -> [length]",
        })
@Timeout(300)
class SharedSizesTests {

    @LocalServerPort
    private int port;

    @Autowired
    private GrpcServerLifecycle grpc;

    private final HttpClient http = HttpClient.newHttpClient();

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        registry.add("iree.modules.sum.location", () -> fixture("dynamic_add"));
        registry.add("iree.modules.sum-declared.location", () -> fixture("dynamic_add"));
        registry.add("iree.modules.product.location", () -> fixture("dynamic_matmul"));
        registry.add("iree.modules.product-declared.location", () -> fixture("dynamic_matmul"));
        registry.add("iree.modules.imported.location", () -> fixture("onnx_classifier"));
        registry.add("iree.modules.unused.location", () -> fixture("torch_classifier"));
    }

    private static String fixture(String name) {
        return TestModules.fixture("3.13.0/cpu/" + name + ".vmfb").toString();
    }

    private HttpResponse<String> infer(String model, List<List<Long>> shapes) throws Exception {
        String inputs = IntStream.range(0, shapes.size())
                .mapToObj(i ->
                        """
                        {"name": "input%d", "datatype": "%s", "shape": %s, "data": %s}""".formatted(i, type(model, i), shapes.get(i), Arrays.toString(new int[count(shapes.get(i))])))
                .collect(Collectors.joining(", "));
        return http.send(
                HttpRequest.newBuilder(URI.create("http://localhost:%d/v2/models/%s/infer".formatted(port, model)))
                        .POST(BodyPublishers.ofString("{\"inputs\": [%s]}".formatted(inputs)))
                        .build(),
                BodyHandlers.ofString());
    }

    private static String type(String model, int input) {
        return input == 1 && (model.equals("imported") || model.equals("unused")) ? "INT64" : "FP32";
    }

    private static int count(List<Long> shape) {
        return Math.toIntExact(shape.stream().reduce(1L, Math::multiplyExact));
    }

    private static List<List<Long>> shapes(String text) {
        return Arrays.stream(text.split(" "))
                .map(shape -> Arrays.stream(shape.split("x")).map(Long::valueOf).toList())
                .toList();
    }

    @ParameterizedTest
    @CsvSource({
        "sum, 3 2",
        "sum, 2 3000",
        "sum-declared, 3 2",
        "product, 2x3 3x2",
        "product-declared, 2x3 4x2",
        "imported, 64x8 1",
        "imported, 1x8 64",
        "unused, 3x8 1 3",
        "unused, 3x8 3 1",
    })
    void sizesWithoutAMatchAreRefused(String model, String sizes) throws Exception {
        HttpResponse<String> refused = infer(model, shapes(sizes));
        assertThat(refused.statusCode()).as(refused.body()).isEqualTo(400);
        if (!model.endsWith("declared")) {
            assertThat(refused.body()).contains("differ in dimension 0", "iree.modules." + model + ".variants.");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "sum, 3 3",
        "sum-declared, 3 3",
        "product, 3x3 3x3",
        "product-declared, 2x3 3x4",
        "imported, 5x8 5",
        "unused, 5x8 5 5",
    })
    void matchingSizesAreComputed(String model, String sizes) throws Exception {
        HttpResponse<String> answer = infer(model, shapes(sizes));
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    }

    @Test
    void theSameHoldsOverGrpc() throws Exception {
        GrpcClient client = new GrpcClient(grpc.getPort());
        Status refused = client.refused(
                "ModelInfer",
                client.inference("sum")
                        .input("input0", "FP32", List.of(3L))
                        .input("input1", "FP32", List.of(2L))
                        .raw(new byte[12])
                        .raw(new byte[8])
                        .encoded());
        client.close();
        assertThat(refused.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(refused.getDescription()).contains("differ in dimension 0");
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
