package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Results;
import io.github.iree4j.module.Export;
import io.github.iree4j.module.IreeModule;
import io.github.iree4j.spring.InvocationService;
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
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Clients' texts when an unknown program exceeds its quota: the requested model has a Java function that calls the
 * other program. An input or result of the latter takes 64 bytes, and a call 192.
 */
@SpringBootTest(
        classes = MemoryTextsTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "spring.grpc.server.enabled=true",
            "spring.grpc.server.port=0",
            "spring.mvc.problemdetails.enabled=true",
            "spring.webflux.problemdetails.enabled=true",
            "iree.serving.enabled=true",
            "iree.serving.functions.doubling=fourfold",
            "iree.pools.local.quotas.secret0=63B", // no input
            "iree.pools.local.quotas.secret1=127B", // of two inputs
            "iree.pools.local.quotas.secret2=191B", // no result
        })
@Timeout(600)
class MemoryTextsTests {
    private static final String[] UNKNOWN = {"secret", "add", "63", "64", "127", "128", "191", "192"};

    @TempDir
    private static Path directory;

    @LocalServerPort
    private int port;

    @Autowired
    private GrpcServerLifecycle grpc;

    private final HttpClient http = HttpClient.newHttpClient();

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        for (int i = 0; i < 3; i++) {
            registry.add(
                    "iree.modules.secret%d.location".formatted(i),
                    () -> TestModules.fixture("3.13.0/cpu/add.vmfb").toString());
        }
        registry.add("iree.modules.doubling.location", MemoryTextsTests::doubling);
    }

    private static String doubling() {
        try {
            return TestModules.doubling(directory).toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private HttpResponse<String> send(String path, String body) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://localhost:" + port + path));
        if (!body.isEmpty()) {
            request.header("Content-Type", "application/json").POST(BodyPublishers.ofString(body));
        }
        return http.send(request.build(), BodyHandlers.ofString());
    }

    @ParameterizedTest
    @CsvSource({
        "0, 413, can never fit",
        "1, 413, it does not fit beside what its own call holds",
        "2, 413, it does not fit beside what its own call holds",
    })
    void clientsReadNeitherNamesNorBytesOfProgramsCalledByTheirProgram(int secret, int status, String reason)
            throws Exception {
        HttpResponse<String> protocol = send("/v2/models/doubling/infer", """
                        {"inputs": [{"name": "input0", "shape": [1], "datatype": "INT32", "data": [%d]}]}""".formatted(secret));
        HttpResponse<String> problem = send("/fourfold/" + secret, "");
        GrpcClient client = new GrpcClient(grpc.getPort());
        Status refusal;
        try {
            refusal = client.inference("doubling")
                    .input("input0", "INT32", List.of(1L))
                    .raw(ByteBuffer.allocate(Integer.BYTES)
                            .order(ByteOrder.LITTLE_ENDIAN)
                            .putInt(secret)
                            .array())
                    .refused();
        } finally {
            client.close();
        }
        assertThat(protocol.statusCode()).as(protocol.body()).isEqualTo(status);
        assertThat(problem.statusCode()).as(problem.body()).isEqualTo(status);
        assertThat(refusal.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        for (String text : List.of(protocol.body(), problem.body(), String.valueOf(refusal.getDescription()))) {
            assertThat(text).contains("allocation of 16 bytes", reason).doesNotContain(UNKNOWN);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Outer.class)
    static class Application {
        @Bean
        Custom custom(ObjectProvider<InvocationService> invocations) {
            return new Custom(invocations);
        }
    }

    /** The module imported by {@code doubling}. */
    @IreeModule("custom")
    static final class Custom {
        private static final float[] FOUR = {1, 2, 3, 4};
        private final ObjectProvider<InvocationService> invocations;

        Custom(ObjectProvider<InvocationService> invocations) {
            this.invocations = invocations;
        }

        @Export
        int twice(int secret) {
            try (Results results = invocations.getObject().invoke("secret%d.add".formatted(secret), FOUR, FOUR)) {
                return results.size();
            }
        }
    }

    @RestController
    static final class Outer {
        private final InvocationService invocations;

        Outer(InvocationService invocations) {
            this.invocations = invocations;
        }

        @GetMapping("/fourfold/{secret}")
        Mono<Integer> fourfold(@PathVariable("secret") int secret) {
            return Mono.fromCallable(() -> {
                        try (Results results = invocations.invoke("doubling.fourfold", secret)) {
                            return results.intValue(0);
                        }
                    })
                    .subscribeOn(Schedulers.boundedElastic());
        }
    }
}
