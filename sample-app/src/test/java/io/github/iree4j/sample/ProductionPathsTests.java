package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.web.server.LocalManagementPort;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.annotation.DirtiesContext.ClassMode;
import org.springframework.test.context.ActiveProfiles;
import tools.jackson.databind.json.JsonMapper;

/** Paths not served by a service open to strangers. */
@SpringBootTest(
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {"server.address=127.0.0.1", "management.server.port=0"})
@ActiveProfiles("production")
@DirtiesContext(classMode = ClassMode.BEFORE_CLASS) // levels of the log are of the process: another context resets them
@ExtendWith(OutputCaptureExtension.class)
@Timeout(120)
class ProductionPathsTests {

    @LocalServerPort
    private int port;

    @LocalManagementPort
    private int management;

    private final HttpClient http = HttpClient.newHttpClient();

    private HttpResponse<String> send(String method, String path) throws Exception {
        return http.send(
                HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
                        .method(method, BodyPublishers.noBody())
                        .build(),
                BodyHandlers.ofString());
    }

    /** Spring would look into every jar for a file of this name. */
    @ParameterizedTest
    @ValueSource(strings = {"/", "/index.html", "/digits.js", "/nosuch"})
    void noFileIsLookedFor(String path) throws Exception {
        HttpResponse<String> response = send("GET", path);
        assertThat(response.statusCode()).isEqualTo(404);
        assertThat(response.body()).contains("nothing is served here").doesNotContain("resource");
    }

    @Test
    void longUnknownPathsAreNeitherRepeatedTwiceNorLogged(CapturedOutput output) throws Exception {
        String name = "a".repeat(7000);
        HttpResponse<String> response = send("GET", "/nosuch/" + name);
        assertThat(response.statusCode()).isEqualTo(404);
        assertThat(response.body().length()).isLessThan(name.length() + 300);
        assertThat(output.getAll()).doesNotContain("nosuch");
    }

    /** Alerts count answers of 5xx. */
    @ParameterizedTest
    @ValueSource(strings = {"GET", "POST"})
    void pathOfErrorsIsNotFound(String method) throws Exception {
        HttpResponse<String> response = send(method, "/error");
        assertThat(response.statusCode()).isEqualTo(404);
        assertThat(JsonMapper.shared().readTree(response.body()).get("status").intValue())
                .isEqualTo(404);
        assertThat(errors()).doesNotContain("outcome=\"SERVER_ERROR\"");
    }

    private String errors() throws Exception {
        return http.send(
                        HttpRequest.newBuilder(URI.create("http://localhost:" + management + "/actuator/prometheus"))
                                .build(),
                        BodyHandlers.ofString())
                .body();
    }

    /** {@code //} is no URI, and {@code garbage} no media type. */
    @Test
    void oddPathsAndHeadersAreNotLogged(CapturedOutput output) throws Exception {
        assertThat(answer("GET //")).startsWith("HTTP/1.1 404 ").contains("nothing is served here");
        assertThat(answer("GET /nosuch", "Accept: garbage")).startsWith("HTTP/1.1 404 ");
        assertThat(output.getAll()).doesNotContain("WARN").doesNotContain("URISyntaxException");
    }

    /** For paths never sent by clients of Java. */
    private String answer(String line, String... headers) throws Exception {
        try (Socket socket = new Socket("localhost", port)) {
            String request = line + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                    + String.join("\r\n", headers) + (headers.length == 0 ? "\r\n" : "\r\n\r\n");
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void unknownMethodsAreNotLogged(CapturedOutput output) throws Exception {
        assertThat(send("BREW", "/infer").statusCode()).isEqualTo(405);
        assertThat(output.getAll()).doesNotContain("BREW");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1", "1,64"})
    void emptyBodiesAreCalledEmptyWhateverTheirShape(String shape) throws Exception {
        HttpResponse<String> response = http.send(
                HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/infer"))
                        .header("Content-Type", "application/octet-stream;type=f32;shape=\"" + shape + "\"")
                        .POST(BodyPublishers.noBody())
                        .build(),
                BodyHandlers.ofString());
        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.body()).contains("the body is empty; a body of type application/octet-stream is required");
    }

    @Test
    void invalidShapesAreDescribed() throws Exception {
        HttpResponse<String> response = http.send(
                HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/infer"))
                        .header("Content-Type", "application/octet-stream;type=f32;shape=\"-1\"")
                        .POST(BodyPublishers.ofByteArray(new byte[4]))
                        .build(),
                BodyHandlers.ofString());
        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.body()).contains("dimension 0 of shape -1 is negative");
    }
}
