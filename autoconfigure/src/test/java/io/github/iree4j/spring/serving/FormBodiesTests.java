package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Forms, read by the container before any controller, on a server of two threads. */
@SpringBootTest(
        classes = FormBodiesTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "iree.serving.enabled=true",
            "iree.serving.repository=true",
            "server.tomcat.threads.max=2",
            "server.tomcat.threads.min-spare=2",
            "server.tomcat.connection-timeout=1h",
            "spring.mvc.servlet.path=/ai",
        })
@Timeout(300)
class FormBodiesTests {

    private static final int CLIENTS = 4; // two for each thread: the second pair needs threads used by the first
    private static final String FORM = "Content-Type: application/x-www-form-urlencoded\r\n";
    private static final String MULTIPART = "Content-Type: Multipart/form-data; boundary=x\r\n";

    @LocalServerPort
    private int port;

    private final List<Socket> open = new ArrayList<>();

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
                "POST /ai/v2 HTTP/1.1\r\n" + FORM,
                "GET /ai/v2/health/live HTTP/1.1\r\n" + MULTIPART,
                "POST /ai/v2/models/nothing/infer HTTP/1.1\r\n" + MULTIPART,
                "PUT /ai/v2/models/nothing/versions/1/generate HTTP/1.1\r\n" + FORM,
                "POST /ai/v2/repository/index HTTP/1.1\r\n" + FORM,
            })
    void formToTheProtocolIsRefusedBeforeItsRead(String head) throws IOException {
        List<Socket> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            clients.add(send(head + "Host: localhost\r\nContent-Length: 1000\r\n\r\n--x\r\n"));
        }
        for (Socket each : clients) {
            assertThat(all(each)).startsWith("HTTP/1.1 415").contains("{\"error\":\"forms and multipart bodies");
        }
        assertThat(all(send("GET /ai/v2/health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")))
                .startsWith("HTTP/1.1 200");
    }

    @Test
    void formsOfTheApplicationAreItsOwn() throws IOException {
        assertThat(all(send("POST /ai/v2/orders HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + FORM
                        + "Content-Length: 8\r\n\r\nwhat=tea")))
                .startsWith("HTTP/1.1 200")
                .endsWith("tea");
    }

    @RestController
    static class Orders {
        @PostMapping("/v2/orders")
        String order(@RequestParam String what) {
            return what;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Orders.class)
    static class Application {}
}
