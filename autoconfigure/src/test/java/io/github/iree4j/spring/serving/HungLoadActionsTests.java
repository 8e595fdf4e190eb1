package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.HungFile;
import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.ProgramState;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** Operators' requests to load and unload a program whose file is not read before the test's command. */
@Timeout(300)
class HungLoadActionsTests {

    private static final Duration PHASE = Duration.ofSeconds(30);
    private static final int MANY = 40;
    private static final int WAITING = 4;

    @TempDir
    Path directory;

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final CountDownLatch inferences = new CountDownLatch(1);
    private final CountDownLatch loads = new CountDownLatch(1);
    private HungFile file;
    private ConfigurableApplicationContext context;

    private void start() throws IOException {
        Path counter = TestModules.counter(directory);
        file = new HungFile(counter);
        SpringApplication application = new SpringApplication(Application.class);
        application.addInitializers(starting -> {
            starting.addProtocolResolver(file.resolver());
            starting.getBeanFactory().registerSingleton("arrivals", (Filter) (request, response, chain) -> {
                String path = ((HttpServletRequest) request).getRequestURI();
                if (path.endsWith("/hung/infer")) {
                    inferences.countDown();
                } else if (path.endsWith("/hung/load")) {
                    loads.countDown();
                }
                chain.doFilter(request, response);
            });
        });
        context = application.run(
                "--server.port=0",
                "--server.tomcat.threads.max=6",
                "--management.server.port=0",
                "--management.endpoints.web.exposure.include=iree",
                "--management.endpoint.iree.access=unrestricted",
                "--spring.lifecycle.timeout-per-shutdown-phase=" + PHASE.toSeconds() + "s",
                "--iree.http.max-concurrent-bodies=" + MANY,
                "--iree.serving.enabled=true",
                "--iree.serving.repository=true",
                "--iree.serving.max-wait=5m",
                "--iree.modules.hung.load=lazy",
                "--iree.modules.hung.location=" + HungFile.LOCATION,
                "--iree.modules.ready.location=" + counter.toUri());
    }

    @AfterEach
    void close() throws InterruptedException {
        context.close();
        file.answer();
        http.close();
    }

    private CompletableFuture<HttpResponse<String>> post(String server, String path, String body) {
        return http.sendAsync(
                HttpRequest.newBuilder(URI.create("http://localhost:%s%s"
                                .formatted(
                                        context.getEnvironment().getProperty("local.%s.port".formatted(server)), path)))
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString(body))
                        .build(),
                BodyHandlers.ofString());
    }

    private CompletableFuture<HttpResponse<String>> infer(String model) {
        return post("server", "/v2/models/%s/infer".formatted(model), "{\"inputs\": []}");
    }

    private CompletableFuture<HttpResponse<String>> act(String action) {
        return post("server", "/v2/repository/models/hung/" + action, "{}");
    }

    private CompletableFuture<HttpResponse<String>> actuator(String action) {
        return post("management", "/actuator/iree/modules/hung", "{\"action\": \"%s\"}".formatted(action));
    }

    private ProgramState state() {
        return context.getBean(Programs.class).versions("hung").getFirst().state();
    }

    private static HttpResponse<String> soon(CompletableFuture<HttpResponse<String>> answer) throws Exception {
        return answer.get(1, TimeUnit.MINUTES);
    }

    @Test
    void stoppingEndsTheRequestsWaitingForALoadOnBothServers() throws Exception {
        start();
        List<CompletableFuture<HttpResponse<String>>> waiting = new ArrayList<>();
        waiting.add(actuator("load"));
        file.awaitReader();
        waiting.add(infer("hung"));
        waiting.add(act("load"));
        inferences.await();
        loads.await();
        long start = System.nanoTime();
        context.close();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(PHASE.dividedBy(2));
        for (CompletableFuture<HttpResponse<String>> each : waiting) {
            HttpResponse<String> answer = soon(each);
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(503);
            assertThat(answer.body()).contains("the application is stopping");
        }
    }

    @Test
    void waitingActionsLeaveThreadsForOtherModelsAndAnUnloadEndsTheWait() throws Exception {
        start();
        BlockingQueue<HttpResponse<String>> answers = new LinkedBlockingQueue<>();
        for (int i = 0; i < MANY; i++) {
            act("load").thenAccept(answers::add);
        }
        for (int i = 0; i < MANY - WAITING; i++) {
            HttpResponse<String> refused = answers.poll(1, TimeUnit.MINUTES);
            assertThat(refused).as("answer %d of the refused", i).isNotNull();
            assertThat(refused.statusCode()).as(refused.body()).isEqualTo(503);
            assertThat(refused.headers().firstValueAsLong("Retry-After").orElse(0))
                    .isPositive();
            assertThat(refused.body()).contains("being loaded").doesNotContain(HungFile.LOCATION);
        }
        assertThat(soon(infer("ready")).statusCode()).isEqualTo(200);
        while (state() != ProgramState.LOADING) {
            Poll.pause();
        }
        HttpResponse<String> refused = soon(actuator("load"));
        assertThat(refused.statusCode()).isEqualTo(503);
        assertThat(refused.body()).contains("program 'hung' is being loaded").contains("try again in");
        assertThat(answers).isEmpty();
        assertThat(soon(act("unload")).statusCode()).isEqualTo(200);
        for (int i = 0; i < WAITING; i++) {
            HttpResponse<String> ended = answers.poll(1, TimeUnit.MINUTES);
            assertThat(ended).as("answer of a waiting action").isNotNull();
            assertThat(ended.statusCode()).as(ended.body()).isEqualTo(503);
            assertThat(ended.body()).contains("an operator has unloaded the program");
        }
        assertThat(state()).isEqualTo(ProgramState.UNLOADED);
    }

    @Test
    void manyUnloadsOfAHungLoadAllEnd() throws Exception {
        start();
        CompletableFuture<HttpResponse<String>> inference = infer("hung");
        file.awaitReader();
        List<CompletableFuture<HttpResponse<String>>> unloads = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            unloads.add(act("unload"));
        }
        for (CompletableFuture<HttpResponse<String>> each : unloads) {
            assertThat(soon(each).statusCode()).isIn(200, 503); // 503 where too many came at once
        }
        assertThat(soon(inference).body()).contains("an operator has unloaded the program");
        assertThat(soon(infer("ready")).statusCode()).isEqualTo(200);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
