package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.module.Export;
import io.github.iree4j.module.IreeModule;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import java.io.IOException;
import java.io.UncheckedIOException;
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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
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
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import tools.jackson.databind.json.JsonMapper;

/**
 * HTTP clients whose calls together exceed the memory budget of the device. Each call allocates 8 MiB in queue order
 * and then waits at a gate, so that as many calls as fit hold their memory while the others wait for theirs.
 */
@SpringBootTest(
        classes = MemoryOverHttpTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "iree.serving.enabled=true",
            "iree.serving.functions.heavy=work",
            "iree.modules.heavy.contexts=6",
            "iree.pools.local.budget=34MB",
        })
@Timeout(600)
class MemoryOverHttpTests {
    private static final int CLIENTS = 6;
    private static final int FITTING = 4;
    private static final long WORK = 8 << 20;
    private static final long BUDGET = 34 << 20;

    @TempDir
    private static Path directory;

    @LocalServerPort
    private int port;

    @Autowired
    private IreeRuntime runtime;

    @Autowired
    private Programs programs;

    @Autowired
    private Application application;

    private final HttpClient http = HttpClient.newHttpClient();

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        registry.add("iree.modules.heavy.location", () -> {
            try {
                return TestModules.heavy(directory).toString();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    private CompletableFuture<HttpResponse<String>> ask(int number) {
        String body = """
                {"inputs": [{"name": "input0", "shape": [1], "datatype": "INT32", "data": [%d]}]}""".formatted(number);
        return http.sendAsync(
                HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/v2/models/heavy/infer"))
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString(body))
                        .build(),
                BodyHandlers.ofString());
    }

    private static int answer(CompletableFuture<HttpResponse<String>> response) throws Exception {
        HttpResponse<String> answer = response.get(60, TimeUnit.SECONDS);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return JsonMapper.shared()
                .readTree(answer.body())
                .required("outputs")
                .get(0)
                .required("data")
                .get(0)
                .intValue();
    }

    private long live() {
        return runtime.device().allocator().statistics().bytesLive();
    }

    @AfterEach
    void gateIsEmpty() {
        application.gate.countDown();
    }

    @Test
    void clientsThatExceedTheBudgetTogetherAreAllAnswered() throws Exception {
        long before = live();
        for (int round = 0; round < 3; round++) { // memory needs are unknown in the first round
            application.gate = new CountDownLatch(1);
            List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                answers.add(ask(i));
            }
            application.inside.acquire(FITTING);
            while (programs.activeCalls() < CLIENTS) {
                Thread.onSpinWait();
            }
            assertThat(live()).as("of those that fit, and inputs").isBetween(FITTING * WORK, BUDGET);
            assertThat(answers).noneMatch(CompletableFuture::isDone);
            application.gate.countDown();
            for (int i = 0; i < CLIENTS; i++) {
                assertThat(answer(answers.get(i))).isEqualTo(i + 1);
            }
            application.inside.acquire(CLIENTS - FITTING);
            assertThat(answer(ask(41))).isEqualTo(42);
            application.inside.acquire();
            while (programs.activeCalls() > 0) { // the client may receive its response before the server has cleaned up
                Thread.onSpinWait();
            }
            assertThat(live()).isEqualTo(before);
        }
        assertThat(before).as("what the program keeps").isZero();
        assertThat(application.inside.availablePermits()).isZero();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {
        final Semaphore inside = new Semaphore(0);
        volatile CountDownLatch gate = new CountDownLatch(0);

        @Bean
        Gate gate() {
            return new Gate(this);
        }
    }

    /** The gate that each call passes while it holds its memory. */
    @IreeModule("gate")
    static class Gate {
        private final Application application;

        Gate(Application application) {
            this.application = application;
        }

        @Export
        int pass(int number) throws InterruptedException {
            application.inside.release();
            application.gate.await();
            return number + 1;
        }
    }
}
