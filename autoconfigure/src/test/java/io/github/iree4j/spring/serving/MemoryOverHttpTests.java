package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Tensor;
import io.github.iree4j.hal.pool.AdmissionGate;
import io.github.iree4j.module.Export;
import io.github.iree4j.module.IreeModule;
import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.http.BodyLimits;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Clients with requests over the memory budget of the device together, while each fits alone, are all answered, in the
 * order of their waits. A request has 20,000 rows, 5.12 MB. The call allocates as much again and then passes a gate. Of
 * the budget, 34 MB, three such calls take 31 MB.
 */
@SpringBootTest(
        classes = MemoryOverHttpTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "spring.grpc.server.enabled=true",
            "spring.grpc.server.port=0",
            "iree.serving.enabled=true",
            "iree.http.max-in-flight-size=200MB",
            "iree.pools.local.budget=34MB",
            "iree.modules.heavy.contexts=6",
            "iree.modules.heavy.warm-up[0].function=work", // to learn the need of a call
            "iree.modules.heavy.warm-up[0].inputs=20000x64xf32=0",
            "iree.modules.batched.contexts=6",
            "iree.modules.batched.batching.enabled=true",
            "iree.modules.batched.batching.max-size=40000", // of two calls
            "iree.modules.batched.batching.max-waiting=1000000",
            "iree.modules.batched.batching.max-in-flight=6",
            "iree.serving.functions.adder=add",
            "iree.serving.functions.heavy=work",
            "iree.serving.functions.batched=work",
        })
@Timeout(600)
class MemoryOverHttpTests {
    private static final int CLIENTS = 6;
    private static final int REQUESTS = 2;
    private static final int FITTING = 3;
    private static final int ROWS = 20_000;
    private static final int COLUMNS = 64;
    private static final int BYTES = ROWS * COLUMNS * Float.BYTES;

    @TempDir
    private static Path directory;

    @LocalServerPort
    private int port;

    @Autowired
    private GrpcServerLifecycle grpc;

    @Autowired
    private IreeRuntime runtime;

    @Autowired
    private Programs programs;

    @Autowired
    private BodyLimits limits;

    @Autowired
    private Gate gate;

