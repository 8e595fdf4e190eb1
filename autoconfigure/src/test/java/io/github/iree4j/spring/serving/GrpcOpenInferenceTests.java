package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.DynamicMessage;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.http.BodyLimits;
import io.grpc.CallOptions;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.reflection.v1.ServerReflectionGrpc;
import io.grpc.reflection.v1.ServerReflectionRequest;
import io.grpc.reflection.v1.ServerReflectionResponse;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** The protocol over gRPC, without a web server, with a client that knows the published messages only. */
@SpringBootTest(
        classes = ProtocolConformanceTests.Application.class,
        webEnvironment = WebEnvironment.NONE,
        properties = {
            "spring.grpc.server.enabled=true",
            "spring.grpc.server.port=0",
            "iree.serving.enabled=true",
            "iree.modules.values.variants.pair.shapes=[rows 2], [others] -> [rows 2], [others]",
            "iree.serving.repository=true",
            "iree.serving.grpc.authentication=elsewhere",
            "iree.serving.functions.values=pair",
            "iree.serving.functions.adder=add",
            "iree.serving.strings.values=text_input,text_output,words_in,words_out",
            "iree.modules.later.load=lazy",
            "iree.modules.limited.timeout=50ms",
        })
@Timeout(600)
class GrpcOpenInferenceTests {

    @TempDir
    private static Path directory;

    @Autowired
    private GrpcServerLifecycle server;

    @Autowired
    private IreeRuntime runtime;

    @Autowired
    private Programs programs;

    @Autowired
    private BodyLimits limits;

    @Autowired
    private MeterRegistry meters;

