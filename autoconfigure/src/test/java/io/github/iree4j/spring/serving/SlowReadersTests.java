package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.serving.GrpcHostileClientsTests.UnreadAnswers;
import io.grpc.Status;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Clients that ask for large outputs and do not read them keep no memory of the device, and of the heap only the share
 * of all requests. The budget of the device, 40 MB, holds the outputs of nine clients and no call besides.
 */
@SpringBootTest(
        classes = {ProtocolConformanceTests.Application.class, SlowReadersTests.Tensors.class},
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "spring.grpc.server.enabled=true",
            "spring.grpc.server.port=0",
            "iree.serving.enabled=true",
            "iree.http.max-in-flight-size=160MB",
            "iree.http.body-timeout=10m",
            "server.tomcat.connection-timeout=10m",
            "iree.pools.local.budget=40MB",
        })
@Timeout(600)
class SlowReadersTests {

    private static final int READERS = 9;
    private static final int BYTES = 4 << 20;
    private static final int SMALL = 1000;
    /** Memory of unread answers: half of all. */
    private static final long LIMIT = 80 << 20;

    @LocalServerPort
    private int port;

    @Autowired
    private GrpcServerLifecycle grpc;

    @Autowired
    private IreeRuntime runtime;

    @Autowired
    private BodyLimits limits;

    private final List<SlowReader> open = new ArrayList<>();
    private final List<GrpcClient> clients = new ArrayList<>();
    private long idle;

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        registry.add(
                "iree.modules.values.location",
                () -> TestModules.fixture("3.11.0/cpu/add.vmfb").toString());
    }

    @BeforeEach
    void begin() {
        idle = memory();
    }

    @AfterEach
    void everythingIsGivenBackWhenClientsDisconnect() throws Exception {
        for (SlowReader each : open) {
            each.close();
        }
        for (GrpcClient each : clients) {
            each.close();
        }
        while (limits.inFlight() != 0 || limits.awaited() != 0 || memory() != idle) {
            Poll.pause(); // the class's timeout fails what stays
        }
    }

    private long memory() {
        return runtime.device().allocator().statistics().bytesLive();
    }

    private SlowReader ask(int bytes, boolean binary) throws IOException {
        SlowReader reader = SlowReader.ask(port, bytes, binary);
        open.add(reader);
        return reader;
    }

    private UnreadAnswers askOverGrpc(int bytes) {
        GrpcClient client = new GrpcClient(grpc.getPort());
        clients.add(client);
        UnreadAnswers unread = new UnreadAnswers(client, "ModelInfer");
        unread.send(request(client, bytes).encoded());
        unread.call.halfClose();
        return unread;
    }

    private static GrpcClient.Inference request(GrpcClient client, int bytes) {
        return client.inference("values.echo_ui8")
                .input("x", "UINT8", List.of((long) bytes))
                .raw(new byte[bytes]);
    }

    private void othersAreAnswered() throws IOException {
        for (int i = 0; i < 3; i++) {
            SlowReader polite = ask(BYTES, true);
            String rest = polite.rest();
            assertThat(polite.line())
                    .as(rest.substring(0, Math.min(1000, rest.length())))
                    .contains(" 200");
            assertThat(rest).hasSizeGreaterThan(BYTES);
        }
        GrpcClient polite = new GrpcClient(grpc.getPort());
        clients.add(polite);
        assertThat(request(polite, BYTES).infer().raw(0)).hasSize(BYTES);
    }

    private void awaitMemoryOfAnswersAlone() {
        while (memory() != idle || limits.inFlight() >= READERS * (BYTES + SMALL)) { // inputs are not needed any more
            Poll.pause();
        }
        assertThat(limits.inFlight()).as("unread answers").isGreaterThanOrEqualTo(READERS * BYTES);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void unreadingClientsKeepNoMemoryOfTheDevice(boolean binary) throws IOException {
        for (int i = 0; i < READERS; i++) {
            assertThat(ask(BYTES, binary).line()).contains(" 200");
        }
        othersAreAnswered();
        awaitMemoryOfAnswersAlone();
    }

    /** Nor do answers of an application's own endpoints. */
    @ParameterizedTest
    @ValueSource(strings = {"application/octet-stream", "application/json"})
    void norDoUnreadTensorsInBodies(String type) throws IOException {
        for (int i = 0; i < READERS; i++) {
            SlowReader reader = SlowReader.get(port, "/tensor?bytes=" + BYTES, type);
            open.add(reader);
            assertThat(reader.line()).contains(" 200");
        }
        othersAreAnswered();
        awaitMemoryOfAnswersAlone();
    }

    @Test
    void norOverGrpc() throws IOException {
        for (int i = 0; i < READERS; i++) {
            askOverGrpc(BYTES);
        }
        while (limits.inFlight() < READERS * BYTES || limits.awaited() > 0) {
            Poll.pause();
        }
        othersAreAnswered();
        awaitMemoryOfAnswersAlone();
    }

    @Test
    void unreadAnswersAreLimited() throws IOException {
        SlowReader last = ask(BYTES, true);
        for (int i = 1; last.line().contains(" 200"); i++) {
            assertThat(i).isLessThanOrEqualTo((int) (LIMIT / BYTES));
            last = ask(BYTES, true);
        }
        assertThat(last.line()).contains(" 503");
        assertThat(last.rest())
                .containsIgnoringCase("Retry-After: 1")
                .containsPattern(
                        "answers that clients have not read hold \\d+ of \\d+ bytes that this one may use, and it needs \\d+")
                .contains("'iree.http.max-in-flight-size'");
        assertThat(limits.inFlight()).isLessThanOrEqualTo(LIMIT);

        GrpcClient client = new GrpcClient(grpc.getPort());
        clients.add(client);
        Status refused = request(client, BYTES).refused();
        assertThat(refused.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(refused.getDescription()).contains("'iree.http.max-in-flight-size'");

        assertThat(ask(SMALL, true).line())
                .as("small requests have a separate part")
                .contains(" 200");
        for (int i = 0; i < 3; i++) {
            open.get(i).close();
        }
        while (limits.inFlight() > LIMIT - 3 * BYTES) {
            Poll.pause();
        }
        assertThat(ask(BYTES, true).line()).contains(" 200");
    }

    /** An endpoint of an application. */
    @RestController
    static class Tensors {
        private final InvocationService invocations;

        Tensors(InvocationService invocations) {
            this.invocations = invocations;
        }

        @GetMapping("/tensor")
        Mono<Tensor> tensor(@RequestParam int bytes) {
            return Mono.fromCallable(() -> zeros(bytes)).subscribeOn(Schedulers.boundedElastic());
        }

        @GetMapping("/tensor-at-once")
        Tensor zeros(@RequestParam int bytes) {
            try (Tensor zeros = Tensor.wrap(MemorySegment.ofArray(new byte[bytes]), ElementType.UI8, bytes);
                    Results results = invocations.invoke("values.echo_ui8", zeros)) {
                return results.take(0);
            }
        }
    }
}
