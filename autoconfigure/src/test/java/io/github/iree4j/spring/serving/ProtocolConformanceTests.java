package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.ProgramLoadException;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.autoconfigure.IreeModuleCustomizer;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmCall;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import tools.jackson.databind.JsonNode;

/**
 * Conformance to the public texts of the protocol, over real HTTP, with a client that checks each message against the
 * schema.
 */
@SpringBootTest(
        classes = ProtocolConformanceTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "iree.serving.enabled=true",
            "iree.modules.values.variants.pair.shapes=[rows 2], [others] -> [rows 2], [others]",
            "iree.serving.repository=true",
            "iree.serving.functions.values=pair",
            "iree.serving.strings.values=text_input,text_output,words_in,words_out",
            "iree.serving.functions.adder=add",
            "iree.serving.functions.later=add",
            "iree.modules.later.load=lazy",
        })
@Timeout(600)
class ProtocolConformanceTests {

    @TempDir
    private static Path directory;

    @LocalServerPort
    private int port;

    @Autowired
    private IreeRuntime runtime;

    @Autowired
    private Programs programs;

    @Autowired
    private ApplicationContext context;

    private ProtocolClient client;

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        for (String name : List.of("values.", "adder.", "adder.versions.2.", "later.")) {
            registry.add("iree.modules." + name + "location", ProtocolConformanceTests::adder);
        }
    }

    private static String adder() {
        try {
            return TestModules.adder(directory).toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @BeforeEach
    void connect() {
        client = new ProtocolClient(port);
    }

    @AfterEach
    void requestsLeaveNothingOpen() {
        while (runtime.monitor().leaks().openTensors()
                != 0) { // the client may receive its response before the server's clean-up
            Poll.pause();
        }
    }

    // Health and metadata.

    @Test
    void healthOfTheServer() throws Exception {
        assertThat(client.get("/health/live", 200, "server-live").get("live").booleanValue())
                .isTrue();
        // A lazy model does not delay readiness.
        assertThat(client.get("/health/ready", 200, "server-ready").get("ready").booleanValue())
                .isTrue();
        programs.define(ProgramSource.of("broken", "file:nowhere.vmfb"));
        assertThatExceptionOfType(ProgramLoadException.class).isThrownBy(() -> programs.load("broken", null));
        client.get("/models/broken/ready", 503, "model-ready");
        client.get("/health/ready", 200, "server-ready");
        programs.unload("broken");
        AvailabilityChangeEvent.publish(context, ReadinessState.REFUSING_TRAFFIC);
        assertThat(client.get("/health/ready", 503, "server-ready").get("ready").booleanValue())
                .isFalse();
        AvailabilityChangeEvent.publish(context, ReadinessState.ACCEPTING_TRAFFIC);
        client.get("/health/ready", 200, "server-ready");
    }

    @Test
    void metadataOfTheServer() throws Exception {
        for (String path : List.of("", "/")) {
            JsonNode server = client.get(path, 200, "server-metadata");
            assertThat(server.get("extensions").valueStream().map(JsonNode::stringValue))
                    .containsExactly("binary_tensor_data", "model_configuration", "generate", "model_repository");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "/models/adder/ready,              200, model-ready",
        "/models/adder/versions/1/ready,   200, model-ready",
        "/models/adder/versions/2/ready,   200, model-ready",
        "/models/adder/versions/3/ready,   404, error",
        "/models/later/ready,              503, model-ready",
        "/models/nothing/ready,            404, error",
        "/models/adder,                    200, model-metadata",
        "/models/adder/versions/1,         200, model-metadata",
        "/models/adder/versions/3,         404, error",
        "/models/nothing,                  404, error",
        "/models/adder.nothing,            404, error",
    })
    void healthAndMetadataOfModels(String path, int status, String definition) throws Exception {
        client.get(path, status, definition);
    }

    @Test
    void metadataDescribesTheInputs() throws Exception {
        JsonNode pair = client.get("/models/values", 200, "model-metadata");
        assertThat(pair.get("inputs").toString())
                .isEqualTo(
                        "[{\"name\":\"a\",\"datatype\":\"FP32\",\"shape\":[-1,2]},{\"name\":\"b\",\"datatype\":\"INT32\",\"shape\":[-1]}]");
        assertThat(pair.get("outputs").findValuesAsString("name")).containsExactly("c", "d");
        assertThat(client.get("/models/adder", 200, "model-metadata")
                        .get("versions")
                        .toString())
                .isEqualTo("[\"1\",\"2\"]");
    }

    // Triton's extensions.

    @Test
    void configurationOfAModel() throws Exception {
        JsonNode words = client.get("/models/values.words/config", 200, "model-configuration");
        assertThat(words.get("name").stringValue()).isEqualTo("values.words");
        assertThat(words.get("backend").stringValue()).isEqualTo("iree");
        assertThat(words.get("max_batch_size").intValue()).isZero();
        assertThat(words.get("input").toString())
                .isEqualTo("[{\"name\":\"words_in\",\"data_type\":\"TYPE_STRING\",\"dims\":[-1]}]");
        assertThat(words.get("instance_group").toString())
                .isEqualTo("[{\"name\":\"values.words\",\"kind\":\"KIND_CPU\",\"count\":1}]");
        JsonNode pair = client.get("/models/values/versions/1/config", 200, "model-configuration");
        assertThat(pair.get("input").get(0).toString())
                .isEqualTo("{\"name\":\"a\",\"data_type\":\"TYPE_FP32\",\"dims\":[-1,2]}");
        client.get("/models/nothing/config", 404, "error");
    }

    @Test
    void generateTakesInputsByName() throws Exception {
        JsonNode text = client.post(
                "/models/values.text/generate",
                "{\"id\": \"7\", \"text_input\": \"Grüße\", \"parameters\": {\"temperature\": 0, \"timeout\": 60000000}, \"other\": [1]}",
                "generate-request",
                200,
                "generate-response");
        assertThat(text.toString())
                .isEqualTo(
                        "{\"id\":\"7\",\"model_name\":\"values.text\",\"model_version\":\"1\",\"text_output\":\"Grüße\"}");
        JsonNode pair = client.post(
                "/models/values/generate",
                "{\"a\": [1, 2.5, 3, 4], \"b\": 7}",
                "generate-request",
                200,
                "generate-response");
        assertThat(pair.get("c").toString()).isEqualTo("[1.0,2.5,3.0,4.0]");
        assertThat(pair.get("d").toString()).isEqualTo("7");
        JsonNode sum = client.post(
                "/models/adder/generate",
                "{\"input0\": 40, \"input1\": 2}",
                "generate-request",
                200,
                "generate-response");
        assertThat(sum.get("output0").toString()).isEqualTo("42");
    }

    @Test
    void generateStreamIsAnEvent() throws Exception {
        assertThat(client.events("/models/values.text/generate_stream", "{\"text_input\": \"a\\nb\"}"))
                .isEqualTo(
                        "data: {\"model_name\":\"values.text\",\"model_version\":\"1\",\"text_output\":\"a\\nb\"}\n\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "values.text | {}                        | input 'text_input' (tensor<?xi8>) is missing",
                "values.text | {\"text_input\": {}}       | must be a text, a number, a boolean or a flat array",
                "values.text | {\"text_input\": [[\"a\"]]} | must be a text, a number, a boolean or a flat array",
                "values.text | {\"text_input\": [\"a\", \"b\"]} | cannot have 2 elements",
                "values.text | {\"text_input\": 5}        | is not a string",
                "values      | {\"a\": [1, 2, 3], \"b\": 1} | input 'a' (tensor<?x2xf32>) cannot have 3 elements",
                "values      | {\"a\": \"text\", \"b\": 1}  | cannot have 1 elements",
                "values.text | []                        | the request must be an object",
                "values.text | {\"text_input\": \"a\"      | the JSON of the body ends early, at byte 18",
                "values.text | {\"text_input\": tru      | the JSON of the body ends early, at byte 18",
            })
    void faultyGenerationsAreRejected(String model, String body, String message) throws Exception {
        for (String path : List.of("/generate", "/generate_stream")) {
            assertThat(client.refused("/models/" + model + path, Map.of(), body.getBytes(StandardCharsets.UTF_8), 400))
                    .contains(message);
        }
    }

    @Test
    void elementsOfGenerateAreLimited() throws Exception {
        String many = "{\"a\": [" + "1,".repeat(70_000) + "1]}";
        assertThat(client.refused("/models/values/generate", Map.of(), many.getBytes(StandardCharsets.UTF_8), 400))
                .isEqualTo("input 'a' has more than 65536 elements; send it with 'infer'");
    }

    // Inference.

    /** Element type, datatype of the protocol, two elements in JSON as in responses, and in binary. */
    static Stream<Arguments> datatypes() {
        return Stream.of(
                Arguments.of("i1", "BOOL", "[true,false]", "0100"),
                Arguments.of("ui8", "UINT8", "[1,255]", "01ff"),
                Arguments.of("ui16", "UINT16", "[1,65535]", "0100ffff"),
                Arguments.of("ui32", "UINT32", "[1,4294967295]", "01000000ffffffff"),
                Arguments.of("ui64", "UINT64", "[1,18446744073709551615]", "0100000000000000ffffffffffffffff"),
                Arguments.of("si8", "INT8", "[1,-1]", "01ff"),
                Arguments.of("si16", "INT16", "[1,-32768]", "01000080"),
                Arguments.of("si32", "INT32", "[1,-2]", "01000000feffffff"),
                Arguments.of("i64", "INT64", "[1,-9223372036854775808]", "01000000000000000000000000000080"),
                Arguments.of("f16", "FP16", "[1.5,-2.0]", "003e00c0"),
                Arguments.of("bf16", "BF16", "[1.5,-2.0]", "c03f00c0"),
                Arguments.of("f32", "FP32", "[1.5,-0.1]", "0000c03fcdccccbd"),
                Arguments.of("f64", "FP64", "[1.5,-0.1]", "000000000000f83f9a9999999999b9bf"));
    }

    @ParameterizedTest
    @MethodSource("datatypes")
    void everyDatatypeWorksInJsonAndInBinary(String type, String datatype, String json, String hex) throws Exception {
        String model = "values.echo_" + type;
        byte[] binary = HexFormat.of().parseHex(hex);
        assertThat(client.get("/models/" + model, 200, "model-metadata")
                        .get("inputs")
                        .get(0)
                        .get("datatype")
                        .stringValue())
                .isEqualTo(datatype);
        assertThat(client.inference(model)
                        .input("x", datatype, "[2]", json)
                        .infer()
                        .output("y")
                        .get("data")
                        .toString())
                .isEqualTo(json);
        assertThat(client.inference(model)
                        .input("x", datatype, "[2]", json)
                        .output("y", true)
                        .infer()
                        .contents()
                        .get("y"))
                .isEqualTo(binary);
        assertThat(client.inference(model)
                        .input("x", datatype, "[2]", binary)
                        .infer()
                        .output("y")
                        .get("data")
                        .toString())
                .isEqualTo(json);
        assertThat(client.inference(model)
                        .input("x", datatype, "[2]", binary)
                        .parameter("binary_data_output", true)
                        .infer()
                        .contents()
                        .get("y"))
                .isEqualTo(binary);
    }

    private static byte[] floats(float... values) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (float value : values) {
            bytes.putFloat(value);
        }
        return bytes.array();
    }

    private static byte[] ints(int... values) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (int value : values) {
            bytes.putInt(value);
        }
        return bytes.array();
    }

    @Test
    void binaryContentsFollowTheOrderOfTheRequest() throws Exception {
        ProtocolClient.Answer answer = client.inference("values")
                .input("b", "INT32", "[3]", ints(7, 8, 9))
                .input("a", "FP32", "[1, 2]", floats(1, 2))
                .parameter("binary_data_output", true)
                .infer();
        assertThat(answer.contents().get("c")).isEqualTo(floats(1, 2));
        assertThat(answer.contents().get("d")).isEqualTo(ints(7, 8, 9));
    }

    @Test
    void jsonAndBinaryMixInTheSameRequestAndResponse() throws Exception {
        ProtocolClient.Answer answer = client.inference("values")
                .input("a", "FP32", "[2, 2]", "[[1, 2], [3, 4]]")
                .input("b", "INT32", "[1]", ints(7))
                .output("d", false)
                .output("c", true)
                .infer();
        assertThat(answer.contents().get("c")).isEqualTo(floats(1, 2, 3, 4));
        assertThat(answer.output("d").get("data").toString()).isEqualTo("[7]");
    }

    @Test
    void outputParameterOverridesTheParameterOfTheRequest() throws Exception {
        ProtocolClient.Answer answer = client.inference("values")
                .input("a", "FP32", "[1, 2]", "[1, 2]")
                .input("b", "INT32", "[1]", "[7]")
                .parameter("binary_data_output", true)
                .output("c", false)
                .output("d", null)
                .infer();
        assertThat(answer.contents()).containsOnlyKeys("d");
    }

    @Test
    void onlyRequestedOutputsAreReturned() throws Exception {
        ProtocolClient.Answer answer = client.inference("values")
                .id("42")
                .input("a", "FP32", "[1, 2]", "[1, 2]")
                .input("b", "INT32", "[0]", "[]")
                .output("d", null)
                .infer();
        assertThat(answer.output("d").get("shape").toString()).isEqualTo("[0]");
        assertThat(answer.json().get("model_name").stringValue()).isEqualTo("values");
    }

    @Test
    void emptyTensorsWorkInBinary() throws Exception {
        ProtocolClient.Answer answer = client.inference("values")
                .input("a", "FP32", "[0, 2]", new byte[0])
                .input("b", "INT32", "[0]", new byte[0])
                .parameter("binary_data_output", true)
                .infer();
        assertThat(answer.contents().get("c")).isEmpty();
    }

    @Test
    void unknownParametersAreIgnored() throws Exception {
        client.inference("adder")
                .parameter("text", "a")
                .parameter("number", 1.5)
                .parameter("truth", true)
                .input("input0", "INT32", "[1]", "[1]")
                .input("input1", "INT32", "[1]", "[2]")
                .infer();
    }

    @Test
    void versionedResponseNamesItsVersion() throws Exception {
        for (String version : List.of("1", "2")) {
            ProtocolClient.Answer answer = client.inference("adder/versions/" + version)
                    .input("input0", "INT32", "[1]", "[40]")
                    .input("input1", "INT32", "[1]", "[2]")
                    .infer();
            assertThat(answer.json().get("model_version").stringValue()).isEqualTo(version);
            assertThat(answer.output("output0").get("data").toString()).isEqualTo("[42]");
        }
    }

    @Test
    void nonFiniteNumbersAreStrings() throws Exception {
        assertThat(client.inference("values.echo_f32")
                        .input("x", "FP32", "[3]", "[\"NaN\", \"Infinity\", \"-Infinity\"]")
                        .infer()
                        .output("y")
                        .get("data")
                        .toString())
                .isEqualTo("[\"NaN\",\"Infinity\",\"-Infinity\"]");
    }

    // Failures.

    @Test
    void rejectsUnanswerableRequests() throws Exception {
        assertThat(client.inference("nothing").refused(404)).contains("'nothing'");
        assertThat(client.inference("adder/versions/9").refused(404)).contains("'9'");
        assertThat(client.inference("adder").refused(400)).contains("'input0'");
        assertThat(client.inference("adder")
                        .input("input0", "INT32", "[1]", "[1]")
                        .input("input1", "INT32", "[1]", "[2]")
                        .output("nothing", null)
                        .refused(400))
                .contains("'nothing'");
        assertThat(client.inference("adder")
                        .input("input0", "INT32", "[1]", "[1]")
                        .input("input1", "INT32", "[1]", new byte[3])
                        .refused(400))
                .contains("'binary_data_size' 3");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "Inference-Header-Content-Length | abc  | 400 | which is not a number of bytes",
                "Inference-Header-Content-Length | -5   | 400 | 'Inference-Header-Content-Length' is -5",
                "Content-Encoding                | gzip | 415 | bodies must be uncompressed",
                "Content-Type                    | application/octet-stream | 400 | the length of the JSON, is missing",
                "Content-Type                    | text/plain | 400 | the length of the JSON, is missing",
            })
    void rejectsInconsistentHeaders(String header, String value, int status, String message) throws Exception {
        byte[] body = """
                {"inputs": [{"name": "input0", "shape": [1], "datatype": "INT32", "parameters": {"binary_data_size": 4}}]}""".getBytes(StandardCharsets.UTF_8);
        assertThat(client.refused("/models/adder/infer", Map.of(header, value), body, status))
                .contains(message);
    }

    // The repository.

    @Test
    void indexListsAllOrReadyModels() throws Exception {
        JsonNode all = client.post("/repository/index", null, "", 200, "repository-index");
        assertThat(all.findValuesAsString("name")).contains("values", "adder", "later");
        assertThat(all.findValuesAsString("state")).contains("READY", "UNAVAILABLE");
        assertThat(client.post("/repository/index", "{}", "repository-index-request", 200, "repository-index"))
                .isEqualTo(all);
        JsonNode ready = client.post(
                "/repository/index", "{\"ready\": true}", "repository-index-request", 200, "repository-index");
        assertThat(ready.findValuesAsString("state")).containsOnly("READY");
        assertThat(ready.findValuesAsString("name")).doesNotContain("later");
        assertThat(client.refused("/repository/index", Map.of(), "[".getBytes(StandardCharsets.UTF_8), 400))
                .startsWith("the body is not JSON");
    }

    @Test
    void modelsAreLoadedAndUnloaded() throws Exception {
        client.post("/repository/models/later/load", "{\"parameters\": {}}", "repository-request", 200, "nothing");
        client.get("/models/later/ready", 200, "model-ready");
        client.post(
                "/repository/models/later/unload",
                "{\"parameters\": {\"unload_dependents\": true}}",
                "repository-request",
                200,
                "nothing");
        client.get("/models/later/ready", 503, "model-ready");
        client.inference("later").refused(404);
        client.post("/repository/models/nothing/load", null, "", 404, "error");
        client.post("/repository/models/nothing/unload", null, "", 404, "error");
    }

    @Test
    void clientsCannotSetTheLocationOfAModel() throws Exception {
        for (String parameter : List.of("config", "file:1/model.vmfb")) {
            JsonNode refused = client.post(
                    "/repository/models/later/load",
                    "{\"parameters\": {\"%s\": \"{}\"}}".formatted(parameter),
                    "repository-request",
                    501,
                    "error");
            assertThat(refused.get("error").stringValue())
                    .isEqualTo("parameter '%s' is not supported; models are loaded as they are configured"
                            .formatted(parameter));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        /** Functions that return their inputs. */
        @Bean
        IreeModuleCustomizer values(IreeRuntime runtime) {
            return (name, options) -> {
                if (!name.equals("values")) {
                    return;
                }
                NativeModule.Builder<IreeRuntime> module = NativeModule.builder("values", 1, () -> runtime);
                datatypes().forEach(datatype -> {
                    String type = (String) datatype.get()[0];
                    module.function("echo_" + type, "0r_r", (state, call) -> call.returnRef(copy(state, call)))
                            .attribute(
                                    "iree.abi.declaration",
                                    "sync func @echo_%s(%%x: tensor<?x%s>) -> (%%y: tensor<?x%s>)"
                                            .formatted(type, type, type));
                });
                texts(module, "text", "%text_input: tensor<?xi8>", "%text_output: tensor<?xi8>");
                texts(module, "words", "%words_in: tensor<?x8xui8>", "%words_out: tensor<?x8xui8>");
                texts(module, "any", "%any_in: tensor<?x?xsi8>", "%any_out: tensor<?x?xsi8>");
                module.function("pair", "0rr_rr", (state, call) -> {
                            call.returnRef(copy(state, call));
                            call.returnRef(copy(state, call));
                        })
                        .attribute(
                                "iree.abi.declaration",
                                "sync func @pair(%a: tensor<?x2xf32>, %b: tensor<?xi32>) -> (%c: tensor<?x2xf32>, %d: tensor<?xi32>)");
                options.module(module.build());
            };
        }

        private static void texts(NativeModule.Builder<IreeRuntime> module, String name, String in, String out) {
            module.function(name, "0r_r", (state, call) -> call.returnRef(copy(state, call)))
                    .attribute("iree.abi.declaration", "sync func @%s(%s) -> (%s)".formatted(name, in, out));
        }

        private static BufferView copy(IreeRuntime runtime, VmCall call) {
            BufferView in = call.required(BufferView.class);
            Buffer buffer = runtime.device().allocator().allocate(BufferParams.DEFAULT, Math.max(1, in.byteLength()));
            try {
                if (in.byteLength() > 0) {
                    buffer.map(MemoryAccess.WRITE, 0, in.byteLength())
                            .copyFrom(in.buffer().map(MemoryAccess.READ, 0, in.byteLength()));
                }
                return BufferView.create(buffer, in.shape(), in.elementType(), in.encoding());
            } finally {
                buffer.release();
            }
        }
    }
}