    private GrpcClient client;

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        for (String name : List.of("values.", "adder.", "adder.versions.2.", "later.")) {
            registry.add("iree.modules." + name + "location", () -> module(false));
        }
        registry.add("iree.modules.spinner.location", () -> module(true));
        registry.add("iree.modules.limited.location", () -> module(true));
    }

    private static String module(boolean spinning) {
        try {
            return (spinning ? TestModules.spinner(directory) : TestModules.adder(directory)).toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @BeforeEach
    void connect() {
        client = new GrpcClient(server.getPort());
    }

    @AfterEach
    void requestsLeaveNothingBehind() throws InterruptedException {
        client.close();
        while (runtime.monitor().leaks().openTensors() != 0 || limits.inFlight() != 0 || limits.awaited() != 0) {
            Poll.pause(); // the class's timeout fails what stays
        }
    }

    // Health and metadata.

    @Test
    void healthOfTheServerAndItsModels() {
        assertThat(GrpcClient.get(client.ask("ServerLive"), "live")).isEqualTo(true);
        assertThat(GrpcClient.get(client.ask("ServerReady"), "ready")).isEqualTo(true);
        assertThat(GrpcClient.get(client.ask("ModelReady", "name", "adder"), "ready"))
                .isEqualTo(true);
        assertThat(GrpcClient.get(client.ask("ModelReady", "name", "later"), "ready"))
                .isEqualTo(false);
        assertThat(GrpcClient.get(client.ask("ModelReady", "name", "adder", "version", "9"), "ready"))
                .isEqualTo(false);
        assertThat(HealthGrpc.newBlockingStub(client.channel())
                        .check(HealthCheckRequest.newBuilder().build())
                        .getStatus())
                .isEqualTo(ServingStatus.SERVING);
    }

    @Test
    void metadataMatchesHttp() {
        DynamicMessage metadata = client.ask("ServerMetadata");
        assertThat(GrpcClient.get(metadata, "name")).isEqualTo("iree4j");
        DynamicMessage model = client.ask("ModelMetadata", "name", "adder");
        assertThat(GrpcClient.all(model, "versions")).isEqualTo(List.of("1", "2"));
        assertThat(model.toString()).contains("datatype: \"INT32\"").contains("shape: 1");
        assertThat(client.ask("ModelMetadata", "name", "values.words").toString())
                .contains("datatype: \"BYTES\"")
                .contains("shape: -1");
    }

    @Test
    void configurationMatchesHttp() {
        assertThat(client.ask("ModelConfig", "name", "values.words").toString())
                .contains("name: \"values.words\"")
                .contains("data_type: TYPE_STRING")
                .contains("dims: -1")
                .contains("kind: KIND_CPU")
                .contains("backend: \"iree\"")
                .contains("key: \"function\"");
    }

    @Test
    void reflectionDescribesTheService() throws InterruptedException {
        BlockingQueue<Object> answers = new LinkedBlockingQueue<>();
        StreamObserver<ServerReflectionRequest> asking = ServerReflectionGrpc.newStub(client.channel())
                .serverReflectionInfo(new Collecting<ServerReflectionResponse>(answers));
        asking.onNext(ServerReflectionRequest.newBuilder()
                .setFileContainingSymbol("inference.GRPCInferenceService")
                .build());
        asking.onCompleted();
        assertThat(String.valueOf(answers.poll(1, TimeUnit.MINUTES))).contains("raw_input_contents");
    }

    private record Collecting<T>(BlockingQueue<Object> into) implements StreamObserver<T> {
        @Override
        public void onNext(T value) {
            into.add(value);
        }

        @Override
        public void onError(Throwable failure) {
            into.add(failure);
        }

        @Override
        public void onCompleted() {
            into.add("completed");
        }
    }

    // The repository.

    @Test
    void modelsAreListedLoadedAndUnloaded() {
        assertThat(client.ask("RepositoryIndex").toString())
                .contains("name: \"values\"")
                .contains("state: \"READY\"");
        client.ask("RepositoryModelLoad", "model_name", "later");
        assertThat(GrpcClient.get(client.ask("ModelReady", "name", "later"), "ready"))
                .isEqualTo(true);
        client.ask("RepositoryModelUnload", "model_name", "later");
        assertThat(GrpcClient.get(client.ask("ModelReady", "name", "later"), "ready"))
                .isEqualTo(false);
        assertThat(client.ask("RepositoryIndex", "ready", true).toString()).doesNotContain("later");
        assertStatus(client.refused("RepositoryModelLoad", new byte[] {0x12, 1, 'x'}), Status.Code.NOT_FOUND, "'x'");
        byte[] config = {0x12, 1, 'x', 0x1A, 8, 0x0A, 6, 'c', 'o', 'n', 'f', 'i', 'g'};
        assertStatus(
                client.refused("RepositoryModelLoad", config),
                Status.Code.UNIMPLEMENTED,
                "models are loaded as they are configured");
    }

    @Test
    void clientsGuessingNamesLearnNone() {
        for (String name : List.of("guess", "guess.add")) {
            Status refused = client.inference(name).refused();
            assertThat(refused.getCode()).isEqualTo(Status.Code.NOT_FOUND);
            assertThat(refused.getDescription()).contains("guess").doesNotContain("adder", "later", "limited");
        }
        byte[] load = GrpcClient.message("RepositoryModelLoadRequest", "model_name", "guess")
                .build()
                .toByteArray();
        assertThat(client.refused("RepositoryModelLoad", load).getDescription())
                .isEqualTo("there is no program 'guess'");
    }

    // Inference.

    @ParameterizedTest
    @MethodSource("io.github.iree4j.spring.serving.ProtocolConformanceTests#datatypes")
    void everyDatatypeWorksRaw(String type, String datatype, String json, String hex) {
        byte[] contents = HexFormat.of().parseHex(hex);
        GrpcClient.Answer answer = client.inference("values.echo_" + type)
                .set("id", "7")
                .input("x", datatype, List.of(2L))
                .raw(contents)
                .infer();
        assertThat(answer.outputs()).containsExactly("y %s [2]".formatted(datatype));
        assertThat(answer.raw(0)).isEqualTo(contents);
        assertThat(GrpcClient.get(answer.message(), "id")).isEqualTo("7");
        assertThat(GrpcClient.get(answer.message(), "model_version")).isEqualTo("1");
    }

    static Stream<Arguments> typedContents() {
        return Stream.of(
                Arguments.of("i1", "BOOL", "bool_contents", List.of(true, false), "0100"),
                Arguments.of("si8", "INT8", "int_contents", List.of(1, -1), "01ff"),
                Arguments.of("si16", "INT16", "int_contents", List.of(1, -32768), "01000080"),
                Arguments.of("si32", "INT32", "int_contents", List.of(1, -2), "01000000feffffff"),
                Arguments.of(
                        "i64",
                        "INT64",
                        "int64_contents",
                        List.of(1L, Long.MIN_VALUE),
                        "01000000000000000000000000000080"),
                Arguments.of("ui8", "UINT8", "uint_contents", List.of(1, 255), "01ff"),
                Arguments.of("ui16", "UINT16", "uint_contents", List.of(1, 65535), "0100ffff"),
                Arguments.of("ui32", "UINT32", "uint_contents", List.of(1, -1), "01000000ffffffff"),
                Arguments.of("ui64", "UINT64", "uint64_contents", List.of(1L, -1L), "0100000000000000ffffffffffffffff"),
                Arguments.of("f32", "FP32", "fp32_contents", List.of(1.5f, -0.1f), "0000c03fcdccccbd"),
                Arguments.of("f64", "FP64", "fp64_contents", List.of(1.5, -0.1), "000000000000f83f9a9999999999b9bf"));
    }

    @ParameterizedTest
    @MethodSource
    void typedContents(String type, String datatype, String field, List<?> contents, String hex) {
        assertThat(client.inference("values.echo_" + type)
                        .typed("x", datatype, List.of(2L), field, contents)
                        .infer()
                        .raw(0))
                .isEqualTo(HexFormat.of().parseHex(hex));
        Status wrong = client.inference("values.echo_" + type)
                .typed("x", datatype, List.of(3L), field, contents)
                .refused();
        assertThat(wrong.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(wrong.getDescription()).contains("have 2 elements, but shape [3] has 3");
    }

    @Test
    void textsWorkRawAndTyped() {
        List<ByteString> words = List.of(ByteString.copyFromUtf8("Grüße"), ByteString.EMPTY);
        GrpcClient.Answer typed = client.inference("values.words")
                .typed("words_in", "BYTES", List.of(2L), "bytes_contents", words)
                .infer();
        assertThat(typed.outputs()).containsExactly("words_out BYTES [2]");
        assertThat(client.inference("values.words")
                        .input("words_in", "BYTES", List.of(2L))
                        .raw(typed.raw(0))
                        .infer()
                        .raw(0))
                .isEqualTo(typed.raw(0))
                .hasSize(4 + 7 + 4);
    }

    @Test
    void onlyRequestedOutputsAreReturned() {
        GrpcClient.Answer answer = client.inference("values")
                .input("b", "INT32", List.of(1L))
                .input("a", "FP32", List.of(0L, 2L))
                .raw(new byte[4])
                .raw(new byte[0])
                .output("d")
                .infer();
        assertThat(answer.outputs()).containsExactly("d INT32 [1]");
    }

    /** Serializers write fields in the order of their numbers, but without an obligation. */
    @Test
    void fieldsMayComeInAnyOrder() throws IOException {
        byte[] encoded = client.inference("values")
                .input("a", "FP32", List.of(1L, 2L))
                .input("b", "INT32", List.of(1L))
                .raw(new byte[] {0, 0, (byte) 0x80, 0x3F, 0, 0, 0, 0x40})
                .raw(new byte[] {7, 0, 0, 0})
                .encoded();
        DynamicMessage request = GrpcClient.parse("ModelInferRequest", encoded);
        ByteArrayOutputStream backwards = new ByteArrayOutputStream();
        CodedOutputStream out = CodedOutputStream.newInstance(backwards);
        for (ByteString raw : GrpcClient.<ByteString>all(request, "raw_input_contents")) {
            out.writeBytes(7, raw);
        }
        for (DynamicMessage input : GrpcClient.<DynamicMessage>all(request, "inputs")) {
            out.writeMessage(5, input);
        }
        out.writeFixed32(1000, 1); // of a later version
        out.writeString(1, "values");
        out.flush();
        DynamicMessage answer = GrpcClient.parse(
                "ModelInferResponse", client.call("ModelInfer", CallOptions.DEFAULT, backwards.toByteArray()));
        assertThat(new GrpcClient.Answer(answer).raw(0)).isEqualTo(new byte[] {0, 0, (byte) 0x80, 0x3F, 0, 0, 0, 0x40});
        assertThat(new GrpcClient.Answer(answer).raw(1)).isEqualTo(new byte[] {7, 0, 0, 0});
    }

    @Test
    void callsAreCountedAsOverHttp() {
        double before = meters.find("iree.invocations").timers().stream()
                .mapToLong(timer -> timer.count())
                .sum();
        client.inference("values.echo_si8")
                .input("x", "INT8", List.of(1L))
                .raw(new byte[1])
                .infer();
        while (meters.find("iree.invocations").timers().stream()
                        .mapToLong(timer -> timer.count())
                        .sum()
                == before) {
            Poll.pause();
        }
    }

    @Test
    void streamAnswersEachRequestInOrder() throws InterruptedException {
        BlockingQueue<Object> answers = new LinkedBlockingQueue<>();
        StreamObserver<byte[]> requests = ClientCalls.asyncBidiStreamingCall(
                client.channel().newCall(GrpcClient.method("ModelStreamInfer"), CallOptions.DEFAULT),
                new Collecting<byte[]>(answers));
        for (byte i = 0; i < 20; i++) {
            GrpcClient.Inference request = client.inference("values.echo_si8").set("id", String.valueOf(i));
            request.input("x", "INT8", List.of(i == 3 ? 2L : 1L)).raw(new byte[] {i});
            requests.onNext(request.encoded());
        }
        requests.onCompleted();
        for (byte i = 0; i < 20; i++) {
            DynamicMessage answer =
                    GrpcClient.parse("ModelStreamInferResponse", (byte[]) answers.poll(1, TimeUnit.MINUTES));
            if (i == 3) {
                assertThat((String) GrpcClient.get(answer, "error_message")).contains("takes 2 bytes");
                continue;
            }
            DynamicMessage response = (DynamicMessage) GrpcClient.get(answer, "infer_response");
            assertThat(GrpcClient.get(response, "id")).isEqualTo(String.valueOf(i));
            assertThat(new GrpcClient.Answer(response).raw(0)).containsExactly(i);
        }
        assertThat(answers.poll(1, TimeUnit.MINUTES)).isEqualTo("completed");
    }

    // Failures.

    @Test
    void deadlineOfTheCallEndsTheInvocation() {
        assertThat(client.inference("spinner")
                        .options(CallOptions.DEFAULT.withDeadlineAfter(200, TimeUnit.MILLISECONDS))
                        .refused()
                        .getCode())
                .isEqualTo(Status.Code.DEADLINE_EXCEEDED);
        awaitNoCalls();
    }

    /** A request without inputs and with a timeout. */
    private static byte[] within(String model, long micros) {
        DynamicMessage.Builder request = GrpcClient.message("ModelInferRequest", "model_name", model);
        var parameters = request.getDescriptorForType().findFieldByName("parameters");
        DynamicMessage value =
                GrpcClient.message("InferParameter", "int64_param", micros).build();
        request.addRepeatedField(
                parameters,
                DynamicMessage.newBuilder(parameters.getMessageType())
                        .setField(parameters.getMessageType().findFieldByNumber(1), "timeout")
                        .setField(parameters.getMessageType().findFieldByNumber(2), value)
                        .build());
        return request.build().toByteArray();
    }

    @Test
    void parameterEndsTheInvocation() {
        assertThat(client.refused("ModelInfer", within("spinner", 100_000)).getCode())
                .isEqualTo(Status.Code.DEADLINE_EXCEEDED);
        awaitNoCalls();
    }

    @Test
    void neitherAParameterNorADeadlineLengthensTheLimitOfTheOperator() {
        assertThat(client.refused("ModelInfer", within("limited", 9_000_000_000_000_000L))
                        .getCode())
                .isEqualTo(Status.Code.DEADLINE_EXCEEDED);
        assertThat(client.inference("limited")
                        .options(CallOptions.DEFAULT.withDeadlineAfter(1, TimeUnit.HOURS))
                        .refused()
                        .getCode())
                .isEqualTo(Status.Code.DEADLINE_EXCEEDED);
        awaitNoCalls();
    }

    @Test
    void cancellingTheCallEndsTheInvocation() {
        var call = ClientCalls.futureUnaryCall(
                client.channel().newCall(GrpcClient.method("ModelInfer"), CallOptions.DEFAULT),
                client.inference("spinner").encoded());
        while (programs.require("spinner", null).activeCalls() == 0) {
            Poll.pause();
        }
        call.cancel(true);
        awaitNoCalls();
    }

    private void awaitNoCalls() {
        while (programs.require("spinner", null).activeCalls() != 0) {
            Poll.pause(); // the class's timeout fails what stays
        }
    }

    private static void assertStatus(Status status, Status.Code code, String description) {
        assertThat(status.getCode()).as(status.toString()).isEqualTo(code);
        assertThat(status.getDescription()).contains(description);
    }

    @Test
    void unanswerableRequestsHaveAStatus() {
        for (String guessed : List.of("adder.", "adder.none")) {
            Status status = client.inference(guessed).refused();
            assertThat(status.getCode()).isEqualTo(Status.Code.NOT_FOUND);
            assertThat(status.getDescription()).isEqualTo("there is no model '%s'".formatted(guessed));
        }
        assertStatus(client.inference("nothing").refused(), Status.Code.NOT_FOUND, "'nothing'");
        assertStatus(client.inference("adder").refused(), Status.Code.INVALID_ARGUMENT, "'input0'");
        assertStatus(client.inference("adder").set("model_version", "9").refused(), Status.Code.NOT_FOUND, "'9'");
        assertStatus(
                client.inference("values.echo_f32")
                        .input("x", "FP32", List.of(1L))
                        .raw(new byte[4])
                        .output("z")
                        .refused(),
                Status.Code.INVALID_ARGUMENT,
                "there is no output 'z'; the outputs are [y]");
        assertStatus(client.inference("adder.refuse").refused(), Status.Code.INTERNAL, "not today");
    }

    @Test
    void contentsNotFittingTheShapeAreRejected() {
        for (long length : new long[] {0, 2, 1L << 40, Long.MAX_VALUE}) {
            assertThat(client.inference("values.echo_f32")
                            .input("x", "FP32", List.of(length))
                            .raw(new byte[4])
                            .refused()
                            .getCode())
                    .isIn(Status.Code.INVALID_ARGUMENT, Status.Code.OUT_OF_RANGE);
        }
        assertStatus(
                client.inference("values.echo_f32")
                        .input("x", "FP32", List.of(-1L))
                        .raw(new byte[4])
                        .refused(),
                Status.Code.INVALID_ARGUMENT,
                "dimension 0 of 'shape'");
        assertStatus(
                client.inference("values.echo_f32")
                        .input(
                                "x",
                                "FP32",
                                LongStream.range(0, 1000).mapToObj(_ -> 1L).toList())
                        .raw(new byte[4])
                        .refused(),
                Status.Code.INVALID_ARGUMENT,
                "dimensions");
        assertStatus(
                client.inference("values.echo_f16")
                        .typed("x", "FP16", List.of(1L), "fp32_contents", List.of(1f))
                        .refused(),
                Status.Code.INVALID_ARGUMENT,
                "which must be in 'raw_input_contents'");
        assertStatus(
                client.inference("values.echo_f32")
                        .typed("x", "FP32", List.of(1L), "int_contents", List.of(1))
                        .refused(),
                Status.Code.INVALID_ARGUMENT,
                "whose contents are field 6");
        assertStatus(
                client.inference("values.echo_si8")
                        .typed("x", "INT8", List.of(1L), "int_contents", List.of(128))
                        .refused(),
                Status.Code.INVALID_ARGUMENT,
                "out of the range of INT8, -128 to 127");
        assertStatus(
                client.inference("values.echo_f32")
                        .typed("x", "FP32", List.of(1L), "fp32_contents", List.of(1f))
                        .raw(new byte[4])
                        .refused(),
                Status.Code.INVALID_ARGUMENT,
                "both 'contents' and 'raw_input_contents'");
        assertStatus(
                client.inference("values")
                        .input("a", "FP32", List.of(1L, 2L))
                        .input("b", "INT32", List.of(1L))
                        .raw(new byte[8])
                        .refused(),
                Status.Code.INVALID_ARGUMENT,
                "'raw_input_contents' has 1 elements, but there are 2 inputs");
    }

    @Test
    void manyEmptyInputsAreRejected() {
        DynamicMessage.Builder request = GrpcClient.message("ModelInferRequest", "model_name", "adder");
        var inputs = request.getDescriptorForType().findFieldByName("inputs");
        DynamicMessage empty =
                GrpcClient.message("InferInputTensor", "datatype", "BOOL").build();
        for (int i = 0; i < 2000; i++) {
            request.addRepeatedField(inputs, empty);
        }
        assertStatus(
                client.refused("ModelInfer", request.build().toByteArray()),
                Status.Code.INVALID_ARGUMENT,
                "'inputs' has more than 1024 elements");
    }

    /** Damaged messages: the rest of them is answered or refused as invalid, and never fails the server. */
    @Test
    void damagedMessagesAreInvalid() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        byte[] valid = client.inference("values")
                .set("id", "seven")
                .input("a", "FP32", List.of(1L, 2L))
                .input("b", "INT32", List.of(1L))
                .raw(new byte[8])
                .raw(new byte[4])
                .output("c")
                .encoded();
        List<Status.Code> expected = new ArrayList<>(List.of(
                Status.Code.OK,
                Status.Code.INVALID_ARGUMENT,
                Status.Code.NOT_FOUND,
                Status.Code.UNIMPLEMENTED,
                Status.Code.OUT_OF_RANGE,
                Status.Code.RESOURCE_EXHAUSTED));
        for (int i = 0; i < 500; i++) {
            byte[] damaged =
                    Arrays.copyOf(valid, random.nextInt(10) == 0 ? random.nextInt(valid.length) : valid.length);
            for (int j = random.nextInt(4); j >= 0 && damaged.length > 0; j--) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
            }
            Status status;
            try {
                client.call("ModelInfer", CallOptions.DEFAULT, damaged);
                status = Status.OK;
            } catch (StatusRuntimeException e) {
                status = e.getStatus();
            }
            assertThat(expected)
                    .as("seed %d, message %s: %s", seed, HexFormat.of().formatHex(damaged), status)
                    .contains(status.getCode());
        }
    }
}
