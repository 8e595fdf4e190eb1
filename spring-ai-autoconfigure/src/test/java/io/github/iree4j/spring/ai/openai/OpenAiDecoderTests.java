package io.github.iree4j.spring.ai.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.ai.SmallDecoder;
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
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
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
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A compiled decoder with random weights behind the interface. */
@SpringBootTest(
        classes = OpenAiDecoderTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = "iree.openai.enabled=true")
@Timeout(600)
class OpenAiDecoderTests {

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

    private JsonNode answer(String path, String body) throws Exception {
        HttpResponse<String> response = post(path, body);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return JsonMapper.shared().readTree(response.body());
    }

    private String streamed(String body) throws Exception {
        StringBuilder text = new StringBuilder();
        OpenAiServer.events(post("chat/completions", OpenAiServer.with(body, "\"stream\": true")))
                .forEach(event -> text.append(event.path("choices")
                        .get(0)
                        .path("delta")
                        .path("content")
                        .asString("")));
        return text.toString();
    }

    private String text(String body) throws Exception {
        return answer("chat/completions", body)
                .path("choices")
                .get(0)
                .path("message")
                .path("content")
                .stringValue();
    }

    @Test
    void requestsAtTheSameTimeAnswerAsAlone() throws Exception {
        List<String> bodies = IntStream.range(0, 6)
                .mapToObj(i ->
                        "{\"messages\": [{\"role\": \"user\", \"content\": \"%s\"}], \"temperature\": %s, \"seed\": %d, \"max_tokens\": %d}"
                                .formatted("Tell me more. ".repeat(1 + i % 3), i % 3 * 0.5, i, 12 + i))
                .toList();
        List<String> alone = new ArrayList<>();
        for (String body : bodies) {
            alone.add(text(body));
        }
        List<Future<String>> together = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (String body : bodies) {
                together.add(threads.submit(() -> text(body)));
                together.add(threads.submit(() -> streamed(body)));
            }
        }
        for (int i = 0; i < together.size(); i++) {
            assertThat(together.get(i).get()).isEqualTo(alone.get(i / 2));
        }
    }

    @Test
    void logProbabilitiesBelongToTheAnswer() throws Exception {
        String body =
                "{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}], \"max_tokens\": 12, \"logprobs\": true, \"top_logprobs\": 2}";
        JsonNode choice = answer("chat/completions", body).path("choices").get(0);
        JsonNode content = choice.path("logprobs").path("content");
        List<Byte> bytes = new ArrayList<>();
        for (JsonNode token : content) {
            token.path("bytes").forEach(each -> bytes.add((byte) each.intValue()));
            assertThat(token.path("top_logprobs").size()).isEqualTo(2);
            // the choice is greedy
            assertThat(token.path("logprob"))
                    .isEqualTo(token.path("top_logprobs").get(0).path("logprob"));
            assertThat(token.path("logprob").doubleValue()).isNegative();
            assertThat(token.path("top_logprobs").get(1).path("logprob").doubleValue())
                    .isLessThanOrEqualTo(token.path("logprob").doubleValue());
        }
        byte[] whole = new byte[bytes.size()];
        for (int i = 0; i < whole.length; i++) {
            whole[i] = bytes.get(i);
        }
        assertThat(new String(whole, StandardCharsets.UTF_8))
                .isEqualTo(choice.path("message").path("content").stringValue());

        List<JsonNode> streamed = new ArrayList<>();
        OpenAiServer.events(post("chat/completions", OpenAiServer.with(body, "\"stream\": true")))
                .forEach(event -> event.path("choices")
                        .get(0)
                        .path("logprobs")
                        .path("content")
                        .forEach(streamed::add));
        assertThat(streamed).containsExactlyElementsOf(content);

        JsonNode scores = answer("completions", "{\"prompt\": \"Hi\", \"max_tokens\": 8, \"logprobs\": 2}")
                .path("choices")
                .get(0)
                .path("logprobs");
        assertThat(scores.path("tokens").size())
                .isPositive()
                .isEqualTo(scores.path("token_logprobs").size())
                .isEqualTo(scores.path("top_logprobs").size())
                .isEqualTo(scores.path("text_offset").size());
    }

    /** Tokens are bytes, and most of these answers are no UTF-8. */
    @Test
    void eachTokenOfACompletionHasItsPlaceAndEachAlternativeItsKey() throws Exception {
        int parts = 0;
        for (int seed = 0; seed < 5; seed++) {
            JsonNode choice = answer(
                            "completions",
                            "{\"prompt\": \"Hi\", \"max_tokens\": 60, \"temperature\": 2, \"seed\": %d, \"logprobs\": 20}"
                                    .formatted(seed))
                    .path("choices")
                    .get(0);
            int[] text = choice.path("text").stringValue().codePoints().toArray();
            JsonNode scores = choice.path("logprobs");
            for (int i = 0; i < scores.path("tokens").size(); i++) {
                String token = scores.path("tokens").get(i).stringValue();
                int offset = scores.path("text_offset").get(i).intValue();
                if (token.startsWith("bytes:\\x")) {
                    parts++;
                    assertThat(text[offset]).as("%d of %s", i, choice).isGreaterThan(0x7f);
                } else if (!token.isEmpty()) {
                    assertThat(text[offset]).as("%d of %s", i, choice).isEqualTo(token.codePointAt(0));
                }
                assertThat(scores.path("top_logprobs").get(i).size()).isEqualTo(20);
            }
        }
        assertThat(parts).isGreaterThan(20);
    }

    @Test
    void formatsAreKept() throws Exception {
        for (int seed = 0; seed < 5; seed++) {
            String chat =
                    "{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}], \"temperature\": 1.5, \"seed\": %d, \"max_tokens\": 400, "
                            .formatted(seed);
            JsonNode choice = answer(
                            "chat/completions",
                            chat
                                    + "\"response_format\": {\"type\": \"json_schema\", \"json_schema\": {\"name\": \"weather\", \"strict\": true, \"schema\": {\"type\": \"object\", \"properties\": {\"sky\": {\"enum\": [\"blue\", \"grey\"]}, \"degrees\": {\"type\": \"integer\", \"minimum\": -50, \"maximum\": 50}}, \"required\": [\"sky\", \"degrees\"], \"additionalProperties\": false}}}}")
                    .path("choices")
                    .get(0);
            JsonNode weather = JsonMapper.shared()
                    .readTree(choice.path("message").path("content").stringValue());
            assertThat(weather.path("sky").stringValue()).isIn("blue", "grey");
            assertThat(weather.path("degrees").intValue()).isBetween(-50, 50);
            assertThat(choice.path("finish_reason").stringValue()).isEqualTo("stop");
            JsonNode any = answer("chat/completions", chat + "\"response_format\": {\"type\": \"json_object\"}}")
                    .path("choices")
                    .get(0);
            String text = any.path("message").path("content").stringValue();
            assertThat(text).startsWith("{");
            if (any.path("finish_reason").stringValue().equals("stop")) {
                assertThat(JsonMapper.shared().readTree(text).isObject()).isTrue();
            }
        }
    }

    @Test
    void forcedCallsAreCalls() throws Exception {
        String tools = """
                "tools": [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object",
                    "properties": {"day": {"$ref": "#/$defs/day"}}, "required": ["day"],
                    "$defs": {"day": {"enum": ["today", "tomorrow"]}}}}},
                  {"type": "function", "function": {"name": "time"}}]""";
        for (int seed = 0; seed < 6; seed++) {
            JsonNode choice = answer(
                            "chat/completions",
                            "{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}], \"temperature\": 2, \"seed\": %d, \"max_tokens\": 200, \"tool_choice\": \"required\", %s}"
                                    .formatted(seed, tools))
                    .path("choices")
                    .get(0);
            JsonNode call = choice.path("message").path("tool_calls").path(0).path("function");
            assertThat(choice.path("finish_reason").stringValue())
                    .as(choice.toString())
                    .isEqualTo("tool_calls");
            JsonNode arguments =
                    JsonMapper.shared().readTree(call.path("arguments").stringValue());
            if (call.path("name").stringValue().equals("weather")) {
                assertThat(arguments.path("day").stringValue()).isIn("today", "tomorrow");
            } else {
                assertThat(call.path("name").stringValue()).isEqualTo("time");
            }
        }
    }

    @Test
    void aBiasForcesAndForbidsTokens() throws Exception {
        String body = "{\"prompt\": \"Hi\", \"max_tokens\": 3, \"logit_bias\": {\"65\": 100}}";
        assertThat(answer("completions", body)
                        .path("choices")
                        .get(0)
                        .path("text")
                        .stringValue())
                .isEqualTo("AAA");
    }

    @Test
    void aTooLongPromptHasItsOwnCode() throws Exception {
        HttpResponse<String> response = post(
                "chat/completions",
                "{\"messages\": [{\"role\": \"user\", \"content\": \"%s\"}]}".formatted("x".repeat(5000)));
        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.body())
                .contains("a prompt of 5004 tokens", "\"param\":\"messages\",\"code\":\"context_length_exceeded\"");
    }

    @Test
    void lengthsAndTokensBeyondTheModelAreTheClientsFault() throws Exception {
        for (String body : List.of(
                "{\"prompt\": \"%s\"}".formatted("x".repeat(5000)),
                "{\"prompt\": \"x\", \"max_tokens\": 2147483647}",
                "{\"prompt\": [100000]}",
                "{\"prompt\": \"x\", \"logit_bias\": {\"100000\": 5}}")) {
            HttpResponse<String> response = post("completions", body);
            assertThat(response.statusCode()).as(response.body()).isEqualTo(400);
            assertThat(response.body()).contains("\"type\":\"invalid_request_error\"");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
