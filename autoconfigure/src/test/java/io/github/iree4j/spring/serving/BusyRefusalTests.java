package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.http.RequestCounts.Reason;
import io.github.iree4j.spring.http.RequestCounts.Work;
import io.micrometer.core.instrument.MeterRegistry;
import jakarta.servlet.Filter;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** A request is computed, and none may wait. */
@SpringBootTest(
        classes = BusyRefusalTests.Filtered.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "iree.serving.enabled=true",
            "iree.serving.max-concurrent-requests=1",
            "iree.serving.max-wait=0",
            "iree.serving.grpc.enabled=false",
            "iree.serving.functions.gate=pass",
        })
@Timeout(300)
class BusyRefusalTests {

    @TempDir
    private static Path directory;

    @LocalServerPort
    private int port;

    @Autowired
    private BodyLimits limits;

    @Autowired
    private GateApplication application;

    @Autowired
    private Filtered filtered;

    @Autowired
    private MeterRegistry meters;

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    /** Counts the requests seen by a filter of the application. */
    @Configuration(proxyBeanMethods = false)
    @Import(GateApplication.class)
    static class Filtered {
        final AtomicInteger seen = new AtomicInteger();

        @Bean
        FilterRegistrationBean<Filter> counting() {
            FilterRegistrationBean<Filter> registration = new FilterRegistrationBean<>((request, response, chain) -> {
                seen.incrementAndGet();
                chain.doFilter(request, response);
            });
            registration.setOrder(Ordered.HIGHEST_PRECEDENCE + 10);
            return registration;
        }
    }

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        GateApplication.locate(registry, directory);
    }

    private CompletableFuture<HttpResponse<String>> send(String path) {
        return http.sendAsync(
                HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
                        .POST(
                                BodyPublishers.ofString(
                                        "{\"inputs\": [{\"name\": \"x\", \"shape\": [], \"datatype\": \"INT32\", \"data\": [7]}]}"))
                        .build(),
                BodyHandlers.ofString());
    }

    private HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return http.send(
                HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
                        .build(),
                BodyHandlers.ofString());
    }

    @Test
    void nothingBehindTheFilterSeesARequestWithATooLongWait() throws Exception {
        CompletableFuture<HttpResponse<String>> first = send("/v2/models/gate/infer");
        while (limits.counts().underWay(Work.HTTP) != 1) {
            assertThat(first).isNotDone();
            Poll.pause();
        }
        int seen = filtered.seen.get();
        long refused = limits.counts().refused(Reason.REQUESTS);
        for (String path : new String[] {
            "/v2/models/gate/infer",
            "/v2/models/gate/versions/1/infer",
            "/v2/models/none/generate",
            "/v2/models/gate/generate_stream"
        }) {
            HttpResponse<String> answer = send(path).get(1, TimeUnit.MINUTES);
            assertThat(answer.statusCode()).as(path).isEqualTo(429);
            assertThat(answer.headers().firstValue("Retry-After")).hasValue("1");
            assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/json");
            assertThat(answer.headers().firstValue("Connection"))
                    .as("which stays open")
                    .isEmpty();
            assertThat(answer.body())
                    .startsWith("{\"error\":\"1 requests are computed and 0 wait; none may wait")
                    .endsWith("\"}");
        }
        assertThat(filtered.seen).hasValue(seen);
        assertThat(meters.get("http.server.requests").tag("status", "429").timers())
                .as("the filter for observing requests is before")
                .isNotEmpty();
        assertThat(limits.counts().refused(Reason.REQUESTS)).isEqualTo(refused + 4);
        assertThat(get("/v2/models/gate").statusCode()).isEqualTo(200);
        assertThat(get("/v2/health/live").statusCode()).isEqualTo(200);
        assertThat(send("/v2/models/gate/unknown").get(1, TimeUnit.MINUTES).statusCode())
                .isEqualTo(404);
        assertThat(filtered.seen).hasValue(seen + 3);
        application.gate.release(1);
        assertThat(first.get(1, TimeUnit.MINUTES).statusCode()).isEqualTo(200);
    }
}
