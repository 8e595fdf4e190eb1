package io.github.iree4j.spring.batching;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.spring.InvocationInterceptor;
import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.autoconfigure.IreeModuleCustomizer;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmCall;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Concurrent HTTP clients with batched requests. Batches wait on a manual clock, calls at a gate, and the test knows
 * the number of requests arrived, so batching does not depend on timing.
 */
@SpringBootTest(
        classes = BatchingOverHttpTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "iree.serving.enabled=true",
            "iree.serving.max-concurrent-requests=150",
            "iree.http.max-concurrent-bodies=150",
            "iree.serving.functions.rows=twice",
            "iree.modules.rows.batching.enabled=true",
            "iree.modules.rows.batching.max-size=16",
            "iree.modules.rows.batching.max-delay=10ms",
        })
@Timeout(600)
class BatchingOverHttpTests {

    private static final int MAX_SIZE = 16;
    private static final long MILLI = 1_000_000;

    @TempDir
    private static Path directory;

    @LocalServerPort
    private int port;

    @Autowired
    private IreeRuntime runtime;

    @Autowired
    private Programs programs;

    @Autowired
    private MeterRegistry meters;

    @Autowired
    private DynamicBatching batching;

    @Autowired
    private ManualTimer timer;

    @Autowired
    private Application application;

    private final HttpClient http = HttpClient.newHttpClient();

    private long bytesBefore;

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        // A module must have a file; its functions come from Java, see below.
        registry.add("iree.modules.rows.location", () -> {
            try {
                return TestModules.adder(directory).toString();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    @BeforeEach
    void begin() {
        meters.clear();
        bytesBefore = runtime.monitor().leaks().bytesLive();
        application.begin();
    }

    @AfterEach
    void nothingIsLeft() {
        application.gate.countDown();
        // A client may receive its response before the server's clean-up; the class's timeout fails leaks.
        while (runtime.monitor().leaks().openTensors() != 0
                || runtime.monitor().leaks().bytesLive() != bytesBefore
                || programs.activeCalls() != 0
                || batching.queueCount() != 0
                || timer.planned() != 0) {
            Poll.pause();
        }
    }

    // Clients.

    /** Sends rows of two numbers to be doubled; completes with the response. */
    private CompletableFuture<HttpResponse<String>> ask(float[] rows, long timeoutMillis) {
        String body = """
                {"inputs": [{"name": "x", "shape": [%d, 2], "datatype": "FP32", "data": %s}],
                 "parameters": {"timeout": %d}}""".formatted(rows.length / 2, Arrays.toString(rows), 1000 * timeoutMillis);
        return http.sendAsync(
                HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/v2/models/rows/infer"))
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString(body))
                        .build(),
                BodyHandlers.ofString());
    }

    private CompletableFuture<HttpResponse<String>> ask(float... rows) {
        return ask(rows, 0);
    }

    private static float[] answer(CompletableFuture<HttpResponse<String>> response) throws Exception {
        HttpResponse<String> answer = response.get(60, TimeUnit.SECONDS);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        JsonNode data = json(answer).required("outputs").get(0).required("data");
        float[] values = new float[data.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = data.get(i).floatValue();
        }
        return values;
    }

    private static JsonNode json(HttpResponse<String> answer) {
        return JsonMapper.shared().readTree(answer.body());
    }

    private static float[] doubled(float[] rows) {
        float[] twice = rows.clone();
        for (int i = 0; i < twice.length; i++) {
            twice[i] *= 2;
        }
        return twice;
    }

    private DistributionSummary batches() {
        return Objects.requireNonNull(
                meters.find("iree.batch.size").tag("module", "rows").summary());
    }

    // Tests.

    @Test
    void requestsWithinTheDelayAreASingleCall() throws Exception {
        application.gate.countDown();
        List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            answers.add(ask(i, -i));
        }
        application.awaitArrivals(12);
        timer.advance(10 * MILLI);
        for (int i = 0; i < 12; i++) {
            assertThat(answer(answers.get(i))).containsExactly(2 * i, -2 * i);
        }
        assertThat(batches().count()).isEqualTo(1);
        assertThat(batches().max()).isEqualTo(12);
    }

    @Test
    void underLoadBatchesAreFullAndEachClientGetsItsOwnRows() throws Exception {
        int clients = 120;
        List<float[]> questions = new ArrayList<>();
        List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            float[] rows = new float[2 * (1 + i % 3)];
            for (int j = 0; j < rows.length; j++) {
                rows[j] = 100 * i + j;
            }
            questions.add(rows);
            answers.add(ask(rows));
        }
        // The first batches are full and wait at the gate; meanwhile all other requests arrive.
        application.awaitArrivals(clients);
        timer.advance(10 * MILLI);
        application.gate.countDown();
        for (int i = 0; i < clients; i++) {
            assertThat(answer(answers.get(i))).as("answer of client " + i).containsExactly(doubled(questions.get(i)));
        }
        assertThat(batches().totalAmount()).as("rows in all").isEqualTo(240);
        assertThat(batches().max()).as("largest batch").isEqualTo(MAX_SIZE);
        // One row or two may not fit any more, so only the last has fewer than 14.
        assertThat(batches().count()).isBetween(240L / MAX_SIZE, 240L / 14 + 1);
    }

