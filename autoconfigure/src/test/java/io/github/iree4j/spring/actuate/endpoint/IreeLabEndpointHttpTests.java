package io.github.iree4j.spring.actuate.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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
    void runsEveryScenarioThatItLists() throws Exception {
        JsonNode scenarios = json("").get("scenarios");
        assertThat(scenarios.size()).isGreaterThanOrEqualTo(14);
        for (JsonNode each : scenarios) {
            JsonNode run = json("/" + each.get("id").stringValue());
            assertThat(run.get("ops").size()).isPositive();
            assertThat(run.get("violations").size()).isZero();
        }
    }

    @Test
    void scalesWhatItRuns() throws Exception {
        JsonNode run = json("/fork-join?width=4&depth=8&lanes=4");
        assertThat(run.get("ops").size()).isEqualTo(4 * 8 * 4);
        assertThat(json("/independent?lanes=2").get("finalTick").intValue())
                .isLessThan(json("/independent?lanes=1").get("finalTick").intValue());
    }

    @Test
    void faultsFailWhatFollowsThem() throws Exception {
        JsonNode run = json("/fork-join?fault=fail:branch_a");
        assertThat(run.get("ops")
                        .valueStream()
                        .filter(op -> op.has("failure"))
                        .map(op -> op.get("id").stringValue()))
                .containsExactly("branch_a", "merge");
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
    void refusesWhatIsOutOfRangeWithTheLimits(String path, String limit) throws Exception {
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
    void refusesWhatIsNoNumberAndManyFaults() throws Exception {
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

    @Test
    void unknownScenariosAreNotFound() throws Exception {
        assertThat(get("/weather").statusCode()).isEqualTo(404);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
