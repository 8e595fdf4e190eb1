package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.http.RequestCounts.Work;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** More requests than are computed at once, with no end before the test's command. */
@SpringBootTest(
        classes = GateApplication.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "server.tomcat.threads.max=5",
            "iree.serving.enabled=true",
            "iree.serving.max-concurrent-requests=2",
            "iree.serving.max-wait=5m",
            "iree.serving.grpc.enabled=false",
            "iree.serving.functions.gate=pass",
            "iree.modules.gate.contexts=8",
            "iree.http.max-concurrent-bodies=100",
        })
@Timeout(300)
class OverloadTests {

    private static final int MANY = 40;

    @TempDir
    private static Path directory;

    @LocalServerPort
    private int port;

    @Autowired
    private IreeRuntime runtime;

    @Autowired
    private Programs programs;

    @Autowired
    private BodyLimits limits;

    @Autowired
    private GateApplication application;

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        GateApplication.locate(registry, directory);
    }

    @AfterEach
    void nothingIsLeft() {
        application.gate.release(MANY);
        while (runtime.monitor().leaks().openTensors() != 0
                || limits.inFlight() != 0
                || programs.activeCalls() != 0
                || limits.counts().underWay(Work.HTTP) != 0
                || limits.counts().underWay(Work.HTTP_WAITING) != 0) {
            assertThat(Thread.currentThread().isInterrupted())
                    .as("by the timeout")
                    .isFalse();
            Poll.pause();
        }
        application.gate.drainPermits();
    }

    private void await(int computed, int waiting) {
        while (limits.counts().underWay(Work.HTTP) != computed
                || limits.counts().underWay(Work.HTTP_WAITING) != waiting) {
            assertThat(Thread.currentThread().isInterrupted())
                    .as("by the timeout")
                    .isFalse();
            Poll.pause();
        }
    }

    private CompletableFuture<HttpResponse<String>> send(String parameters) {
        return http.sendAsync(
                request("{'name': 'x', 'shape': [], 'datatype': 'INT32', 'data': [7]}", parameters)
                        .build(),
                BodyHandlers.ofString());
    }

    HttpRequest.Builder request(String input, String parameters) {
        return HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/v2/models/gate/infer"))
                .POST(BodyPublishers.ofString(
                        "{'inputs': [%s]%s}".formatted(input, parameters).replace('\'', '"')));
    }

    @Test
    void requestsWaitWithoutAThreadAndAreServedInTheirTurn() throws Exception {
        List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            answers.add(send(""));
        }
        await(2, MANY - 2);
        while (application.most.get() < 2) { // both are in the function
            assertThat(Thread.currentThread().isInterrupted())
                    .as("by the timeout")
                    .isFalse();
            Poll.pause();
        }
        HttpRequest alive = HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/v2/health/live"))
                .build();
        assertThat(http.send(alive, BodyHandlers.ofString()).statusCode()).isEqualTo(200);
        application.gate.release(MANY);
        for (CompletableFuture<HttpResponse<String>> each : answers) {
            assertThat(each.get(1, TimeUnit.MINUTES).statusCode()).isEqualTo(200);
            assertThat(each.get().body()).contains("\"data\":[7]");
        }
        assertThat(application.most).hasValue(2);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'name': 'x', 'shape': [2], 'datatype': 'INT32', 'data': [1, 2]}",
                "{'name': 'x', 'shape': [], 'datatype': 'FP32', 'data': [1]}",
                "{'name': 'y', 'shape': [], 'datatype': 'INT32', 'data': [1]}",
            })
    void uncallableRequestsTakeNoPlace(String input) throws Exception {
        for (int i = 0; i < 10; i++) {
            assertThat(http.send(request(input, "").build(), BodyHandlers.ofString())
                            .statusCode())
                    .isEqualTo(400);
        }
        await(0, 0);
    }

    @Test
    void theTimeOfARequestIncludesItsTimeInLine() throws Exception {
        send("");
        send("");
        await(2, 0);
        HttpResponse<String> late = send(", 'parameters': {'timeout': 20000}").get(1, TimeUnit.MINUTES);
        assertThat(late.statusCode()).as(late.body()).isIn(429, 504); // 429 if known to be too short
        assertThat(limits.counts().underWay(Work.HTTP_WAITING)).isZero();
    }
}