    private final HttpClient http = HttpClient.newHttpClient();

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        registry.add("iree.modules.heavy.location", () -> module(true));
        registry.add("iree.modules.batched.location", () -> module(true));
        registry.add("iree.modules.adder.location", () -> module(false));
    }

    private static String module(boolean heavy) {
        try {
            return (heavy ? TestModules.heavy(directory) : TestModules.adder(directory)).toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** How a client asks. */
    enum Transport {
        BINARY,
        JSON,
        GRPC
    }

    @BeforeEach
    void gateIsClosed() {
        gate.open.drainPermits();
        gate.entered.clear();
    }

    @AfterEach
    void nothingIsLeft() {
        gate.open.release(1000);
        while (programs.activeCalls() > 0 || limits.inFlight() > 0) { // a client may have its answer earlier
            Poll.pause();
        }
        assertThat(runtime.device().allocator().statistics().bytesLive()).isZero();
    }

    // Requests: the first element of each row is the number of the request, and so is each element of the answer.

    private static byte[] floats(int number) {
        ByteBuffer buffer = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < ROWS; i++) {
            buffer.putFloat(i * COLUMNS * Float.BYTES, number);
        }
        return buffer.array();
    }

    private HttpRequest request(String model, Transport transport, int number) {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/v2/models/" + model + "/infer"));
        String input = "{\"inputs\": [{\"name\": \"input0\", \"shape\": [%d, %d], \"datatype\": \"FP32\", "
                .formatted(ROWS, COLUMNS);
        if (transport == Transport.JSON) {
            return request.header("Content-Type", "application/json")
                    .POST(BodyPublishers.ofString(
                            input + "\"data\": [" + (number + ",0".repeat(COLUMNS - 1) + ",").repeat(ROWS - 1) + number
                                    + ",0".repeat(COLUMNS - 1) + "]}]}"))
                    .build();
        }
        String head = input + "\"parameters\": {\"binary_data_size\": %d}}]}".formatted(BYTES);
        BodyPublisher body =
                BodyPublishers.concat(BodyPublishers.ofString(head), BodyPublishers.ofByteArray(floats(number)));
        return request.header("Inference-Header-Content-Length", Integer.toString(head.length()))
                .header("Content-Type", "application/octet-stream")
                .POST(body)
                .build();
    }

    private static void check(HttpResponse<String> answer, int number) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        JsonNode data = JsonMapper.shared()
                .readTree(answer.body())
                .required("outputs")
                .get(0)
                .required("data");
        assertThat(data.size()).isEqualTo(ROWS);
        for (JsonNode element : data) {
            assertThat(element.floatValue()).isEqualTo(number);
        }
    }

    private void ask(String model, Transport transport, int number) throws Exception {
        if (transport != Transport.GRPC) {
            check(http.send(request(model, transport, number), BodyHandlers.ofString()), number);
            return;
        }
        GrpcClient client = new GrpcClient(grpc.getPort());
        try {
            byte[] answer = client.inference(model)
                    .input("input0", "FP32", List.of((long) ROWS, (long) COLUMNS))
                    .raw(floats(number))
                    .infer()
                    .raw(0);
            assertThat(answer).hasSize(ROWS * Float.BYTES);
            ByteBuffer elements = ByteBuffer.wrap(answer).order(ByteOrder.LITTLE_ENDIAN);
            while (elements.hasRemaining()) {
                assertThat(elements.getFloat()).isEqualTo(number);
            }
        } finally {
            client.close();
        }
    }

    @ParameterizedTest
    @CsvSource({"heavy, BINARY", "heavy, JSON", "heavy, GRPC", "batched, BINARY", "batched, JSON", "batched, GRPC"})
    void clientsExceedingTheBudgetTogetherAreAllAnswered(String model, Transport transport) throws Exception {
        List<String> failures = new ArrayList<>();
        try (ExecutorService clients = Executors.newFixedThreadPool(CLIENTS)) {
            List<Future<?>> answers = new ArrayList<>();
            for (int i = 0; i < CLIENTS * REQUESTS; i++) {
                int number = i;
                answers.add(clients.submit(() -> {
                    ask(model, transport, number);
                    return null;
                }));
            }
            // The first fitting calls hold their memory until all clients are there.
            while (answers.stream().noneMatch(Future::isDone)
                    && (model.equals("batched") ? gate.entered.isEmpty() : underWay() < CLIENTS)) {
                Poll.pause();
            }
            gate.open.release(CLIENTS * REQUESTS);
            for (Future<?> answer : answers) {
                try {
                    answer.get();
                } catch (ExecutionException e) {
                    failures.add(String.valueOf(e.getCause()));
                }
            }
        }
        assertThat(failures).as("of %d requests", CLIENTS * REQUESTS).isEmpty();
    }

    /** Sends requests, each when the previous call has come to the gate, or stands in line for memory. */
    private List<CompletableFuture<HttpResponse<String>>> askInOrder() {
        AdmissionGate line = Objects.requireNonNull(runtime.device().allocator().gate());
        List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            answers.add(http.sendAsync(request("heavy", Transport.BINARY, i), BodyHandlers.ofString()));
            while (i < FITTING ? gate.entered.size() <= i : line.waiting() <= i - FITTING) {
                assertThat(answers).as("waiting requests are not refused").noneMatch(CompletableFuture::isDone);
                Poll.pause();
            }
        }
        return answers;
    }

    @Test
    void requestsAreAdmittedInTheOrderOfTheirWaits() throws Exception {
        List<CompletableFuture<HttpResponse<String>>> answers = askInOrder();
        Set<Integer> together = new HashSet<>(); // the first fitting call at the gate is open
        for (int i = 0; i < FITTING; i++) {
            together.add(gate.entered.poll(1, TimeUnit.MINUTES));
        }
        assertThat(together).isEqualTo(Set.of(0, 1, 2));
        for (int i = FITTING; i < CLIENTS; i++) {
            gate.open.release(); // a call leaves, and makes room for another
            assertThat(gate.entered.poll(1, TimeUnit.MINUTES)).as("the next").isEqualTo(i);
        }
        gate.open.release(FITTING);
        for (int i = 0; i < CLIENTS; i++) {
            check(answers.get(i).get(), i);
        }
    }

    @Test
    void aRequestTooLargeBesideItsOwnInputsIsTooLargeAndNotToBeRepeated() throws Exception {
        int rows = 4 * ROWS; // 20.5 MB, and as much again
        String head =
                "{\"inputs\": [{\"name\": \"input0\", \"shape\": [%d, %d], \"datatype\": \"FP32\", \"parameters\": {\"binary_data_size\": %d}}]}"
                        .formatted(rows, COLUMNS, 4 * BYTES);
        HttpResponse<String> answer = http.send(
                HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/v2/models/heavy/infer"))
                        .header("Inference-Header-Content-Length", Integer.toString(head.length()))
                        .header("Content-Type", "application/octet-stream")
                        .POST(BodyPublishers.concat(
                                BodyPublishers.ofString(head), BodyPublishers.ofByteArray(new byte[4 * BYTES])))
                        .build(),
                BodyHandlers.ofString());
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(413);
        assertThat(answer.headers().firstValue("Retry-After")).isEmpty();
        assertThat(answer.body())
                .contains(
                        "allocation of " + 4 * BYTES + " bytes", "is 35651584 bytes", "beside what its own call holds");
    }

    /** The number of requests at the server, with awaited bodies or calls made. */
    private int underWay() {
        return limits.awaited() + programs.activeCalls();
    }

    @Test
    void othersAreAnsweredMeanwhile() throws Exception {
        List<CompletableFuture<HttpResponse<String>>> answers = askInOrder();
        HttpRequest live = HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/v2/health/live"))
                .build();
        HttpRequest add = HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/v2/models/adder/infer"))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString("""
                        {"inputs": [{"name": "input0", "shape": [1], "datatype": "INT32", "data": [2]},
                                    {"name": "input1", "shape": [1], "datatype": "INT32", "data": [3]}]}"""))
                .build();
        assertThat(http.send(live, BodyHandlers.ofString()).statusCode()).isEqualTo(200);
        HttpResponse<String> sum = http.send(add, BodyHandlers.ofString());
        assertThat(sum.statusCode()).as(sum.body()).isEqualTo(200);
        assertThat(answers).as("waiting requests are not refused").noneMatch(CompletableFuture::isDone);
        gate.open.release(CLIENTS);
        for (int i = 0; i < CLIENTS; i++) {
            check(answers.get(i).get(), i);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {
        @Bean
        Gate gate() {
            return new Gate();
        }
    }

    /** The gate for each call, passed with a permit, while the call holds memory. */
    @IreeModule("gate")
    static class Gate {
        final BlockingQueue<Integer> entered = new LinkedBlockingQueue<>();
        final Semaphore open = new Semaphore(1000); // for warm-up calls

        @Export
        Tensor pass(Tensor rows) throws InterruptedException {
            float[] all = rows.toFloatArray();
            float[] firsts = new float[all.length / COLUMNS];
            for (int i = 0; i < firsts.length; i++) {
                firsts[i] = all[i * COLUMNS];
            }
            entered.add((int) firsts[0]);
            open.acquire();
            return Tensor.of(firsts, firsts.length);
        }
    }
}
