package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.http.BodyLimits;
import io.grpc.Status;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** No client reads beyond a table with an index that the operator has ruled out, however the index arrives. */
@SpringBootTest(
        classes = ProtocolConformanceTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "spring.grpc.server.enabled=true",
            "spring.grpc.server.port=0",
            "iree.serving.enabled=true",
            "iree.serving.ranges.rows.input1=0..9",
            "iree.serving.ranges.values.x=-3 .. 200",
        })
@Timeout(300)
class ValueRangeTests {

    private static final String TABLE = table();

    @LocalServerPort
    private int port;

    @Autowired
    private GrpcServerLifecycle grpc;

    @Autowired
    private BodyLimits limits;

    private final HttpClient http = HttpClient.newHttpClient();

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        registry.add(
                "iree.modules.rows.location",
                () -> TestModules.fixture("3.13.0/cpu/gather.vmfb").toString());
        registry.add(
                "iree.modules.values.location",
                () -> TestModules.fixture("3.11.0/cpu/add.vmfb").toString());
    }

    @AfterEach
    void nothingStaysCharged() {
        while (limits.inFlight() != 0) {
            Thread.onSpinWait(); // the class's timeout fails what stays
        }
    }

    private static String table() {
        StringBuilder rows =
                new StringBuilder("{\"name\": \"input0\", \"datatype\": \"FP32\", \"shape\": [10, 4], \"data\": [");
        for (int i = 0; i < 40; i++) {
            rows.append(i == 0 ? "" : ", ").append(i);
        }
        return rows.append("]}").toString();
    }

    private HttpResponse<String> post(String model, byte[] body, int head) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(
                        URI.create("http://localhost:%d/v2/models/%s/infer".formatted(port, model)))
                .POST(BodyPublishers.ofByteArray(body));
        if (head < body.length) {
            request.header("Inference-Header-Content-Length", String.valueOf(head));
        }
        return http.send(request.build(), BodyHandlers.ofString());
    }

    private HttpResponse<String> json(String indices) throws Exception {
        byte[] body = """
                {"inputs": [%s, {"name": "input1", "datatype": "INT32", "shape": [6], "data": [%s]}]}""".formatted(TABLE, indices).getBytes();
        return post("rows", body, body.length);
    }

    private static byte[] ints(int... values) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (int value : values) {
            bytes.putInt(value);
        }
        return bytes.array();
    }

    private HttpResponse<String> binary(int... indices) throws Exception {
        byte[] head = """
                {"inputs": [%s, {"name": "input1", "datatype": "INT32", "shape": [6], "parameters": {"binary_data_size": 24}}]}""".formatted(TABLE).getBytes();
        byte[] body = ByteBuffer.allocate(head.length + 24)
                .put(head)
                .put(ints(indices))
                .array();
        return post("rows", body, head.length);
    }

    @ParameterizedTest
    @CsvSource({"'0, 9, 3, 3, 7, 10', 5, 10", "'-1, 0, 0, 0, 0, 0', 0, -1", "'0, 0, 2147483647, 0, 0, 0', 2, 2147483647"
    })
    void anIndexOutsideTheRangeIsRefused(String indices, int element, int value) throws Exception {
        int[] all = List.of(indices.split(", ")).stream()
                .mapToInt(Integer::parseInt)
                .toArray();
        String reason =
                "element %d of input 'input1' is %d, and the input takes values from 0 to 9".formatted(element, value);
        for (HttpResponse<String> refused : List.of(json(indices), binary(all))) {
            assertThat(refused.statusCode()).as(refused.body()).isEqualTo(400);
            assertThat(refused.body()).contains(reason, "iree.serving.ranges.rows.input1");
        }
        GrpcClient client = new GrpcClient(grpc.getPort());
        Status status = client.refused(
                "ModelInfer",
                client.inference("rows")
                        .input("input0", "FP32", List.of(10L, 4L))
                        .input("input1", "INT32", List.of(6L))
                        .raw(new byte[160])
                        .raw(ints(all))
                        .encoded());
        client.close();
        assertThat(status.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(status.getDescription()).contains(reason);
    }

    @Test
    void indicesWithinTheRangeAreTaken() throws Exception {
        Random random = new Random(20261127);
        for (int round = 0; round < 20; round++) {
            int[] indices = random.ints(6, 0, 10).toArray();
            indices[random.nextInt(6)] = random.nextBoolean() ? 0 : 9;
            HttpResponse<String> answer = binary(indices);
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
            assertThat(answer.body()).contains("%d.0".formatted(4 * indices[0]));
        }
    }

    @Test
    void theSameHoldsForTheGenerateExtensionAndForTypedContents() throws Exception {
        HttpResponse<String> generated = http.send(
                HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/v2/models/values.echo_ui8/generate"))
                        .POST(BodyPublishers.ofString("{\"x\": [7, 201]}"))
                        .build(),
                BodyHandlers.ofString());
        assertThat(generated.statusCode()).as(generated.body()).isEqualTo(400);
        assertThat(generated.body()).contains("element 1 of input 'x' is 201");
        GrpcClient client = new GrpcClient(grpc.getPort());
        Status typed = client.refused(
                "ModelInfer",
                client.inference("values.echo_ui8")
                        .typed("x", "UINT8", List.of(2L), "uint_contents", List.of(7, 201))
                        .encoded());
        client.close();
        assertThat(typed.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(typed.getDescription()).contains("element 1 of input 'x' is 201");
    }

    @ParameterizedTest
    @CsvSource({
        "echo_ui8, UINT8, 200, 200",
        "echo_ui8, UINT8, 201, 400",
        "echo_si8, INT8, -3, 200",
        "echo_si8, INT8, -4, 400",
        "echo_ui16, UINT16, 200, 200",
        "echo_ui16, UINT16, 65535, 400",
        "echo_i64, INT64, 200, 200",
        "echo_i64, INT64, -4294967296, 400",
        "echo_ui64, UINT64, 200, 200",
        "echo_ui64, UINT64, 18446744073709551615, 400",
        "echo_f32, FP32, 1000, 200", // an input of the same name, of another function
    })
    void valuesAreComparedAsTheirTypeHasThem(String function, String datatype, String value, int status)
            throws Exception {
        byte[] body = """
                {"inputs": [{"name": "x", "datatype": "%s", "shape": [1], "data": [%s]}]}""".formatted(datatype, value).getBytes();
        HttpResponse<String> answer = post("values." + function, body, body.length);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    }
}
