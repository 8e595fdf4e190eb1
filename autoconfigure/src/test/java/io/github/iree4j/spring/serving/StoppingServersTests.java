package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.TestModules;
import io.grpc.Status;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Stopping with a web server and a gRPC server, both with endless requests. */
@Timeout(300)
class StoppingServersTests {

    private static final Duration PHASE = Duration.ofSeconds(15);

    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch begunByOperator = new CountDownLatch(1);
    private final CountDownLatch end = new CountDownLatch(1);

    @AfterEach
    void end() {
        end.countDown();
    }

    private ConfigurableApplicationContext start(Duration phase) {
        SpringApplication application = new SpringApplication(Application.class);
        application.addInitializers(context -> {
            context.getBeanFactory().registerSingleton("endless", new Endless(begun, end));
            context.getBeanFactory()
                    .registerSingleton("endlessEndpoint", new EndlessEndpoint(new Endless(begunByOperator, end)));
        });
        return application.run(
                "--server.port=0",
                "--server.address=127.0.0.1",
                "--spring.grpc.server.enabled=true",
                "--spring.grpc.server.port=0",
                "--management.server.port=0",
                "--management.endpoints.web.exposure.include=*",
                "--iree.serving.enabled=true",
                "--iree.http.body-timeout=10m",
                "--spring.lifecycle.timeout-per-shutdown-phase=" + phase.toSeconds() + "s",
                "--iree.modules.values.location=" + TestModules.fixture("3.11.0/cpu/add.vmfb"));
    }

    @Test
    void stoppingTakesNoLongerThanAPhase() throws Exception {
        ConfigurableApplicationContext context = start(PHASE);
        int port = ((WebServerApplicationContext) context).getWebServer().getPort();
        try (HttpClient client = HttpClient.newHttpClient();
                HalfCalls calls =
                        new HalfCalls(context.getBean(GrpcServerLifecycle.class).getPort())) {
            calls.begin("ModelInfer"); // and no message
            calls.begin("ModelStreamInfer");
            OpenInferenceGrpcService service = context.getBean(OpenInferenceGrpcService.class);
            while (service.openCalls() != 2) {
                Poll.pause();
            }
            client.sendAsync(
                    HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/endless"))
                            .build(),
                    BodyHandlers.discarding());
            begun.await();
            String management = context.getEnvironment().getProperty("local.management.port");
            client.sendAsync(
                    HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + management + "/actuator/endless"))
                            .build(),
                    BodyHandlers.discarding());
            begunByOperator.await();
            long start = System.nanoTime();
            context.close();
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(PHASE);
            end.countDown();
        }
    }

    @Test
    void silentStreamsDoNotKeepTheServerFromStopping() throws Exception {
        Duration phase = Duration.ofMinutes(10);
        ConfigurableApplicationContext context = start(phase);
        GrpcClient client =
                new GrpcClient(context.getBean(GrpcServerLifecycle.class).getPort());
        GrpcHostileClientsTests.UnreadAnswers stream =
                new GrpcHostileClientsTests.UnreadAnswers(client, "ModelStreamInfer");
        OpenInferenceGrpcService service = context.getBean(OpenInferenceGrpcService.class);
        while (service.openCalls() != 1) {
            Poll.pause();
        }
        context.close();
        Status status = stream.closed.get();
        assertThat(status.getCode()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(status.getDescription()).contains("the server stops");
        client.close();
    }

    @RestController
    static final class Endless {
        private final CountDownLatch begun;
        private final CountDownLatch end;

        Endless(CountDownLatch begun, CountDownLatch end) {
            this.begun = begun;
            this.end = end;
        }

        /** Heeds no interrupt. */
        @GetMapping("/endless")
        void endless() {
            begun.countDown();
            while (true) {
                try {
                    end.await();
                    return;
                } catch (InterruptedException e) {
                    // as code of a device
                }
            }
        }
    }

    /** On the port of Actuator. */
    @Endpoint(id = "endless")
    static final class EndlessEndpoint {
        private final Endless endless;

        EndlessEndpoint(Endless endless) {
            this.endless = endless;
        }

        @ReadOperation
        String endless() {
            endless.endless();
            return "";
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
