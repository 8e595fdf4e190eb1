package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.http.BodyLimits;
import io.grpc.Status;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
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

/** No client reads beyond a table with an index ruled out by the operator, however the index arrives. */
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

    @LocalServerPort
    private int port;

    @Autowired
    private GrpcServerLifecycle grpc;

    @Autowired
    private BodyLimits limits;

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
            Poll.pause(); // the class's timeout fails what stays
        }
    }

    private ProtocolClient.Inference rows() {
        return new ProtocolClient(port)
                .inference("rows")
                .input(
                        "input0",
                        "FP32",
                        "[10, 4]",
                        IntStream.range(0, 40).boxed().toList().toString());
    }

    private static byte[] ints(int... values) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (int value : values) {
            bytes.putInt(value);
        }
        return bytes.array();
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
        assertThat(rows().input("input1", "INT32", "[6]", "[" + indices + "]").refused(400))
                .contains(reason, "iree.serving.ranges.rows.input1");
        assertThat(rows().input("input1", "INT32", "[6]", ints(all)).refused(400))
                .contains(reason, "iree.serving.ranges.rows.input1");
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
            assertThat(rows().input("input1", "INT32", "[6]", ints(indices))
                            .infer()
                            .output("output0")
                            .required("data")
                            .get(0)
                            .doubleValue())
                    .isEqualTo(4 * indices[0]);
        }
    }

    @Test
    void theSameHoldsForTheGenerateExtensionAndForTypedContents() throws Exception {
        String generated = new ProtocolClient(port)
                .refused(
                        "/models/values.echo_ui8/generate",
                        Map.of(),
                        "{\"x\": [7, 201]}".getBytes(StandardCharsets.US_ASCII),
                        400);
        assertThat(generated).contains("element 1 of input 'x' is 201");
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
    void valuesAreComparedByTheirType(String function, String datatype, String value, int status) throws Exception {
        ProtocolClient.Inference request =
                new ProtocolClient(port).inference("values." + function).input("x", datatype, "[1]", "[" + value + "]");
        if (status == 200) {
            request.infer();
        } else {
            assertThat(request.refused(status)).contains("element 0 of input 'x'");
        }
    }
}
