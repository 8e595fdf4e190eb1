package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * An application serving programs over real HTTP, and a client written from the protocol's public text; {@link #checked}
 * checks the requirements on responses.
 */
@SpringBootTest(
        classes = OpenInferenceServer.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "iree.serving.enabled=true",
            "iree.http.max-request-size=64KB",
            "iree.serving.repository=true",
        })
@Timeout(600)
abstract class OpenInferenceServer {

    static final String ADD = """
            {"inputs": [{"name": "input0", "shape": [4], "datatype": "FP32", "data": [1, 2, 3, 4]},
                        {"name": "input1", "shape": [4], "datatype": "FP32", "data": [10, 20, 30, 40]}]}""";

    @LocalServerPort
    int port;

    @Autowired
    Programs programs;

    @Autowired
    IreeRuntime runtime;

    final HttpClient http = HttpClient.newHttpClient();
    final JsonMapper json = JsonMapper.shared();

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        registry.add("iree.modules.add.location", () -> fixture("3.11.0/cpu/add.vmfb"));
    }

    static String fixture(String name) {
        return TestModules.fixture(name).toString();
    }

    @AfterEach
    void requestsLeaveNothingOpen() {
        while (runtime.monitor().leaks().openTensors()
                != 0) { // the client may receive its response before the server's clean-up
            Poll.pause();
        }
    }

    // A client.

    final HttpResponse<byte[]> send(HttpRequest.Builder request) throws Exception {
        return http.send(request.build(), BodyHandlers.ofByteArray());
    }

    final HttpRequest.Builder to(String path) {
        return HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/v2" + path));
    }

    final JsonNode get(String path) throws Exception {
        HttpResponse<byte[]> response = send(to(path));
        assertThat(response.statusCode()).isEqualTo(200);
        return json.readTree(response.body());
    }

    final HttpResponse<byte[]> post(String path, String body) throws Exception {
        return send(to(path).header("Content-Type", "application/json").POST(BodyPublishers.ofString(body)));
    }

    final JsonNode infer(String model, String body) throws Exception {
        HttpResponse<byte[]> response = post("/models/" + model + "/infer", body);
        assertThat(response.statusCode())
                .as(new String(response.body(), StandardCharsets.UTF_8))
                .isEqualTo(200);
        return checked(response);
    }

    /**
     * The requirements of $inference_response: names, tensors with name, shape, datatype and as many elements as the
     * shape has.
     */
    final JsonNode checked(HttpResponse<byte[]> response) {
        int length = response.headers()
                .firstValue("Inference-Header-Content-Length")
                .map(Integer::parseInt)
                .orElse(response.body().length);
        JsonNode answer = json.readTree(Arrays.copyOf(response.body(), length));
        assertThat(answer.path("model_name").isString()).as("model_name").isTrue();
        long behind = 0;
        for (JsonNode output : answer.required("outputs")) {
            assertThat(output.path("name").isString()).as("name").isTrue();
            assertThat(output.path("datatype").stringValue()).matches("BOOL|U?INT(8|16|32|64)|FP(16|32|64)|BF16|BYTES");
            long count = 1;
            for (JsonNode dimension : output.required("shape")) {
                count *= dimension.longValue();
            }
            JsonNode size = output.path("parameters").path("binary_data_size");
            if (size.isMissingNode()) {
                assertThat(output.required("data").size()).isEqualTo((int) count);
            } else {
                assertThat(output.has("data"))
                        .as("data beside binary_data_size")
                        .isFalse();
                behind += size.longValue();
            }
        }
        assertThat((long) response.body().length).isEqualTo(length + behind);
        return answer;
    }

    final String error(HttpResponse<byte[]> response) {
        JsonNode answer = json.readTree(response.body());
        assertThat(answer.propertyNames()).containsExactly("error");
        return answer.get("error").stringValue();
    }

    static BodyPublisher binary(String header, float[]... contents) {
        byte[] text = header.getBytes(StandardCharsets.UTF_8);
        int size = text.length;
        for (float[] content : contents) {
            size += 4 * content.length;
        }
        ByteBuffer body =
                ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN).put(text);
        for (float[] content : contents) {
            for (float value : content) {
                body.putFloat(value);
            }
        }
        return BodyPublishers.ofByteArray(body.array());
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
