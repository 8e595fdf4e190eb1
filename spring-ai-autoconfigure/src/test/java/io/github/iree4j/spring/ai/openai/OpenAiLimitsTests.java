package io.github.iree4j.spring.ai.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.ai.SmallDecoder;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** Requests for more answers, or more numbers with each token, than the limits allow. */
@SpringBootTest(
        classes = OpenAiLimitsTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "iree.openai.enabled=true",
            "iree.http.max-in-flight-size=8MB",
            "iree.http.max-request-size=256KB",
            "iree.ai.chat.requests-per-tenant=8"
        })
@Timeout(600)
class OpenAiLimitsTests {

    @TempDir
    private static Path folder;

    @LocalServerPort
    private int port;

    private final HttpClient http = HttpClient.newHttpClient();

    @DynamicPropertySource
    static void decoder(DynamicPropertyRegistry registry) {
        for (String each : SmallDecoder.properties(folder)) {
            registry.add(each.substring(0, each.indexOf('=')), () -> each.substring(each.indexOf('=') + 1));
        }
    }

    private HttpResponse<String> post(String path, String body) throws Exception {
        return http.send(
                HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/v1/" + path))
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString(body))
                        .build(),
                BodyHandlers.ofString());
    }

    @Test
    void scoresOfAnAnswerCountAsMemoryOfRequests() throws Exception {
        HttpResponse<String> response = post(
                "chat/completions",
                "{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}], \"n\": 8, \"max_tokens\": 200, \"logprobs\": true, \"top_logprobs\": 20, \"temperature\": 1}");
        assertThat(response.statusCode())
                .as("%d characters", response.body().length())
                .isEqualTo(413);
    }

    @Test
    void moreAnswersThanTheQuotaOfATenantAreNoMatterOfTime() throws Exception {
        HttpResponse<String> response = post("completions", "{\"prompt\": \"Hi\", \"n\": 9, \"max_tokens\": 2}");
        assertThat(response.statusCode()).as(response.body()).isEqualTo(400);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
