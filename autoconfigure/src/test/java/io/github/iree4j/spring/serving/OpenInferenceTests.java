package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.http.LimitedBody;
import io.github.iree4j.status.IreeException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
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
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
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
 * The protocol over real HTTP, with a client written from its public text; {@link #checked} checks the requirements on
 * responses.
 */
@SpringBootTest(
        classes = OpenInferenceTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "iree.serving.enabled=true",
            "iree.http.max-request-size=64KB",
            "iree.serving.functions.adder=add",
            "iree.serving.repository=true",
        })
@Timeout(600)
class OpenInferenceTests {

    private static final String ADD = """
            {"inputs": [{"name": "input0", "shape": [4], "datatype": "FP32", "data": [1, 2, 3, 4]},
                        {"name": "input1", "shape": [4], "datatype": "FP32", "data": [10, 20, 30, 40]}]}""";

    @LocalServerPort
    private int port;

    @TempDir
    private static Path directory;

    @Autowired
    private Programs programs;

    @Autowired
    private IreeRuntime runtime;

    private final HttpClient http = HttpClient.newHttpClient();
    private final JsonMapper json = JsonMapper.shared();

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        registry.add("iree.modules.add.location", () -> fixture("3.11.0/cpu/add.vmfb"));
        registry.add("iree.modules.sum.location", () -> fixture("3.11.0/cpu/add.vmfb"));
        registry.add("iree.modules.sum.versions.2.location", () -> fixture("3.13.0/cpu/add.vmfb"));
        registry.add("iree.modules.mul.location", () -> fixture("3.11.0/vmvx/simple_mul.vmfb"));
        registry.add("iree.modules.adder.location", () -> adder().toString());
        registry.add("iree.modules.twofold.location", () -> twofold().toString());
    }

    private static Path adder() {
        try {
            return TestModules.adder(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path twofold() {
        try {
            return TestModules.twofold(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String fixture(String name) {
        return TestModules.fixture(name).toString();
    }

    @AfterEach
    void requestsLeaveNothingOpen() {
        while (runtime.leakReport().openTensors()
                != 0) { // the client may receive its response before the server has cleaned up
            Thread.onSpinWait();
        }
    }

    // A client.

    private HttpResponse<byte[]> send(HttpRequest.Builder request) throws Exception {
        return http.send(request.build(), BodyHandlers.ofByteArray());
    }

    private HttpRequest.Builder to(String path) {
        return HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/v2" + path));
    }

    private JsonNode get(String path) throws Exception {
        HttpResponse<byte[]> response = send(to(path));
        assertThat(response.statusCode()).isEqualTo(200);
        return json.readTree(response.body());
    }

    private HttpResponse<byte[]> post(String path, String body) throws Exception {
        return send(to(path).header("Content-Type", "application/json").POST(BodyPublishers.ofString(body)));
    }

    private JsonNode infer(String model, String body) throws Exception {
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
    private JsonNode checked(HttpResponse<byte[]> response) {
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

    private static float[] floats(JsonNode data) {
        float[] values = new float[data.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = data.get(i).floatValue();
        }
        return values;
    }

    private String error(HttpResponse<byte[]> response) {
        JsonNode answer = json.readTree(response.body());
        assertThat(answer.propertyNames()).containsExactly("error");
        return answer.get("error").stringValue();
    }

    private static BodyPublisher binary(String header, float[]... contents) {
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

    // Responses.

    @Test
    void reportsLiveAndReady() throws Exception {
        assertThat(get("/health/live").get("live").booleanValue()).isTrue();
        assertThat(get("/health/ready").get("ready").booleanValue()).isTrue();
        assertThat(get("/models/mul/ready").get("ready").booleanValue()).isTrue();
        assertThat(send(to("/models/nothing/ready")).statusCode()).isEqualTo(404);
        assertThat(send(to("/models/mul.nothing/ready")).statusCode()).isEqualTo(404);
        assertThat(send(to("/models/mul.simple_mul/ready")).statusCode()).isEqualTo(200);
    }

    @Test
    void reportsServerMetadata() throws Exception {
        JsonNode server = get("");
        assertThat(server.get("name").stringValue()).isEqualTo("iree4j");
        assertThat(server.get("extensions").get(0).stringValue()).isEqualTo("binary_tensor_data");
    }

    @Test
    void metadataComesFromReflection() throws Exception {
        assertThat(get("/models/mul").toString()).isEqualTo("""
                        {"name":"mul","versions":["1"],"platform":"iree_vmfb",\
                        "inputs":[{"name":"input0","datatype":"FP32","shape":[100]},\
                        {"name":"input1","datatype":"FP32","shape":[100]}],\
                        "outputs":[{"name":"output0","datatype":"FP32","shape":[100]}]}""");
    }

    @Test
    void infersFromJson() throws Exception {
        JsonNode answer = infer("add", ADD.replaceFirst("\\{", "{\"id\": \"seven\", "));
        assertThat(answer.get("id").stringValue()).isEqualTo("seven");
        assertThat(answer.get("model_version").stringValue()).isEqualTo("1");
        assertThat(floats(answer.get("outputs").get(0).get("data"))).containsExactly(11, 22, 33, 44);
    }

    @Test
    void membersAndInputsComeInAnyOrder() throws Exception {
        JsonNode answer = infer("add", """
                {"outputs": [{"name": "output0"}], "parameters": {"unknown": {"a": [1]}}, "unknown": [{}],
                 "inputs": [{"data": [1, 1, 1, 1], "datatype": "FP32", "name": "input1", "shape": [4]},
                            {"shape": [4], "datatype": "FP32", "data": [1, 2, 3, 4], "name": "input0"}]}""");
        assertThat(floats(answer.get("outputs").get(0).get("data"))).containsExactly(2, 3, 4, 5);
    }

    @Test
    void infersFromAndToBinaryData() throws Exception {
        String header = """
                {"inputs": [{"name": "input1", "shape": [4], "datatype": "FP32", "parameters": {"binary_data_size": 16}},
                            {"name": "input0", "shape": [4], "datatype": "FP32", "parameters": {"binary_data_size": 16}}],
                 "outputs": [{"name": "output0", "parameters": {"binary_data": true}}]}""";
        HttpResponse<byte[]> response = send(to("/models/add/infer")
                .header("Inference-Header-Content-Length", Integer.toString(header.length()))
                .header("Content-Type", "application/octet-stream")
                .POST(binary(header, new float[] {10, 20, 30, 40}, new float[] {1, 2, 3, 4})));
        assertThat(response.statusCode()).isEqualTo(200);
        JsonNode answer = checked(response);
        assertThat(answer.get("outputs")
                        .get(0)
                        .get("parameters")
                        .get("binary_data_size")
                        .intValue())
                .isEqualTo(16);
        ByteBuffer contents = ByteBuffer.wrap(response.body()).order(ByteOrder.LITTLE_ENDIAN);
        contents.position(response.body().length - 16);
        assertThat(new float[] {contents.getFloat(), contents.getFloat(), contents.getFloat(), contents.getFloat()})
                .containsExactly(11, 22, 33, 44);
    }

    @Test
    void allOutputsMayBeRequestedInBinary() throws Exception {
        HttpResponse<byte[]> response = post(
                "/models/add/infer",
                ADD.replaceFirst("\\{", "{\"parameters\": {\"binary_data_output\": true, \"timeout\": 60000000}, "));
        assertThat(response.headers().firstValue("Content-Type")).hasValue("application/octet-stream");
        checked(response);
    }

    @Test
    void primitivesAreTensorsOfOneElement() throws Exception {
        infer("adder.add", """
                {"inputs": [{"name": "input0", "shape": [], "datatype": "INT32", "data": [1]},
                            {"name": "input1", "shape": [1, 1], "datatype": "INT8", "data": [[2]]}]}""");
        JsonNode answer = infer("adder", """
                {"inputs": [{"name": "input0", "shape": [1], "datatype": "INT32", "data": [40]},
                            {"name": "input1", "shape": [1], "datatype": "INT64", "data": [2]}]}""");
        assertThat(answer.get("outputs").get(0).toString())
                .isEqualTo("{\"name\":\"output0\",\"datatype\":\"INT32\",\"shape\":[1],\"data\":[42]}");
    }

    @Test
    void functionWithAnAsyncTwinIsOneModel() throws Exception {
        assertThat(get("/models/twofold").get("inputs").size()).isEqualTo(1);
        JsonNode answer = infer("twofold", """
                {"inputs": [{"name": "input0", "shape": [1], "datatype": "INT32", "data": [21]}]}""");
        assertThat(answer.get("outputs").get(0).get("data").toString()).isEqualTo("[42]");
        assertThat(programs.require("twofold", null).program().functions())
                .map(ProgramFunction::name)
                .containsExactly("main");
        assertThat(get("/models/twofold.main").get("name").stringValue()).isEqualTo("twofold.main");
        HttpResponse<byte[]> twin = post("/models/twofold.main$async/infer", ADD);
        assertThat(twin.statusCode()).isEqualTo(404);
        assertThat(error(twin))
                .isEqualTo("function 'main$async' of model 'twofold' is 'main' with fences; ask for 'twofold.main'");
    }

    @Test
    void latestLoadedVersionAnswersByDefault() throws Exception {
        assertThat(infer("sum", ADD).get("model_version").stringValue()).isEqualTo("2");
        assertThat(infer("sum/versions/1", ADD).get("model_version").stringValue())
                .isEqualTo("1");
        assertThat(get("/models/sum").get("versions").toString()).isEqualTo("[\"1\",\"2\"]");
        HttpResponse<byte[]> none = post("/models/sum/versions/3/infer", ADD);
        assertThat(none.statusCode()).isEqualTo(404);
        assertThat(error(none)).isEqualTo("model 'sum' has no version '3'; it has [1, 2]");
    }

    @ParameterizedTest
    @ValueSource(strings = {"adder.", "adder..", "adder.nothing", "adder.add.", "nothing."})
    void guessedNamesTellNoOthers(String model) throws Exception {
        String expected = "there is no model '%s'".formatted(model);
        for (String path : new String[] {"/models/" + model, "/models/%s/config".formatted(model)}) {
            HttpResponse<byte[]> response = send(to(path));
            assertThat(response.statusCode()).isEqualTo(404);
            assertThat(error(response)).isEqualTo(expected);
        }
        assertThat(error(post("/models/%s/infer".formatted(model), ADD))).isEqualTo(expected);
    }

    @Test
    void servedModelsFollowLoadedPrograms() throws Exception {
        assertThat(post("/models/fresh/infer", ADD).statusCode()).isEqualTo(404);
        programs.load(ProgramSource.of("fresh", "file:" + fixture("3.11.0/cpu/add.vmfb")));
        infer("fresh", ADD);
        programs.unload("fresh");
        assertThat(error(post("/models/fresh/infer", ADD))).contains("there is no model 'fresh'");
    }

    @Test
    void clientsUnloadAndLoadModelsWhenEnabled() throws Exception {
        assertThat(post("/repository/models/mul/unload", "").statusCode()).isEqualTo(200);
        assertThat(send(to("/models/mul/ready")).statusCode()).isEqualTo(503);
        HttpResponse<byte[]> index = post("/repository/index", "");
        assertThat(json.readTree(index.body()).findValuesAsString("state")).contains("UNAVAILABLE", "READY");
        assertThat(post("/repository/models/mul/load", "").statusCode()).isEqualTo(200);
        assertThat(send(to("/models/mul/ready")).statusCode()).isEqualTo(200);
        HttpResponse<byte[]> unknown = post("/repository/models/nothing/load", "");
        assertThat(unknown.statusCode()).isEqualTo(404);
        assertThat(error(unknown)).contains("'nothing'");
    }

    /** What pages of other sites can have a browser send without asking the server. */
    @ParameterizedTest
    @CsvSource({
        "Origin,         https://elsewhere.example, text/plain",
        "Origin,         https://elsewhere.example,",
        "Origin,         null,                      text/plain;charset=application/json",
        "Sec-Fetch-Site, cross-site,                text/plain",
        "Sec-Fetch-Site, same-site,",
        "User-Agent,     of an old browser,         application/x-www-form-urlencoded",
    })
    void pagesOfOtherSitesDoNotUnloadModels(String header, String value, @Nullable String type) throws Exception {
        for (String path : List.of("/models/mul/unload", "/models/mul/load", "/index")) {
            HttpRequest.Builder request =
                    to("/repository" + path).header(header, value).POST(BodyPublishers.noBody());
            if (type != null) {
                request.header("Content-Type", type);
            }
            HttpResponse<byte[]> refused = send(request);
            assertThat(refused.statusCode()).isEqualTo(415);
            assertThat(error(refused)).contains("'Content-Type: application/json'");
        }
        assertThat(send(to("/models/mul/ready")).statusCode()).isEqualTo(200);
    }

    /** Of its own site, for which the browser sends JSON, and what no browser sends. */
    @ParameterizedTest
    @CsvSource({
        "Origin,         http://localhost, Application/JSON ;charset=utf-8",
        "Sec-Fetch-Site, same-origin,      application/json",
        "User-Agent,     aiohttp,          text/plain; charset=utf-8", // tritonclient.http.aio
        "User-Agent,     geventhttp,", // tritonclient.http
    })
    void pagesOfItsOwnSiteAndClientsUseTheRepository(String header, String value, @Nullable String type)
            throws Exception {
        HttpRequest.Builder request =
                to("/repository/models/mul/load").header(header, value).POST(BodyPublishers.ofString("{}"));
        if (type != null) {
            request.header("Content-Type", type);
        }
        assertThat(send(request).statusCode()).isEqualTo(200);
    }

    @Test
    void clientsThatGuessNamesLearnNone() throws Exception {
        for (String path :
                List.of("/models/guess/infer", "/models/guess.add/infer", "/models/guess/versions/2/infer")) {
            assertThat(error(post(path, ADD))).contains("guess").doesNotContain("sum", "adder", "twofold");
        }
        for (String path : List.of("/repository/models/guess/load", "/repository/models/guess/unload")) {
            assertThat(error(post(path, ""))).isEqualTo("there is no program 'guess'");
        }
        assertThatExceptionOfType(IreeException.class) // developers do
                .isThrownBy(() -> programs.function("guess.add"))
                .withMessageContaining("adder, mul, sum");
    }

    @Test
    void clientThatDisconnectsDuringItsBodyLeavesNothingOpen() throws Exception {
        String header =
                "{\"inputs\": [{\"name\": \"input0\", \"shape\": [4], \"datatype\": \"FP32\", \"parameters\": {\"binary_data_size\": 16}}]}";
        long before = runtime.leakReport().bytesLive();
        for (int i = 0; i < 10; i++) {
            try (Socket socket = new Socket("localhost", port)) {
                socket.getOutputStream()
                        .write(
                                "POST /v2/models/add/infer HTTP/1.1\r\nHost: localhost\r\nInference-Header-Content-Length: %d\r\nContent-Length: %d\r\n\r\n%sabc"
                                        .formatted(header.length(), header.length() + 16, header)
                                        .getBytes(StandardCharsets.US_ASCII));
            }
        }
        while (runtime.leakReport().bytesLive() != before
                || runtime.leakReport().openTensors() != 0) {
            Thread.onSpinWait(); // the class's timeout fails leaks
        }
        infer("add", ADD);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "seven | the body is not JSON (line 1, column",
                "[] | the request must be an object",
                "{} | 'inputs' is missing; it must name [input0, input1]",
                "{\"inputs\": 1} | 'inputs' must be an array",
                "{\"inputs\": []} | input 'input0' (tensor<4xf32>) is missing",
                "{\"inputs\": [{\"name\": \"x\"}]} | there is no input 'x'; the inputs are [input0, input1]",
                "{\"inputs\": [{\"name\": \"input0\"}]} | input 'input0' has no 'shape'",
                "{\"inputs\": [{\"name\": \"input0\", \"shape\": [4]}]} | input 'input0' has no 'datatype'",
                "{\"inputs\": [{\"datatype\": \"FP7\"}]} | datatype 'FP7' is not supported; there are [BOOL",
                "{\"inputs\": [{\"shape\": [-4]}]} | dimension 0 of 'shape' must be an integer, at least 0",
                "{\"inputs\": [{\"name\": \"input0\", \"shape\": [4], \"datatype\": \"FP32\"}]} | neither 'data' nor",
                "{\"inputs\": [{\"name\": \"input0\", \"shape\": [4], \"datatype\": \"FP32\", \"data\": [1, 2]}]} | has 2 elements, but shape [4] has 4",
                "{\"inputs\": [{\"name\": \"input0\", \"shape\": [2], \"datatype\": \"FP32\", \"data\": [1, 2, 3]}]} | more elements than shape [2]",
                "{\"inputs\": [{\"name\": \"input0\", \"shape\": [2], \"datatype\": \"FP32\", \"data\": [1, \"x\"]}]} | element 1 of 'data' of input 'input0', x, is not a valid FP32",
                "{\"inputs\": [{\"name\": \"input0\", \"shape\": [1], \"datatype\": \"INT8\", \"data\": [128]}]} | out of the range of INT8, -128 to 127",
                "{\"inputs\": [{\"name\": \"input0\", \"shape\": [1], \"datatype\": \"INT8\", \"data\": [1.5]}]} | is not a valid INT8",
                "{\"inputs\": [{\"name\": \"input0\", \"shape\": [2, 2], \"datatype\": \"FP32\", \"data\": [[1, 2], [3]]}]} | dimension 1 differs",
                "{\"inputs\": [{\"name\": \"input0\", \"shape\": [1000000000, 1000], \"datatype\": \"FP64\", \"data\": []}]} | has 0 elements, but shape [1000000000, 1000] has 1000000000000",
                "{\"inputs\": [{\"name\": \"input0\", \"shape\": [9000000000000000000, 9], \"datatype\": \"FP64\", \"data\": []}]} | shape",
                "{\"outputs\": [{\"name\": \"y\"}], \"inputs\": INPUTS} | there is no output 'y'; the outputs are [output0]",
                "{\"outputs\": [{\"name\": \"output0\", \"parameters\": {\"binary_data\": 1}}]} | must be true or false",
                "{\"parameters\": {\"timeout\": -1}} | 'timeout' must be a number of microseconds",
                "{\"parameters\": {\"timeout\": 1000000000000000000000000000000}} | 'timeout', 1000000000000000000000000000000, is out of range",
                "{\"inputs\": [{\"shape\": [-1000000000000000000000000000000]}]} | dimension 0 of 'shape', -100000",
                "{\"inputs\": INPUTS} x | the body is not JSON",
                "{\"inputs\": INPUTS} {} | unexpected data after the JSON",
            })
    void reportsInvalidRequests(String body, String message) throws Exception {
        HttpResponse<byte[]> response =
                post("/models/add/infer", body.replace("INPUTS", ADD.substring(ADD.indexOf('['), ADD.length() - 1)));
        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(error(response)).contains(message);
    }

    @Test
    void jsonThatEndsEarlyIsReportedWithItsEnd() throws Exception {
        String hundred = ADD.replace("[4]", "[100]"); // fewer bytes than elements
        for (int end = 1; end <= hundred.indexOf("4]}") + 1; end++) {
            String expected = "the JSON of the body ends early, at byte " + end;
            HttpResponse<byte[]> response = post("/models/add/infer", hundred.substring(0, end));
            assertThat(response.statusCode()).isEqualTo(400);
            assertThat(error(response)).isEqualTo(expected);
            if (end > 1) {
                HttpResponse<byte[]> shortHeader = send(to("/models/add/infer")
                        .header("Inference-Header-Content-Length", Integer.toString(end))
                        .POST(BodyPublishers.ofString(hundred)));
                assertThat(error(shortHeader)).isEqualTo(expected);
            }
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "0  | 16 | 'Inference-Header-Content-Length' is 0",
                "9999999999 | 16 | 'Inference-Header-Content-Length' is 9999999999, but the body has at most",
                "   | 15 | 'binary_data_size' 15, but FP32 of shape [4] takes 16 bytes",
                "   | 999999999999 | takes 16 bytes",
                "   | 1000000000000000000000000000000 | 'binary_data_size', 1000000000000000000000000000000, is out",
            })
    void reportsInvalidBinaryData(@Nullable String length, String size, String message) throws Exception {
        String header =
                "{\"inputs\": [{\"name\": \"input0\", \"shape\": [4], \"datatype\": \"FP32\", \"parameters\": {\"binary_data_size\": %s}}]}"
                        .formatted(size);
        HttpResponse<byte[]> response = send(to("/models/add/infer")
                .header("Inference-Header-Content-Length", length == null ? Integer.toString(header.length()) : length)
                .POST(binary(header, new float[4])));
        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(error(response)).contains(message);
    }

    @Test
    void contentsOfWrongLengthAreReported() throws Exception {
        String header =
                "{\"inputs\": [{\"name\": \"input0\", \"shape\": [4], \"datatype\": \"FP32\", \"parameters\": {\"binary_data_size\": 16}}]}";
        HttpResponse<byte[]> shorter = send(to("/models/add/infer")
                .header("Inference-Header-Content-Length", Integer.toString(header.length()))
                .POST(binary(header, new float[3])));
        assertThat(shorter.statusCode()).isEqualTo(400);
        assertThat(error(shorter)).isEqualTo("input 'input0' takes 16 bytes, but the body has at most 12 left");
        HttpResponse<byte[]> longer = send(to("/models/add/infer")
                .header("Inference-Header-Content-Length", Integer.toString(header.length()))
                .POST(binary(header, new float[5])));
        assertThat(error(longer)).startsWith("the body is longer than");
    }

    @Test
    void shapeMismatchIsReportedByTheProgram() throws Exception {
        HttpResponse<byte[]> response = post("/models/add/infer", ADD.replace("[4]", "[2, 2]"));
        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(error(response))
                .contains("'input0'")
                .contains("tensor<4xf32>")
                .contains("2x2xf32");
    }

    @Test
    void rejectsBodiesBeyondTheLimit() throws Exception {
        String expected =
                "the body of 65537 bytes is larger than 65536 bytes; send less, or raise 'iree.http.max-request-size'";
        HttpResponse<byte[]> said = post("/models/add/infer", " ".repeat(65537));
        assertThat(said.statusCode()).isEqualTo(413);
        assertThat(error(said)).isEqualTo(expected);
        byte[] unsaid = (" ".repeat(70_000) + ADD).getBytes(StandardCharsets.UTF_8);
        HttpResponse<byte[]> chunked = send(
                to("/models/add/infer").POST(BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(unsaid))));
        assertThat(chunked.statusCode()).isEqualTo(413);
        assertThat(error(chunked)).contains("without a length");
        long tooMany = 4L << 30;
        String told =
                "{\"inputs\": [{\"name\": \"input0\", \"shape\": [%d], \"datatype\": \"FP32\", \"parameters\": {\"binary_data_size\": %d}}]}"
                        .formatted(tooMany / 4, tooMany);
        HttpResponse<byte[]> contents = send(to("/models/add/infer")
                .header("Inference-Header-Content-Length", Integer.toString(told.length()))
                .POST(BodyPublishers.ofInputStream(
                        () -> new ByteArrayInputStream(told.getBytes(StandardCharsets.UTF_8)))));
        assertThat(error(contents)).contains("without a length");
        assertThat(contents.statusCode()).isEqualTo(413);
    }

    @Test
    void rejectsDeeplyNestedRequests() throws Exception {
        HttpResponse<byte[]> response = post("/models/add/infer", "{\"inputs\": " + "[".repeat(30_000));
        assertThat(response.statusCode()).isEqualTo(400);
        HttpResponse<byte[]> skipped = post("/models/add/infer", "{\"other\": " + "[".repeat(30_000));
        assertThat(skipped.statusCode()).isEqualTo(400);
        assertThat(error(skipped)).contains("exceeds a limit");
    }

    @Test
    void limitsOfJsonAreToldInNumbersOnly() throws Exception {
        Map<String, String> limits = Map.of(
                "{\"other\": " + "[".repeat(200),
                "document nesting depth (137) exceeds the maximum allowed (136)",
                "{\"other\": " + "1".repeat(600) + "}",
                "number value length (600) exceeds the maximum allowed (512)",
                ADD.replace("[1,", "[" + "1".repeat(600) + ","),
                "number value length (600) exceeds the maximum allowed (512)",
                "{\"" + "n".repeat(2000) + "\": 1}",
                "name length (2000) exceeds the maximum allowed (1024)");
        for (Map.Entry<String, String> each : limits.entrySet()) {
            HttpResponse<byte[]> response = post("/models/add/infer", each.getKey());
            assertThat(response.statusCode()).isEqualTo(400);
            assertThat(error(response)).contains(each.getValue()).doesNotContain("Stream", "`");
        }
    }

    @Test
    void largeRequestsToTheRepositoryAreTooLarge() throws Exception {
        HttpResponse<byte[]> response = post("/repository/models/add/load", " ".repeat(200_000));
        assertThat(response.statusCode()).isEqualTo(413);
        assertThat(error(response)).isEqualTo("the body is longer than 65536 bytes");
    }

    @Test
    void timeoutsAreMicroseconds() throws IOException {
        String body = ADD.replaceFirst("\\{", "{\"parameters\": {\"timeout\": 1500001}, ");
        Program program = programs.find("add").orElseThrow().program();
        try (LimitedBody in = new BodyLimits(1 << 20, Duration.ofMinutes(1), 1)
                        .receive(
                                new ByteArrayInputStream(body.getBytes(StandardCharsets.UTF_8)),
                                body.length(),
                                body.length(),
                                "");
                InferenceRequest request = new InferenceRequestReader(
                                program, program.function("add").arguments(), in)
                        .read(null)) {
            assertThat(request.timeout()).isEqualTo(Duration.ofNanos(1_500_001_000));
        }
    }

    @Test
    void mutatedRequestsAreAnsweredOrRejected() throws Exception {
        long seed = Long.getLong("iree4j.test.seed", 20261120);
        Random random = new Random(seed);
        byte[] good = ADD.getBytes(StandardCharsets.UTF_8);
        int requests = "brief".equals(System.getProperty("iree4j.test.effort")) ? 100 : 500;
        for (int i = 0; i < requests; i++) {
            byte[] bad = good.clone();
            for (int n = random.nextInt(4); n >= 0; n--) {
                bad[random.nextInt(bad.length)] = (byte) random.nextInt(128);
            }
            int length = random.nextInt(good.length + 1);
            HttpRequest.Builder request = to("/models/add/infer").POST(BodyPublishers.ofByteArray(bad));
            if (random.nextInt(3) == 0) {
                request.header("Inference-Header-Content-Length", Integer.toString(length));
            }
            assertThat(send(request).statusCode())
                    .as("seed %d, request %d", seed, i)
                    .isIn(200, 400, 501);
        }
    }

    @Test
    void concurrentRequestsKeepTheirOwnResults() throws Exception {
        List<CompletableFuture<HttpResponse<byte[]>>> futures = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            futures.add(http.sendAsync(
                    to("/models/add/infer")
                            .POST(BodyPublishers.ofString(ADD.replace("[1, 2, 3, 4]", "[%d, 2, 3, 4]".formatted(i))))
                            .build(),
                    BodyHandlers.ofByteArray()));
        }
        for (int i = 0; i < futures.size(); i++) {
            JsonNode answer = checked(futures.get(i).get(60, TimeUnit.SECONDS));
            assertThat(floats(answer.get("outputs").get(0).get("data"))).containsExactly(i + 10, 22, 33, 44);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
