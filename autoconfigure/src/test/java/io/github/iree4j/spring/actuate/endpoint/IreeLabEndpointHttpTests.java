package io.github.iree4j.spring.actuate.endpoint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.context.annotation.Configuration;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@SpringBootTest(
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {"iree.console.enabled=true", "management.endpoints.web.exposure.include=ireelab"})
@Timeout(900)
class IreeLabEndpointHttpTests {

    @Value("${local.server.port}")
    private int port;

    private HttpResponse<String> get(String path) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(
                    HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/actuator/ireelab" + path))
                            .build(),
                    BodyHandlers.ofString());
        }
    }

    private JsonNode json(String path) throws Exception {
        HttpResponse<String> answer = get(path);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        assertThat(answer.headers().firstValue("Content-Type"))
                .hasValueSatisfying(type -> assertThat(type).endsWith("json"));
        return JsonMapper.shared().readTree(answer.body());
    }

    @Test
    void runsEveryListedScenario() throws Exception {
        JsonNode scenarios = json("").get("scenarios");
        assertThat(scenarios.size()).isGreaterThanOrEqualTo(14);
        for (JsonNode each : scenarios) {
            JsonNode run = json("/" + each.get("id").stringValue());
            assertThat(run.get("ops").size()).isPositive();
            assertThat(run.get("violations").size()).isZero();
        }
    }

    @Test
    void scalesTheScenario() throws Exception {
        JsonNode run = json("/fork-join?width=4&depth=8&lanes=4");
        assertThat(run.get("ops").size()).isEqualTo(4 * 8 * 4);
        assertThat(json("/independent?lanes=2").get("finalTick").intValue())
                .isLessThan(json("/independent?lanes=1").get("finalTick").intValue());
    }

    @Test
    void faultsFailTheirDependents() throws Exception {
        JsonNode run = json("/fork-join?fault=fail:branch_a");
        assertThat(run.get("ops")
                        .valueStream()
                        .filter(op -> op.has("failure"))
                        .map(op -> op.get("id").stringValue()))
                .containsExactly("branch_a", "merge");
    }

    @Test
    void faultsNameIdsWithCommas() throws Exception {
        String scenario =
                own("id: odd\nhardware: [{id: \"a,b@1\"}]\noperations:\n  - {id: x, hw: \"a,b@1\", duration: 3}\n");
        JsonNode run = json(scenario + "&fault=lose:a,b@1@2,slow:a,b@1*3@0");
        assertThat(run.get("ops").get(0).get("failure").stringValue()).contains("hardware 'a,b@1' was lost at tick 2");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/fork-join?width=0 | [1, 4]",
                "/fork-join?width=5 | [1, 4]",
                "/fork-join?depth=9 | [1, 8]",
                "/fork-join?lanes=1000000000 | [0, 4]",
                "/fork-join?fault=burn:gpu | lose",
                "/fork-join?fault=lose:moon | moon"
            })
    void refusesValuesOutOfRangeWithTheLimits(String path, String limit) throws Exception {
        HttpResponse<String> answer = get(path);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(400);
        assertThat(JsonMapper.shared().readTree(answer.body()).get("detail").stringValue())
                .contains(limit);
    }

    @Test
    void comparesThreeWays() throws Exception {
        JsonNode ways = json("/fork-join/ways?lanes=2");
        for (String way : new String[] {"events", "timelines", "frontiers"}) {
            assertThat(ways.get("costs").get(way).get("makespan").longValue() + 1)
                    .isEqualTo(ways.get("runs").get(way).get("finalTick").longValue());
        }
        assertThat(get("/fork-join/weather").statusCode()).isEqualTo(404);
        assertThat(get("/weather/ways").statusCode()).isEqualTo(404);
        assertThat(get("/fork-join/ways?delay=101").statusCode()).isEqualTo(400);
    }

    @Test
    void refusesTextsOfNoNumberAndManyFaults() throws Exception {
        assertThat(get("/fork-join?width=wide").statusCode()).isEqualTo(400);
        HttpResponse<String> many = get("/fork-join?fault=" + "lose:gpu,".repeat(16) + "lose:gpu");
        assertThat(many.statusCode()).isEqualTo(400);
        assertThat(many.body()).contains("at most 16 faults");
        String odd = URLEncoder.encode("lose:\"\\\n\u0001", StandardCharsets.UTF_8);
        assertThat(JsonMapper.shared()
                        .readTree(get("/fork-join?fault=" + odd).body())
                        .has("detail"))
                .isTrue();
    }

    private static String own(String text) {
        return "/own?text=" + Base64.getUrlEncoder().withoutPadding().encodeToString(deflate(text.getBytes(UTF_8)));
    }

    private static byte[] deflate(byte[] bytes) {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        Deflater deflater = new Deflater(Deflater.BEST_COMPRESSION, true);
        try (DeflaterOutputStream out = new DeflaterOutputStream(packed, deflater)) {
            out.write(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            deflater.end();
        }
        return packed.toByteArray();
    }

    private static final String HEAD = "id: mine\nhardware: [{id: gpu, machine: box}]\nsemaphores: [s]\noperations:\n";

    @Test
    void runsAScenarioBroughtByTheRequest() throws Exception {
        String scenario = own(HEAD + "  - {id: a, hw: gpu, duration: 2, signal: {s: 1}}\n"
                + "  - {id: b, hw: gpu, duration: 3, wait: {s: 1}, signal: {s: 2}}\nchain_through: [s]\n");
        JsonNode run = json(scenario);
        assertThat(run.get("id").stringValue()).isEqualTo("mine");
        assertThat(run.get("finalTick").intValue()).isEqualTo(6);
        assertThat(json(scenario + "&width=2&depth=3").get("ops").size()).isEqualTo(12);
        JsonNode killed = json(scenario + "&fault=kill:box@3");
        assertThat(killed.get("ops").get(1).get("hit").booleanValue()).isTrue();
        assertThat(killed.get("ops").get(1).get("failure").stringValue())
                .contains("machine 'box' was killed at tick 3");
        assertThat(json(scenario.replace("/own?", "/own/ways?")).get("costs").size())
                .isPositive();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "[]",
                "a: &a [x]\nb: *a\n",
                "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nd: [*c,*c]\n",
                "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
                "id: mine\nextra: 1\n",
                "!!javax.script.ScriptEngineManager [x]",
                HEAD + "  - {id: a, hw: gpu, duration: -1}\n",
                HEAD + "  - {id: a, hw: gpu, duration: .nan}\n",
                HEAD + "  - {id: a, hw: gpu, duration: 1e9}\n",
                HEAD + "  - {id: a, hw: gpu, duration: 99999999999999999999}\n",
                HEAD + "  - {id: a, hw: gpu}\n  - {id: a, hw: gpu}\n",
                HEAD + "  - {id: a, hw: gpu, wait: {s: 1}}\n",
                HEAD
                        + "  - {id: a, hw: gpu, wait: {s: 2}, signal: {s: 1}}\n  - {id: b, hw: gpu, wait: {s: 1}, signal: {s: 2}}\n",
                "id: mine\nhardware: [{id: gpu, machine: gpu}]\nsemaphores: []\noperations: [{id: a, hw: gpu}]\n",
                "id: mine\nhardware: [{id: gpu, lanes: 1000000000}]\nsemaphores: []\noperations: [{id: a, hw: gpu}]\n"
            })
    void refusesTextsOfNoScenarioWithTheReason(String text) throws Exception {
        HttpResponse<String> answer = get(own(text));
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(400);
        assertThat(JsonMapper.shared().readTree(answer.body()).get("detail").stringValue())
                .hasSizeGreaterThan(15);
    }

    @Test
    void refusesBytesOfNoDeflateStream() throws Exception {
        assertThat(get("/own").body()).contains("parameter 'text' is missing");
        assertThat(get("/own?text=").statusCode()).isEqualTo(400);
        assertThat(get("/own?text=%25%25").body()).contains("not Base64 for URLs");
        assertThat(get("/own?text=AAAA").body()).contains("not a deflate stream");
        byte[] notText = deflate(new byte[] {(byte) 0xFF, (byte) 0xFE, (byte) 0xC0});
        assertThat(get("/own?text=" + Base64.getUrlEncoder().encodeToString(notText))
                        .body())
                .contains("not a deflate stream of UTF-8");
        byte[] whole = deflate(HEAD.repeat(50).getBytes(UTF_8));
        String half = Base64.getUrlEncoder().encodeToString(Arrays.copyOf(whole, whole.length / 2));
        assertThat(get("/own?text=" + half).statusCode()).isEqualTo(400);
    }

    /** 32 MiB of spaces and then of nesting, packed into some kilobytes of address. */
    @Test
    void readsNoMoreThanTheLimitOfExpandingBytes() throws Exception {
        for (String each : new String[] {" ", "- ", "[", "a: {"}) {
            HttpResponse<String> answer = get(own(each.repeat((4 << 20) / each.length())));
            assertThat(answer.statusCode()).isEqualTo(400);
            assertThat(answer.body()).contains("more than 65536 bytes");
        }
    }

    @Test
    void boundsTheCostOfARequest() throws Exception {
        StringBuilder many = new StringBuilder(HEAD);
        for (int i = 0; i < 1200; i++) {
            many.append("  - {id: o").append(i).append(", hw: gpu}\n");
        }
        assertThat(json(own(many.toString()) + "&width=3").get("ops").size()).isEqualTo(3600);
        assertThat(get(own(many.toString()) + "&width=4").body())
                .contains("4800 operations on 1 lanes are more than 4096");
        StringBuilder wide = new StringBuilder("id: mine\nplacement: queues\nsemaphores: []\nhardware:\n");
        for (int i = 0; i < 17; i++) {
            wide.append("  - {id: h").append(i).append(", lanes: 64}\n");
        }
        assertThat(get(own(wide + "operations: [{id: a, hw: h0}]\n")).body()).contains("1 operations on 1088 lanes");
    }

    /** More requests at once than run at once: each gets an answer. */
    @Test
    void manyClientsTakeTurns() throws Exception {
        try (ExecutorService clients = Executors.newFixedThreadPool(16)) {
            List<Future<Integer>> answers = new ArrayList<>();
            for (int i = 0; i < 48; i++) {
                answers.add(clients.submit(() -> get("/multi-model?width=4").statusCode()));
            }
            for (Future<Integer> each : answers) {
                assertThat(each.get()).isIn(200, 503);
            }
        }
    }

    @Test
    void recordsNeedARecorder() throws Exception {
        HttpResponse<String> answer = get("/recorded?recorder=2026-11-23T02:00:00Z&since=0&until=10");
        assertThat(answer.statusCode()).isEqualTo(404);
        assertThat(answer.body()).contains("iree.recorder.enabled=true");
    }

    @Test
    void unknownScenariosAreNotFound() throws Exception {
        assertThat(get("/weather").statusCode()).isEqualTo(404);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
