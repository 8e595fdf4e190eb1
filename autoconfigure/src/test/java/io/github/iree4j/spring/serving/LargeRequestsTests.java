package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.InvocationInterceptor;
import io.github.iree4j.spring.TestModules;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** Calls of large requests let calls of small requests go first, on every transport. */
@SpringBootTest(
        classes = {ProtocolConformanceTests.Application.class, LargeRequestsTests.Priorities.class},
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "spring.grpc.server.enabled=true",
            "spring.grpc.server.port=0",
            "iree.serving.enabled=true",
            "iree.http.max-in-flight-size=32MB",
        })
@Timeout(600)
class LargeRequestsTests {

    private static final String HEAD = """
            {"inputs":[{"name":"x","datatype":"UINT8","shape":[%d],"parameters":{"binary_data_size":%d}}],\
            "parameters":{"binary_data_output":true}}""";
    private static final int SMALL = 16;
    private static final int LARGE = 1 << 20; // more than a 64th of the memory

    @LocalServerPort
    private int port;

    @Autowired
    private GrpcServerLifecycle server;

    @Autowired
    private Priorities priorities;

    @BeforeEach
    void forget() {
        priorities.seen.clear();
    }

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        registry.add(
                "iree.modules.values.location",
                () -> TestModules.fixture("3.11.0/cpu/add.vmfb").toString());
    }

    @Test
    void overHttp() throws Exception {
        ProtocolClient client = new ProtocolClient(port);
        for (int bytes : new int[] {SMALL, LARGE}) {
            client.inference("values.echo_ui8")
                    .input("x", "UINT8", "[" + bytes + "]", new byte[bytes])
                    .output("y", true)
                    .infer();
        }
        assertThat(priorities.seen).containsExactly(0, -1);
    }

    @Test
    void overGrpc() throws Exception {
        GrpcClient client = new GrpcClient(server.getPort());
        try {
            for (int bytes : new int[] {SMALL, LARGE}) {
                client.inference("values.echo_ui8")
                        .input("x", "UINT8", List.of((long) bytes))
                        .raw(new byte[bytes])
                        .infer();
            }
        } finally {
            client.close();
        }
        assertThat(priorities.seen).containsExactly(0, -1);
    }

    /** An answer of 13 MB fits into 24 MB, but not together with the request. */
    @Test
    void answersCountAsMemoryOfTheirRequests() throws Exception {
        int bytes = 13 << 20;
        byte[] contents = new byte[bytes];
        HttpRequest request = HttpRequest.newBuilder(
                        URI.create("http://localhost:" + port + "/v2/models/values.echo_ui8/infer"))
                .header(
                        "Inference-Header-Content-Length",
                        Integer.toString(HEAD.formatted(bytes, bytes).length()))
                .POST(BodyPublishers.concat(
                        BodyPublishers.ofString(HEAD.formatted(bytes, bytes)), BodyPublishers.ofByteArray(contents)))
                .build();
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpResponse<String> refused = client.send(request, BodyHandlers.ofString());
            assertThat(refused.statusCode())
                    .as(refused.body().substring(0, Math.min(500, refused.body().length())))
                    .isEqualTo(413);
            assertThat(refused.body()).contains("iree.http.max-in-flight-size");
        }
    }

    /** Keeps the priorities of calls. */
    @Configuration(proxyBeanMethods = false)
    static class Priorities {
        private final Queue<Integer> seen = new ConcurrentLinkedQueue<>();

        @Bean
        InvocationInterceptor priorities() {
            return (request, chain) -> {
                seen.add(request.options().priority());
                return chain.proceed(request);
            };
        }
    }
}
