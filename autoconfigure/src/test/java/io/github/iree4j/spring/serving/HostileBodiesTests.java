package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.http.BodyLimits;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/**
 * Clients that announce more than they send. The sample's {@code HostileClientsTests} have many of these, over time and
 * with little memory.
 */
@SpringBootTest(
        classes = HostileBodiesTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "iree.serving.enabled=true",
            "iree.http.max-concurrent-bodies=4",
            "iree.http.max-in-flight-size=8MB",
            "iree.http.body-timeout=10m",
        })
@Timeout(600)
class HostileBodiesTests {

    private static final int AWAITED = 4;
    private static final String ADD = """
            {"inputs": [{"name": "input0", "shape": [4], "datatype": "FP32", "data": [1, 2, 3, 4]},
                        {"name": "input1", "shape": [4], "datatype": "FP32", "data": [10, 20, 30, 40]}]}""";

    @LocalServerPort
    private int port;

    @Autowired
    private IreeRuntime runtime;

    @Autowired
    private BodyLimits limits;

    private final List<Socket> open = new ArrayList<>();
    private long idle;

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        registry.add(
                "iree.modules.add.location",
                () -> TestModules.fixture("3.11.0/cpu/add.vmfb").toString());
    }

    @BeforeEach
    void begin() {
        idle = memory();
    }

    @AfterEach
    void everythingIsGivenBackWhenClientsDisconnect() throws IOException {
        for (Socket each : open) {
            each.close();
        }
        while (limits.awaited() != 0 || limits.inFlight() != 0 || memory() != idle) {
            Poll.pause(); // the class's timeout fails what stays
        }
    }

    private long memory() {
        return runtime.device().allocator().statistics().bytesLive();
    }

    private Socket send(String headers, long length, String body) throws IOException {
        Socket socket = new Socket("localhost", port);
        open.add(socket);
        socket.getOutputStream()
                .write("POST /v2/models/add/infer HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %d\r\n\r\n%s"
                        .formatted(headers, length, body)
                        .getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    private static String response(Socket socket) throws IOException {
        StringBuilder response = new StringBuilder();
        while (response.indexOf("}") < 0) {
            int read = socket.getInputStream().read();
            if (read < 0) {
                break;
            }
            response.append((char) read);
        }
        return response.toString();
    }

    private void awaitBodies(int count) {
        while (limits.awaited() != count) {
            Poll.pause();
        }
    }

    private static String claim(int bytes) {
        return "{\"inputs\":[{\"name\":\"input0\",\"shape\":[%d],\"datatype\":\"FP32\",\"parameters\":{\"binary_data_size\":%d}}]}"
                .formatted(bytes / 4, bytes);
    }

    @Test
    void announcedContentsTakeNoMemory() throws IOException {
        int size = 4 << 20;
        String json = claim(size);
        for (int i = 0; i < AWAITED; i++) {
            send(
                    "Inference-Header-Content-Length: %d\r\n".formatted(json.length()),
                    json.length() + size,
                    json + "x".repeat(100));
        }
        while (limits.inFlight() < AWAITED * 100L) { // bytes sent
            Poll.pause();
        }
        assertThat(limits.inFlight()).isLessThan(AWAITED * 1000L);
        assertThat(memory()).isEqualTo(idle);
    }

    @Test
    void aLongHeaderCountsAsItArrives() throws IOException {
        send("Inference-Header-Content-Length: %d\r\n".formatted(3 << 20), 4 << 20, " ".repeat(1 << 20));
        while (limits.inFlight() < 1 << 20) {
            Poll.pause();
        }
        assertThat(limits.inFlight()).as("at most twice the bytes sent").isLessThanOrEqualTo(2 << 20);
    }

    @Test
    void announcedElementsTakeNoMemory() throws IOException {
        for (int i = 0; i < AWAITED; i++) {
            send(
                    "",
                    16 << 20,
                    "{\"inputs\":[{\"name\":\"input0\",\"shape\":[8000000],\"datatype\":\"FP64\",\"data\":[1,2,3,4,5");
        }
        awaitBodies(AWAITED);
        assertThat(limits.inFlight()).isLessThanOrEqualTo(AWAITED << 16);
        assertThat(memory()).isEqualTo(idle);
    }

    @Test
    void bystandersAreServedWhileOthersAreAwaited() throws IOException {
        for (int i = 0; i < AWAITED; i++) {
            send("", 1000, "{\"inputs\":[");
        }
        awaitBodies(AWAITED);
        String refused = response(send("", 1000, "{\"inputs\":["));
        assertThat(refused)
                .startsWith("HTTP/1.1 503")
                .containsIgnoringCase("Retry-After: 1")
                .contains("max-concurrent-bodies");
        assertThat(response(send("", ADD.length(), ADD))).startsWith("HTTP/1.1 200");
        open.getFirst().close();
        awaitBodies(AWAITED - 1);
        assertThat(response(send("", ADD.length(), ADD))).startsWith("HTTP/1.1 200");
    }

    @Test
    void connectionOfARefusedClientIsEnded() throws IOException {
        for (int i = 0; i < AWAITED; i++) {
            send("", 1000, "{\"inputs\":[");
        }
        awaitBodies(AWAITED);
        Socket refused = send("", 1000, "{\"inputs\":[");
        assertThat(response(refused)).startsWith("HTTP/1.1 503");
        if (refusedConnectionsAreEnded()) {
            while (refused.getInputStream().read() >= 0) {
                continue; // the rest of the response
            }
        }
    }

    /** Whether the server ends the connection of a refused client that sends nothing more. */
    boolean refusedConnectionsAreEnded() {
        return true;
    }

    @Test
    void elementsBeforeTheirShapeAreLimited() throws IOException {
        String few = ADD.replace(
                "\"name\": \"input0\", \"shape\": [4], \"datatype\": \"FP32\", \"data\": [1, 2, 3, 4]",
                "\"data\": [1, 2, 3, 4], \"name\": \"input0\", \"shape\": [4], \"datatype\": \"FP32\"");
        assertThat(response(send("", few.length(), few))).startsWith("HTTP/1.1 200");
        String many = "{\"inputs\":[{\"data\":[" + "1,".repeat(70_000) + "1]}]}";
        assertThat(response(send("", many.length(), many)))
                .startsWith("HTTP/1.1 400")
                .contains("'data' of an input has more than 65536 elements before 'name', 'shape' and 'datatype'");
    }

    @Test
    void requestLargerThanTheMemoryOfAllIsRefused() throws IOException {
        int size = 7 << 20;
        String json = claim(size);
        assertThat(response(send(
                        "Inference-Header-Content-Length: %d\r\n".formatted(json.length()),
                        json.length() + size,
                        json)))
                .startsWith("HTTP/1.1 413")
                .contains("iree.http.max-in-flight-size");
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
