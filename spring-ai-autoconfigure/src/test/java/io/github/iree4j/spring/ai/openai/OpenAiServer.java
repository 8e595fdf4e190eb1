package io.github.iree4j.spring.ai.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.ai.IreeChatModel;
import io.github.iree4j.spring.ai.ScriptedChat;
import io.github.iree4j.spring.ai.encoder.SmallEncoder;
import io.github.iree4j.spring.http.BodyLimits;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** An application with a scripted chat model and the small encoder, over real HTTP. */
@SpringBootTest(
        classes = OpenAiServer.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "iree.openai.enabled=true",
            "iree.openai.max-concurrent-requests=3",
            "iree.http.max-request-size=256KB",
        })
@Timeout(300)
abstract class OpenAiServer {

    static final String CHAT = "/v1/chat/completions";
    static final String HELLO = "{\"model\": \"chat\", \"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}]}";

    @TempDir
    static Path folder;

    @LocalServerPort
    int port;

    @Autowired
    ScriptedChat script;

    @Autowired
    BodyLimits limits;

    final HttpClient http = HttpClient.newHttpClient();

    @DynamicPropertySource
    static void encoder(DynamicPropertyRegistry registry) {
        for (String each : SmallEncoder.properties()) {
            registry.add(each.substring(0, each.indexOf('=')), () -> each.substring(each.indexOf('=') + 1));
        }
    }

    final HttpRequest.Builder to(String path) {
        return HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
                .header("Content-Type", "application/json");
    }

    final HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return http.send(request.build(), BodyHandlers.ofString());
    }

    final HttpResponse<String> post(String path, String body) throws Exception {
        return send(to(path).POST(BodyPublishers.ofByteArray(body.getBytes(StandardCharsets.UTF_8))));
    }

    final JsonNode answer(String path, String body) throws Exception {
        HttpResponse<String> response = post(path, body);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        assertThat(response.headers().firstValue("Content-Type")).hasValue("application/json");
        return JsonMapper.shared().readTree(response.body());
    }

    final JsonNode error(HttpResponse<String> response, int status) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        assertThat(response.headers().firstValue("Content-Type").orElse("")).startsWith("application/json");
        JsonNode answer = JsonMapper.shared().readTree(response.body());
        assertThat(answer.propertyNames()).containsExactly("error");
        assertThat(answer.path("error").propertyNames()).containsExactly("message", "type", "param", "code");
        assertThat(answer.path("error").path("message").stringValue()).isNotBlank();
        return answer.path("error");
    }

    /** Returns a body with a member more. */
    static String with(String body, String member) {
        return body.replaceFirst("\\{", "{" + Matcher.quoteReplacement(member) + ", ");
    }

    /** Returns the events of a stream, without the last, which ends the stream. */
    static List<JsonNode> events(HttpResponse<String> response) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        assertThat(response.headers().firstValue("Content-Type").orElse("")).startsWith("text/event-stream");
        List<JsonNode> events = new ArrayList<>();
        String[] all = response.body().split("\n\n", -1);
        assertThat(all[all.length - 1]).isEmpty();
        assertThat(all[all.length - 2]).isEqualTo("data: [DONE]");
        for (int i = 0; i < all.length - 2; i++) {
            assertThat(all[i]).startsWith("data: {").doesNotContain("\n");
            events.add(JsonMapper.shared().readTree(all[i].substring("data: ".length())));
        }
        return events;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {
        @Bean
        ScriptedChat scriptedChat() {
            return new ScriptedChat();
        }

        @Bean
        IreeChatModel chatModel(ScriptedChat script) {
            return script.model(folder);
        }
    }
}
