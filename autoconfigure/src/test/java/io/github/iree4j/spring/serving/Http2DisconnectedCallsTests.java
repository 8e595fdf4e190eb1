package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;

/** Over Spring MVC and Tomcat with HTTP/2, where the container learns of the end without a check. */
@SpringBootTest(
        classes = DisconnectedCallsTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = "server.http2.enabled=true")
class Http2DisconnectedCallsTests extends DisconnectedCallsContract {

    private final HttpClient client = HttpClient.newHttpClient();

    @Test
    void aCallEndsWithTheStreamOfItsClient() throws Exception {
        try (client) {
            CompletableFuture<HttpResponse<String>> answer = call();
            awaitCalls(1);
            answer.cancel(true);
            awaitCalls(0);
            assertThat(client.send(request("/v2/health/live").build(), BodyHandlers.ofString())
                            .body())
                    .as("answer to the same connection's next request")
                    .contains("\"live\":true");
        }
    }

    @Test
    void aCallEndsWithTheConnectionOfItsClient() throws Exception {
        try (client) {
            call();
            awaitCalls(1);
            client.shutdownNow();
            awaitCalls(0);
        }
    }

    private CompletableFuture<HttpResponse<String>> call() throws IOException, InterruptedException {
        HttpResponse<String> first =
                client.send(request("/v2/health/live").build(), BodyHandlers.ofString()); // changes the protocol
        assertThat(first.version()).isEqualTo(HttpClient.Version.HTTP_2);
        return client.sendAsync(
                request("/v2/models/spinning/infer")
                        .POST(BodyPublishers.ofString("{\"inputs\": []}"))
                        .build(),
                BodyHandlers.ofString());
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create("http://localhost:" + port + path));
    }
}
