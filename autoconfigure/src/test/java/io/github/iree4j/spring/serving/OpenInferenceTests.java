package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.Program;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.http.LimitedBody;
import io.github.iree4j.status.IreeException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.context.TestPropertySource;
import tools.jackson.databind.JsonNode;

/** Models, versions, names and inferences over real HTTP, and the repository of models. */
@TestPropertySource(properties = "iree.serving.functions.adder=add")
class OpenInferenceTests extends OpenInferenceServer {

    @TempDir
    private static Path directory;

    @DynamicPropertySource
    static void otherModules(DynamicPropertyRegistry registry) {
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

    private static float[] floats(JsonNode data) {
        float[] values = new float[data.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = data.get(i).floatValue();
        }
        return values;
    }

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
    void primitivesAreTensorsOfASingleElement() throws Exception {
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
    void functionWithAnAsyncTwinIsASingleModel() throws Exception {
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

    /** Requests that pages of other sites can have a browser send without asking the server. */
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

    /** Of the same site, with JSON from the browser, and requests that no browser sends. */
    @ParameterizedTest
    @CsvSource({
        "Origin,         http://localhost, Application/JSON ;charset=utf-8",
        "Sec-Fetch-Site, same-origin,      application/json",
        "User-Agent,     aiohttp,          text/plain; charset=utf-8", // tritonclient.http.aio
        "User-Agent,     geventhttp,", // tritonclient.http
    })
    void pagesOfTheSameSiteAndClientsUseTheRepository(String header, String value, @Nullable String type)
            throws Exception {
        HttpRequest.Builder request =
                to("/repository/models/mul/load").header(header, value).POST(BodyPublishers.ofString("{}"));
        if (type != null) {
            request.header("Content-Type", type);
        }
        assertThat(send(request).statusCode()).isEqualTo(200);
    }

    @Test
    void clientsGuessingNamesLearnNone() throws Exception {
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
}
