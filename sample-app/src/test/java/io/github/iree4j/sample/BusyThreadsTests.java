package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** Requests that would keep threads of a server of two for as long as their clients like. */
@SpringBootTest(
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "server.tomcat.threads.max=2",
            "server.tomcat.threads.min-spare=2",
            "server.tomcat.connection-timeout=1h",
            "iree.invocation.timeout=1s",
        })
@Timeout(300)
class BusyThreadsTests {

    private static final int CLIENTS = 4; // two for each thread: the second pair needs threads that the first has had
    private static final String FORM = "Content-Type: application/x-www-form-urlencoded\r\n";
    private static final String MULTIPART = "Content-Type: multipart/form-data; boundary=x\r\n";

    @TempDir
    static Path models;

    @LocalServerPort
    private int port;

    private final List<Socket> open = new ArrayList<>();

    @DynamicPropertySource
    static void models(DynamicPropertyRegistry registry) {
        registry.add("sample.models", models::toString);
        registry.add("iree.modules.loop.location", () -> "../fixtures/modules/3.13.0/cpu/host_while.vmfb");
    }

    @AfterEach
    void disconnect() throws IOException {
        for (Socket each : open) {
            each.close();
        }
    }

    private Socket send(String request) throws IOException {
        Socket socket = new Socket("localhost", port);
        open.add(socket);
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    private static String all(Socket socket) throws IOException {
        return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET / HTTP/1.1\r\n",
                "GET /digits HTTP/1.1\r\n",
                "GET /v2/health/live HTTP/1.1\r\n",
                "POST /pipelines/ring HTTP/1.1\r\n" + FORM,
                "PUT /digits HTTP/1.1\r\n" + FORM,
                "POST /digits HTTP/1.1\r\n" + MULTIPART,
                "POST /nothing HTTP/1.1\r\n" + MULTIPART,
                "POST /v2/models/digits/infer HTTP/1.1\r\n" + MULTIPART,
            })
    void unwantedBodyKeepsNoThread(String head) throws IOException {
        for (int i = 0; i < CLIENTS; i++) {
            send(head + "Host: localhost\r\nContent-Length: 1000\r\n\r\n--x\r\n");
        }
        assertThat(all(send("GET /digits HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")))
                .startsWith("HTTP/1.1 200");
    }

    @Test
    void aFormToTheProtocolHasAnErrorOfTheProtocolWithTheRemedy() throws IOException {
        String infer = "POST /v2/models/digits/infer HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
        assertThat(all(send(infer + FORM + "Content-Length: 2\r\n\r\n{}")))
                .startsWith("HTTP/1.1 415")
                .contains("{\"error\":", "'Content-Type: application/json'");
        assertThat(all(send(
                        infer.replace("/v2/models/digits/infer", "/digits") + FORM + "Content-Length: 2\r\n\r\n{}")))
                .startsWith("HTTP/1.1 415")
                .contains("\"detail\":", "'Content-Type: application/json'");
    }

    @Test
    void requestWithAnUnwantedBodyIsFollowedByOthers() throws IOException {
        String get = "GET /digits HTTP/1.1\r\nHost: localhost\r\n";
        assertThat(all(send(get + "Content-Length: 3\r\n\r\nabc" + get + "Connection: close\r\n\r\n"))
                        .split("HTTP/1.1 200", -1))
                .hasSize(3);
    }

    @Test
    void endlessCallIsEnded() throws IOException {
        String body = "{\"inputs\":[{\"shape\":[4],\"type\":\"f32\",\"data\":[0,0,0,0]}]}";
        assertThat(all(send("POST /models/loop/grow HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                        + "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                                .formatted(body.length(), body))))
                .startsWith("HTTP/1.1 504")
                .contains("DEADLINE_EXCEEDED");
    }
}