    @Test
    void deadlineOfAClientDoesNotAffectTheOthers() throws Exception {
        float[] full = new float[2 * MAX_SIZE];
        CompletableFuture<HttpResponse<String>> first = ask(full);
        CompletableFuture<HttpResponse<String>> second = ask(full);
        application.awaitArrivals(2); // the maximum number of batches is in flight
        CompletableFuture<HttpResponse<String>> hurried = ask(new float[] {1, 2}, 8);
        CompletableFuture<HttpResponse<String>> patient = ask(new float[] {3, 4}, 9000);
        CompletableFuture<HttpResponse<String>> without = ask(5, 6);
        application.awaitArrivals(5);
        timer.advance(8 * MILLI);
        HttpResponse<String> late = hurried.get(60, TimeUnit.SECONDS);
        assertThat(late.statusCode()).isEqualTo(504);
        assertThat(json(late).required("error").stringValue())
                .isEqualTo("call of 'rows.twice' took longer than 8 ms, waiting for its batch");
        assertThat(List.of(first, second, patient, without)).noneMatch(CompletableFuture::isDone);
        timer.advance(2 * MILLI);
        application.gate.countDown();
        assertThat(answer(patient)).containsExactly(6, 8);
        assertThat(answer(without)).containsExactly(10, 12);
        assertThat(answer(first)).hasSize(full.length);
        assertThat(answer(second)).hasSize(full.length);
        assertThat(batches().totalAmount())
                .as("rows without the abandoned rows")
                .isEqualTo(2 * MAX_SIZE + 2);
    }

    @Test
    void deadlineExpiringInABatchFailsOnlyItsClient() throws Exception {
        CompletableFuture<HttpResponse<String>> hurried = ask(new float[] {1, 2}, 20);
        CompletableFuture<HttpResponse<String>> patient = ask(3, 4);
        application.awaitArrivals(2);
        timer.advance(10 * MILLI);
        application.entered.await();
        timer.advance(10 * MILLI);
        assertThat(hurried.get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(504);
        assertThat(patient).isNotDone();
        application.gate.countDown();
        assertThat(answer(patient)).containsExactly(6, 8);
        assertThat(batches().max()).isEqualTo(2);
    }

    @Test
    void fullQueueRejectsWithRetryAfter() throws Exception {
        float[] full = new float[2 * MAX_SIZE];
        List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
        int most = 2 + 64; // in flight, and the queue capacity in batches
        for (int i = 0; i < most; i++) {
            answers.add(ask(full));
        }
        application.awaitArrivals(most);
        HttpResponse<String> refused = ask(1, 2).get(60, TimeUnit.SECONDS);
        assertThat(refused.statusCode()).isEqualTo(503);
        assertThat(refused.headers().firstValue("Retry-After")).hasValue("1");
        assertThat(json(refused).required("error").stringValue())
                .contains("1024 rows wait for a batch of 'rows.twice'");
        application.gate.countDown();
        for (CompletableFuture<HttpResponse<String>> answer : answers) {
            answer(answer);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {
        volatile CountDownLatch gate = new CountDownLatch(0);
        volatile CountDownLatch entered = new CountDownLatch(1);
        private final Semaphore arrivals = new Semaphore(0);
        private int arrived; // awaited so far; confined to the test thread

        void begin() {
            gate = new CountDownLatch(1);
            entered = new CountDownLatch(1);
            arrivals.drainPermits();
            arrived = 0;
        }

        /** Waits until a total number of requests wait for a batch or are in a batch. */
        void awaitArrivals(int count) throws InterruptedException {
            arrivals.acquire(count - arrived);
            arrived = count;
        }

        @Bean
        MeterRegistry meters() {
            return new SimpleMeterRegistry();
        }

        @Bean
        ManualTimer timer() {
            return new ManualTimer();
        }

        /** Precedes batching: every request behind the gate waits for a batch. */
        @Bean
        @Order(InvocationInterceptor.BATCHING_ORDER - 1)
        InvocationInterceptor countsArrivals() {
            return (request, chain) -> {
                var call = chain.proceed(request);
                arrivals.release();
                return call;
            };
        }

        @Bean
        IreeModuleCustomizer rows(IreeRuntime runtime) {
            return (name, options) -> options.module(NativeModule.builder("rows", 1, () -> runtime)
                    .function("twice", "0r_r", this::twice)
                    .attribute("iree.abi.declaration", "sync func @twice(%x: tensor<?x2xf32>) -> (%y: tensor<?x2xf32>)")
                    .build());
        }

        private void twice(IreeRuntime runtime, VmCall call) {
            entered.countDown();
            try {
                gate.await();
            } catch (InterruptedException e) {
                throw IreeException.of(StatusCode.CANCELLED, "interrupted", e);
            }
            BufferView in = call.required(BufferView.class);
            float[] values =
                    in.buffer().map(MemoryAccess.READ, 0, in.byteLength()).toArray(ValueLayout.JAVA_FLOAT);
            Buffer buffer = runtime.device().allocator().allocate(BufferParams.DEFAULT, in.byteLength());
            try {
                buffer.map(MemoryAccess.WRITE, 0, in.byteLength()).copyFrom(MemorySegment.ofArray(doubled(values)));
                call.returnRef(BufferView.create(buffer, in.shape(), in.elementType(), in.encoding()));
            } finally {
                buffer.release();
            }
        }
    }
}
