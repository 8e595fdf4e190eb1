package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.HungFile;
import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.ProgramState;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import io.grpc.Status;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** Requests for a model whose file is not read before the test's command. */
@SpringBootTest(
        classes = ModelsBeingLoadedTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "server.tomcat.threads.max=6",
            "spring.grpc.server.enabled=true",
            "spring.grpc.server.port=0",
            "iree.serving.enabled=true",
            "iree.serving.max-wait=5m",
            "iree.modules.hung.load=lazy",
            "iree.modules.hung.location=" + HungFile.LOCATION,
        })
@ContextConfiguration(initializers = ModelsBeingLoadedTests.Files.class)
@Timeout(300)
class ModelsBeingLoadedTests {

    private static final int MANY = 40;
    private static final int WAITING = 4;

    @TempDir
    private static Path directory;

    @LocalServerPort
    private int port;

    @Autowired
    private GrpcServerLifecycle grpc;

    @Autowired
    private Programs programs;

    @Autowired
    private HungFile file;

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        registry.add("iree.modules.ready.location", () -> counter().toString());
    }

    private static Path counter() {
        try {
            return TestModules.counter(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A separate file for each application. */
    static final class Files implements ApplicationContextInitializer<ConfigurableApplicationContext> {
        @Override
        public void initialize(ConfigurableApplicationContext context) {
            HungFile file = new HungFile(counter());
            context.addProtocolResolver(file.resolver());
            context.getBeanFactory().registerSingleton("file", file);
        }
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create("http://localhost:" + port + path));
    }

    private HttpRequest inference(String model) {
        return request("/v2/models/" + model + "/infer")
                .POST(BodyPublishers.ofString("{\"inputs\": []}"))
                .build();
    }

    private int status(HttpRequest request) throws IOException, InterruptedException {
        return http.send(request, BodyHandlers.ofString()).statusCode();
    }

    @Test
    void fewRequestsWaitForALoadAndTheOthersAreRefusedAtOnce() throws Exception {
        BlockingQueue<HttpResponse<String>> answers = new LinkedBlockingQueue<>();
        for (int i = 0; i < MANY; i++) {
            HttpRequest request = i % 4 == 0 ? request("/v2/models/hung").build() : inference("hung");
            http.sendAsync(request, BodyHandlers.ofString()).thenAccept(answers::add);
        }
        for (int i = 0; i < MANY - WAITING; i++) {
            HttpResponse<String> refused = answers.poll(1, TimeUnit.MINUTES);
            assertThat(refused).as("answer %d of the refused", i).isNotNull();
            assertThat(refused.statusCode()).as(refused.body()).isEqualTo(503);
            assertThat(refused.headers().firstValueAsLong("Retry-After").orElse(0))
                    .isPositive();
            assertThat(refused.body()).contains("model 'hung' is being loaded").doesNotContain(HungFile.LOCATION);
        }
        while (programs.versions("hung").getFirst().state() != ProgramState.LOADING) {
            Poll.pause();
        }
        assertThat(status(request("/v2/health/live").build())).isEqualTo(200);
        assertThat(status(inference("ready"))).isEqualTo(200);
        GrpcClient client = new GrpcClient(grpc.getPort());
        try {
            assertThat(client.inference("hung").refused().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
            assertThat(client.inference("ready").infer().outputs()).hasSize(1);
        } finally {
            client.close();
        }
        assertThat(answers).isEmpty();
        file.answer();
        for (int i = 0; i < WAITING; i++) {
            HttpResponse<String> waited = answers.poll(1, TimeUnit.MINUTES);
            assertThat(waited).as("answer of a waiting request").isNotNull();
            assertThat(waited.statusCode()).as(waited.body()).isEqualTo(200);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
