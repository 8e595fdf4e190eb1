package io.github.iree4j.spring.actuate.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Results;
import io.github.iree4j.spring.InvocationOperations;
import io.github.iree4j.spring.TestModules;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** More requests than an endpoint takes, while endless requests are answered. */
@Timeout(300)
class EndpointFloodTests {
    private static final int REQUESTS = 220;
    private static final int WAITING = 4;
    private static final int REFUSED = REQUESTS - WAITING;

    /** As many request threads as requests may wait, for thread-holding requests to hold all. */
    private static final int THREADS = WAITING;

    /** Requests with a separate limit. */
    enum Limited {
        SCENARIOS(2, "2 scenarios are being run", "ireelab/fork-join"),
        RECORDING(1, "1 recording is being read", "iree/recording"),
        PAGE(1, "1 recording is being read", "iree/recording?since=0"),
        EXPORT(1, "1 recording is being read", "iree/recording/export/trace"),
        LIVE(2, "2 requests for pending work are being answered", "iree/live"),
        TIMELINES(2, "2 requests for pending work are being answered", "iree/timelines"),
        CALLS(2, "2 requests for pending work are being answered", "iree/calls");

        private final int running;
        private final String refusal;
        private final String path;

        Limited(int running, String what, String path) {
            this.running = running;
            this.refusal = what + ", and 4 requests wait; try again";
            this.path = "/actuator/" + path;
        }

        /** Answers a request with the result of a body. */
        private void answer(ConfigurableApplicationContext context, Supplier<String> body) {
            IreeEndpointWebExtension extension = context.getBean(IreeEndpointWebExtension.class);
            switch (this) {
                case SCENARIOS -> context.getBean(IreeLabEndpoint.class).answer(body);
                case RECORDING, PAGE, EXPORT ->
                    extension.answer(() -> body.get().getBytes(StandardCharsets.UTF_8));
                case LIVE, TIMELINES, CALLS -> extension.look(body);
            }
        }
    }

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private CompletableFuture<HttpResponse<String>> get(ConfigurableApplicationContext context, String path) {
        String port = context.getEnvironment().getProperty("local.server.port");
        return http.sendAsync(
                HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
                        .build(),
                BodyHandlers.ofString());
    }

    @ParameterizedTest
    @EnumSource
    void aFloodOfLongRequestsDoesNotHoldUpInference(Limited limited, @TempDir Path directory) throws Exception {
        flood("servlet", limited, directory);
    }

    @ParameterizedTest
    @EnumSource(names = {"SCENARIOS", "RECORDING", "LIVE"}) // a request of each limit
    void aFloodOfLongRequestsDoesNotHoldUpInferenceOnWebFlux(Limited limited, @TempDir Path directory)
            throws Exception {
        flood("reactive", limited, directory);
    }

    private void flood(String stack, Limited limited, Path directory) throws Exception {
        CountDownLatch begun = new CountDownLatch(limited.running);
        CountDownLatch end = new CountDownLatch(1);
        try (ConfigurableApplicationContext context = start(stack, directory);
                ExecutorService others = Executors.newVirtualThreadPerTaskExecutor();
                AutoCloseable _ = end::countDown) { // also after a failure, or the runs would not end
            for (int i = 0; i < limited.running; i++) {
                others.execute(() -> limited.answer(context, () -> runUntil(begun, end)));
            }
            List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
            List<CompletableFuture<HttpResponse<String>>> refused;
            try {
                begun.await();
                // WebFlux may put requests behind requests on its threads for blocking endpoints.
                int atOnce = stack.equals("servlet") ? REFUSED : 1;
                CountDownLatch refusals = new CountDownLatch(atOnce);
                for (int i = 0; i < REQUESTS; i++) {
                    answers.add(get(context, limited.path));
                }
                answers.forEach(each -> each.thenRun(refusals::countDown));
                assertThat(get(context, "/infer").get().body()).isEqualTo("7");
                assertThat(get(context, "/actuator/health").get().statusCode()).isEqualTo(200);
                assertThat(refusals.await(2, TimeUnit.MINUTES)).isTrue();
                assertThat(get(context, "/infer").get().body()).isEqualTo("7");

                refused = answers.stream().filter(CompletableFuture::isDone).toList();
                assertThat(refused).hasSizeGreaterThanOrEqualTo(atOnce).allSatisfy(each -> {
                    assertThat(each.get().statusCode()).isEqualTo(503);
                    assertThat(each.get().body()).contains(limited.refusal);
                    if (stack.equals("servlet")) { // WebFlux lets no endpoint set a header
                        assertThat(each.get().headers().firstValue("Retry-After"))
                                .hasValue("1");
                    }
                });
            } finally {
                end.countDown(); // the executor waits for both
            }
            answers.removeAll(refused);
            for (CompletableFuture<HttpResponse<String>> each : answers) {
                assertThat(each.get().statusCode())
                        .as(each.get().body())
                        .isIn(200, stack.equals("servlet") ? 200 : 503);
            }
            assertThat(get(context, limited.path).get().statusCode()).isEqualTo(200);
        }
    }

    private static String runUntil(CountDownLatch begun, CountDownLatch end) {
        begun.countDown();
        try {
            end.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        return "{}";
    }

    private static ConfigurableApplicationContext start(String stack, Path directory) throws Exception {
        return new SpringApplicationBuilder(Application.class)
                .run(
                        "--spring.main.web-application-type=" + stack,
                        "--server.port=0",
                        "--server.tomcat.threads.max=" + THREADS,
                        "--server.tomcat.threads.min-spare=1",
                        "--iree.modules.adding.location=" + TestModules.adder(directory),
                        "--iree.console.enabled=true",
                        "--iree.recorder.enabled=true",
                        "--management.endpoints.web.exposure.include=health,iree,ireelab",
                        // Both servers are on the class path of these tests.
                        "--spring.autoconfigure.exclude=org.springframework.boot.tomcat.autoconfigure.reactive.TomcatReactiveWebServerAutoConfiguration,"
                                + "org.springframework.boot.tomcat.autoconfigure.actuate.web.server.TomcatReactiveManagementContextAutoConfiguration");
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {
        @Bean
        Adding adding(InvocationOperations operations) {
            return new Adding(operations);
        }
    }

    @RestController
    static class Adding {
        private final InvocationOperations operations;

        Adding(InvocationOperations operations) {
            this.operations = operations;
        }

        @GetMapping("/infer")
        String infer() {
            try (Results results = operations.invoke("adding.add", 3, 4)) {
                return String.valueOf(results.intValue(0));
            }
        }
    }
}
