package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.http.RequestCounts.Work;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** Clients with unread small answers hold up nobody: their requests keep no place, nor, on Tomcat, a thread. */
@SpringBootTest(
        classes = {ProtocolConformanceTests.Application.class, SteadyReadersTests.SmallBuffers.class},
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "spring.grpc.server.enabled=true",
            "spring.grpc.server.port=0",
            "server.http2.enabled=true",
            "server.tomcat.threads.max=8",
            "server.tomcat.connection-timeout=10m",
            "iree.serving.enabled=true",
            "iree.serving.max-concurrent-requests=4",
            "iree.serving.max-wait=0s",
            "iree.serving.grpc.max-calls=400",
            "iree.http.max-in-flight-size=256MB",
            "iree.http.body-timeout=10m",
        })
@Timeout(300)
class UnreadPlacesTests {

    private static final int PLACES = 4;
    private static final int BYTES = 1 << 19; // more than the system takes for a client
    private static final int OF_CONNECTION = 50;
    private static final int IN_JSON = 20_000;

    @LocalServerPort
    private int port;

    @Autowired
    private GrpcServerLifecycle grpc;

    @Autowired
    private BodyLimits limits;

    private final List<AutoCloseable> open = new ArrayList<>();
    private GrpcClient client;

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        registry.add(
                "iree.modules.values.location",
                () -> TestModules.fixture("3.11.0/cpu/add.vmfb").toString());
    }

    @BeforeEach
    void connect() {
        client = new GrpcClient(grpc.getPort());
    }

    @AfterEach
    void everythingIsGivenBackWhenClientsDisconnect() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
        client.close();
        while (limits.inFlight() != 0
                || limits.counts().underWay(Work.HTTP) != 0
                || limits.counts().underWay(Work.GRPC) != 0) {
            Poll.pause(); // the class's timeout fails what stays
        }
    }

    private SlowReader ask() throws IOException {
        SlowReader reader = SlowReader.ask(port, BYTES, true);
        open.add(reader);
        return reader;
    }

    private byte[] echo(int bytes) {
        return client.inference("values.echo_ui8")
                .input("x", "UINT8", List.of((long) bytes))
                .raw(new byte[bytes])
                .encoded();
    }

    private void awaitPlaces(Work kind, int taken) {
        while (limits.counts().underWay(kind) != taken) {
            Poll.pause();
        }
    }

    @Test
    void manySlowReadersOverHttpHoldNoPlace() throws IOException {
        for (int i = 0; i < 4 * PLACES; i++) {
            assertThat(ask().line()).as("reader %d", i).contains(" 200");
            awaitPlaces(Work.HTTP, 0);
        }
        assertThat(limits.unreadAnswers()).isEqualTo(4 * PLACES);
        try (SlowReader bystander = SlowReader.ask(port, BYTES, true)) {
            assertThat(bystander.line()).contains(" 200");
            assertThat(bystander.rest()).hasSizeGreaterThan(BYTES);
        }
    }

    @Test
    void manySlowReadersOfAConnectionOfHttp2HoldNoPlace() throws IOException {
        HalfCalls unread = HalfCalls.withoutWindow(port);
        open.add(unread);
        for (int i = 0; i < 4 * PLACES; i++) {
            unread.post("/v2/models/values.echo_ui8/infer", SlowReader.json(IN_JSON));
            while (limits.unreadAnswers() != i + 1) {
                Poll.pause();
            }
            awaitPlaces(Work.HTTP, 0);
        }
        try (SlowReader bystander = SlowReader.ask(port, BYTES, true)) {
            assertThat(bystander.line()).contains(" 200");
            assertThat(bystander.rest()).hasSizeGreaterThan(BYTES);
        }
    }

    @Test
    void slowReadersBeyondTheNumberKeepTheirPlacesUntilARead() throws IOException {
        for (int i = 0; i < 5 * PLACES; i++) {
            assertThat(ask().line()).as("reader %d", i).contains(" 200");
        }
        awaitPlaces(Work.HTTP, PLACES);
        assertThat(ask().line()).contains(" 429");
        SlowReader last = (SlowReader) open.get(5 * PLACES - 1);
        assertThat(last.rest()).hasSizeGreaterThan(BYTES);
        awaitPlaces(Work.HTTP, PLACES - 1);
        assertThat(ask().line()).contains(" 200");
    }

    @Test
    void anAnswerToARequestInJsonIsChargedUntilRead() throws IOException {
        SlowReader reader = SlowReader.askInJson(port, BYTES);
        open.add(reader);
        assertThat(reader.line()).contains(" 200");
        assertThat(limits.unreadAnswers()).isEqualTo(1);
        assertThat(limits.inFlight()).isEqualTo(BYTES);
        assertThat(reader.rest()).hasSizeGreaterThan(2 * BYTES);
    }

    /** No answer takes more than some tens of bytes. */
    @Test
    void manyUnreadAnswersOfAConnectionHoldNoPlace() throws Exception {
        HalfCalls unread = HalfCalls.withoutWindow(grpc.getPort());
        open.add(unread);
        for (int i = 0; i < 10 * PLACES; i++) {
            unread.call("ModelInfer", echo(1));
            while (limits.unreadAnswers() != i + 1) {
                Poll.pause();
            }
        }
        awaitPlaces(Work.GRPC, 0);
        assertThat(client.inference("values.echo_ui8")
                        .input("x", "UINT8", List.of(1L))
                        .raw(new byte[1])
                        .infer()
                        .raw(0))
                .hasSize(1);
    }

    @Test
    void unreadAnswersOfAConnectionAreLimitedByNumber() throws Exception {
        HalfCalls unread = HalfCalls.withoutWindow(grpc.getPort());
        open.add(unread);
        for (int i = 0; i < OF_CONNECTION; i++) {
            unread.call("ModelInfer", echo(1));
            while (limits.unreadAnswers() != i + 1) {
                Poll.pause();
            }
        }
        int further = unread.begin("ModelInfer"); // Netty ends the connection for data of a refused call
        assertThat(unread.awaitAnyEnd()).isEqualTo(further);
        assertThat(limits.unreadAnswers()).isEqualTo(OF_CONNECTION);
        awaitPlaces(Work.GRPC, 0);
        assertThat(client.call("ModelInfer", io.grpc.CallOptions.DEFAULT, echo(1)))
                .isNotEmpty();
    }
}
