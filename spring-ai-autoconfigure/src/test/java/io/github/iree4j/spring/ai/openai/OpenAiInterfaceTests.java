package io.github.iree4j.spring.ai.openai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.iree4j.generation.GenerationRequest;
import io.github.iree4j.spring.ai.encoder.IreeEmbeddingModel;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.net.Socket;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.ai.observation.conventions.AiOperationType;
import org.springframework.beans.factory.annotation.Autowired;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The features that OpenAI's clients rely on. */
class OpenAiInterfaceTests extends OpenAiServer {

    static final String TOOLS = """
            "tools": [{"type": "function", "function": {"name": "weather", "description": "Tells the weather",
              "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}]""";
    private static final String CALL =
            "<tool_call>{\"name\": \"weather\", \"arguments\": {\"city\": \"Zürich\"}}</tool_call>";

    @Autowired
    private IreeEmbeddingModel embedding;

    private static String golden(String json) {
        return json.replaceAll("\"(chatcmpl|cmpl)-[0-9a-f]{32}\"", "\"$1-ID\"")
                .replaceAll("\"created\":\\d{10}", "\"created\":TIME");
    }

    @Test
    void anAnswerHasTheFormOfTheInterface() throws Exception {
        script.answer("Grüezi 🎉");
        script.share(2);
        assertThat(golden(answer(CHAT, HELLO).toString())).isEqualTo("""
                {"id":"chatcmpl-ID","object":"chat.completion","created":TIME,"model":"chat","choices":[{"index":0,\
                "message":{"role":"assistant","content":"Grüezi 🎉","refusal":null},"logprobs":null,"finish_reason":"stop"}],\
                "usage":{"prompt_tokens":6,"completion_tokens":13,"total_tokens":19,"prompt_tokens_details":{"cached_tokens":2}}}""");
        assertThat(golden(answer("/v1/completions", "{\"model\": \"chat\", \"prompt\": \"Hi\"}")
                        .toString()))
                .isEqualTo("""
                {"id":"cmpl-ID","object":"text_completion","created":TIME,"model":"chat","choices":[{"index":0,\
                "text":"Grüezi 🎉","logprobs":null,"finish_reason":"stop"}],\
                "usage":{"prompt_tokens":2,"completion_tokens":13,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":2}}}""");
    }

    @Test
    void aStreamHasTheFormOfTheInterface() throws Exception {
        script.answer("Hé");
        HttpResponse<String> response =
                post(CHAT, with(HELLO, "\"stream\": true, \"stream_options\": {\"include_usage\": true}"));
        assertThat(response.headers().firstValue("Content-Type").orElse("")).startsWith("text/event-stream");
        String head =
                "data: {\"id\":\"chatcmpl-ID\",\"object\":\"chat.completion.chunk\",\"created\":TIME,\"model\":\"chat\",\"choices\":[";
        String tail = "],\"usage\":null}\n\n";
        assertThat(golden(response.body()))
                .isEqualTo(head
                        + "{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"logprobs\":null,\"finish_reason\":null}"
                        + tail
                        + head
                        + "{\"index\":0,\"delta\":{\"content\":\"H\"},\"logprobs\":null,\"finish_reason\":null}"
                        + tail
                        + head
                        + "{\"index\":0,\"delta\":{\"content\":\"é\"},\"logprobs\":null,\"finish_reason\":null}"
                        + tail
                        + head
                        + "{\"index\":0,\"delta\":{},\"logprobs\":null,\"finish_reason\":\"stop\"}"
                        + tail
                        + head
                        + "],\"usage\":{\"prompt_tokens\":6,\"completion_tokens\":4,\"total_tokens\":10,\"prompt_tokens_details\":{\"cached_tokens\":0}}}\n\n"
                        + "data: [DONE]\n\n");
        String text = golden(
                post("/v1/completions", "{\"prompt\": \"x\", \"stream\": true}").body());
        assertThat(text)
                .startsWith("""
                data: {"id":"cmpl-ID","object":"text_completion","created":TIME,"model":"chat","choices":[{"index":0,"text":"H","logprobs":null,"finish_reason":null}]}

                """)
                .endsWith("\"text\":\"\",\"logprobs\":null,\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
                .doesNotContain("usage");
    }

    /** Asks both ways, which must be equal, and returns the blocking answer. */
    private JsonNode both(String path, String body) throws Exception {
        JsonNode whole = answer(path, body);
        List<JsonNode> events =
                events(post(path, with(body, "\"stream\": true, \"stream_options\": {\"include_usage\": true}")));
        Map<Integer, StringBuilder> texts = new TreeMap<>();
        Map<Integer, String> reasons = new TreeMap<>();
        Map<Integer, List<JsonNode>> calls = new TreeMap<>();
        for (JsonNode event : events) {
            assertThat(event.path("id")).isEqualTo(events.getFirst().path("id"));
            for (JsonNode choice : event.path("choices")) {
                int index = choice.path("index").intValue();
                JsonNode delta = choice.path("delta");
                texts.computeIfAbsent(index, _ -> new StringBuilder())
                        .append(delta.path("content").asString(""))
                        .append(choice.path("text").asString(""));
                delta.path("tool_calls")
                        .forEach(call -> calls.computeIfAbsent(index, _ -> new ArrayList<>())
                                .add(call));
                if (choice.path("finish_reason").isString()) {
                    reasons.put(index, choice.path("finish_reason").stringValue());
                }
            }
        }
        for (JsonNode choice : whole.path("choices")) {
            int index = choice.path("index").intValue();
            JsonNode message = choice.path("message");
            assertThat(texts.get(index))
                    .hasToString(message.path("content").asString("")
                            + choice.path("text").asString(""));
            assertThat(reasons.get(index))
                    .isEqualTo(choice.path("finish_reason").stringValue());
            for (int i = 0; i < message.path("tool_calls").size(); i++) {
                assertThat(calls.get(index).get(i).path("index").intValue()).isEqualTo(i);
                assertThat(calls.get(index).get(i).path("function"))
                        .isEqualTo(message.path("tool_calls").get(i).path("function"));
                assertThat(calls.get(index).get(i).path("id"))
                        .isEqualTo(message.path("tool_calls").get(i).path("id"));
            }
        }
        assertThat(reasons).hasSize(whole.path("choices").size());
        assertThat(events.getLast().path("choices").isEmpty()).isTrue();
        assertThat(events.getLast().path("usage")).isEqualTo(whole.path("usage"));
        return whole;
    }

    @Test
    void streamsEqualAnswersAndCountTheSame() throws Exception {
        script.answer("世界, one STOP two");
        script.share(4);
        both(CHAT, HELLO);
        both(CHAT, with(HELLO, "\"stop\": \"STOP\""));
        both(CHAT, with(HELLO, "\"stop\": [\"x\", \"TOP\"], \"n\": 3"));
        both(CHAT, with(HELLO, "\"max_tokens\": 5"));
        both("/v1/completions", "{\"prompt\": [\"a\", \"bb\"], \"n\": 2}");
        JsonNode cut = both(CHAT, with(HELLO, "\"max_completion_tokens\": 7, \"n\": 2"));
        assertThat(cut.path("choices").get(1).path("finish_reason").stringValue())
                .isEqualTo("length");
        assertThat(cut.path("usage").path("completion_tokens").intValue()).isEqualTo(14);
        assertThat(cut.path("usage").path("prompt_tokens").intValue()).isEqualTo(6);
        script.answer("Let me see. " + CALL + " " + CALL);
        both(CHAT, with(HELLO, TOOLS));
    }

    @Test
    void toolsAreOfferedCalledAndAnswered() throws Exception {
        script.answer(CALL);
        JsonNode choice = answer(CHAT, with(HELLO, TOOLS)).path("choices").get(0);
        assertThat(choice.path("finish_reason").stringValue()).isEqualTo("tool_calls");
        assertThat(choice.path("message").path("content").isNull()).isTrue();
        assertThat(choice.path("message").path("tool_calls").toString())
                .isEqualTo(
                        "[{\"id\":\"call-0\",\"type\":\"function\",\"function\":{\"name\":\"weather\",\"arguments\":\"{\\\"city\\\":\\\"Zürich\\\"}\"}}]");
        assertThat(script.prompt(0))
                .startsWith(
                        "<|begin|><|system|>{\"type\": \"function\", \"function\": {\"name\": \"weather\", \"description\": \"Tells the weather\", \"parameters\": {\"type\": \"object\", ");
        script.answer("Sunny.");
        String more = """
                {"messages": [{"role": "developer", "content": "Be kind."},
                  {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
                  {"role": "assistant", "content": null, "refusal": null, "annotations": [], "tool_calls": [
                    {"id": "call-0", "type": "function", "function": {"name": "weather", "arguments": "{\\"city\\": \\"Bern\\"}"}}]},
                  {"role": "tool", "tool_call_id": "call-0", "content": "sunny"}], %s}""".formatted(TOOLS);
        assertThat(answer(CHAT, more)
                        .path("choices")
                        .get(0)
                        .path("message")
                        .path("content")
                        .stringValue())
                .isEqualTo("Sunny.");
        assertThat(script.prompt(0))
                .endsWith(
                        "<|system|>Be kind.<|end|><|user|>a\nb<|end|><|assistant|><tool_call>{\"name\": \"weather\", \"arguments\": {\"city\": \"Bern\"}}</tool_call><|end|><|tool|>sunny<|end|><|assistant|>");
        script.answer(CALL);
        choice = answer(CHAT, with(with(HELLO, TOOLS), "\"tool_choice\": \"none\""))
                .path("choices")
                .get(0);
        assertThat(choice.path("message").path("content").stringValue()).isEqualTo(CALL);
        assertThat(script.prompt(0)).doesNotContain("weather");
    }

    @Test
    void aForcedCallIsTheWholeAnswer() throws Exception {
        String arguments = "{\"city\": \"Bern\"}";
        for (String choice :
                List.of("\"required\"", "{\"type\": \"function\", \"function\": {\"name\": \"weather\"}}")) {
            script.answer("{\"name\": \"weather\", \"arguments\": " + arguments + "}");
            JsonNode whole =
                    both(CHAT, with(with(HELLO, TOOLS), "\"parallel_tool_calls\": false, \"tool_choice\": " + choice));
            JsonNode answer = whole.path("choices").get(0);
            assertThat(answer.path("finish_reason").stringValue()).isEqualTo("tool_calls");
            assertThat(answer.path("message").path("content").isNull()).isTrue();
            assertThat(answer.path("message")
                            .path("tool_calls")
                            .get(0)
                            .path("function")
                            .path("name")
                            .stringValue())
                    .isEqualTo("weather");
            assertThat(script.prompt(0)).endsWith("<|assistant|><tool_call>\n");
            assertThat(script.requests().getFirst().sampling().constraint()).isPresent();
        }
        script.answer("{\"name\": \"weather\", \"arg");
        JsonNode cut = answer(CHAT, with(with(HELLO, TOOLS), "\"max_tokens\": 9, \"tool_choice\": \"required\""));
        assertThat(cut.path("choices").get(0).path("message").path("content").stringValue())
                .isEqualTo("{\"name\": ");
        assertThat(cut.path("choices").get(0).path("finish_reason").stringValue())
                .isEqualTo("length");
    }

    @Test
    void parametersReachTheGenerator() throws Exception {
        script.answer("");
        answer(
                CHAT,
                with(
                        HELLO,
                        "\"temperature\": 0.5, \"top_p\": 0.25, \"top_k\": 3, \"min_p\": 0.125, \"seed\": 7, \"n\": 2, \"max_tokens\": 9, \"user\": \"me\", \"store\": false, \"logprobs\": true, \"top_logprobs\": 4, \"frequency_penalty\": 0.5, \"presence_penalty\": -0.5, \"repetition_penalty\": 1.5, \"logit_bias\": {\"65\": -100}, \"response_format\": {\"type\": \"text\"}, \"parallel_tool_calls\": true"));
        assertThat(script.requests()).hasSize(2);
        GenerationRequest first = script.requests().getFirst();
        assertThat(first.maximumTokens()).isEqualTo(9);
        assertThat(first.tenant()).isEqualTo("me");
        assertThat(first.sampling().temperature()).isEqualTo(0.5f);
        assertThat(first.sampling().topP()).isEqualTo(0.25f);
        assertThat(first.sampling().topK()).isEqualTo(3);
        assertThat(first.sampling().minP()).isEqualTo(0.125f);
        assertThat(first.sampling().frequencyPenalty()).isEqualTo(0.5f);
        assertThat(first.sampling().presencePenalty()).isEqualTo(-0.5f);
        assertThat(first.sampling().repetitionPenalty()).isEqualTo(1.5f);
        assertThat(first.sampling().logitBias()).isEqualTo(Map.of(65, -100f));
        assertThat(first.sampling().logProbabilities()).hasValue(4);
        assertThat(script.requests()).extracting(each -> each.sampling().seed()).containsExactly(7L, 8L);
    }

    @Test
    void metersCanTellChatsFromCompletions() throws Exception {
        script.answer("x");
        answer(CHAT, HELLO);
        answer("/v1/completions", "{\"prompt\": [\"a\", \"bb\"]}");
        assertThat(script.operations())
                .containsExactly(
                        AiOperationType.CHAT, AiOperationType.TEXT_COMPLETION, AiOperationType.TEXT_COMPLETION);
    }

    @Test
    void completionsContinueTextsAndTokens() throws Exception {
        script.answer("x");
        JsonNode answer = answer("/v1/completions", "{\"prompt\": [[72, 105], [65]], \"best_of\": 1}");
        assertThat(script.prompt(0)).isEqualTo("Hi");
        assertThat(script.prompt(1)).isEqualTo("A");
        assertThat(answer.path("choices").get(1).path("index").intValue()).isEqualTo(1);
        script.answer("x");
        answer("/v1/completions", "{\"prompt\": [72, 105]}");
        assertThat(script.prompt(0)).isEqualTo("Hi");
    }

    @Test
    void modelsAreListed() throws Exception {
        JsonNode models = JsonMapper.shared().readTree(send(to("/v1/models")).body());
        assertThat(models.path("object").stringValue()).isEqualTo("list");
        assertThat(models.path("data"))
                .extracting(each -> each.path("id").stringValue())
                .containsExactly("chat", "encoder");
        JsonNode one = JsonMapper.shared().readTree(send(to("/v1/models/chat")).body());
        assertThat(one).isEqualTo(models.path("data").get(0));
        assertThat(one.propertyNames()).containsExactly("id", "object", "created", "owned_by");
        assertThat(error(send(to("/v1/models/other")), 404).path("code").stringValue())
                .isEqualTo("model_not_found");
    }

    @Test
    void embeddingsMatchTheModel() throws Exception {
        float[] expected = embedding.embed("A man is eating food.");
        JsonNode answer = answer(
                "/v1/embeddings",
                "{\"model\": \"encoder\", \"input\": [\"A man is eating food.\", \"other\"], \"encoding_format\": \"float\"}");
        assertThat(answer.path("object").stringValue()).isEqualTo("list");
        assertThat(answer.path("model").stringValue()).isEqualTo("encoder");
        assertThat(answer.path("usage").path("prompt_tokens").intValue()).isPositive();
        JsonNode numbers = answer.path("data").get(0).path("embedding");
        assertThat(answer.path("data").get(1).path("index").intValue()).isEqualTo(1);
        assertThat(numbers.size()).isEqualTo(expected.length);
        for (int i = 0; i < expected.length; i++) {
            assertThat(numbers.get(i).floatValue()).isEqualTo(expected[i], within(1e-6f));
        }
        byte[] bytes = Base64.getDecoder()
                .decode(answer(
                                "/v1/embeddings",
                                "{\"input\": \"A man is eating food.\", \"encoding_format\": \"base64\"}")
                        .path("data")
                        .get(0)
                        .path("embedding")
                        .stringValue());
        float[] decoded = new float[expected.length];
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(decoded);
        assertThat(decoded).containsExactly(expected);
        assertThat(answer("/v1/embeddings", "{\"input\": \"x\", \"dimensions\": 8}")
                        .path("data")
                        .get(0)
                        .path("embedding")
                        .size())
                .isEqualTo(8);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "frequency_penalty | 2.5",
                "repetition_penalty | 0",
                "presence_penalty | -3",
                "logit_bias | {\"5\": 101}",
                "logit_bias | {\"-5\": 1}",
                "logit_bias | {\"a\": 1}",
                "logit_bias | {\"5\": \"1\"}",
                "logit_bias | [5]",
                "logprobs | 1",
                "top_logprobs | 21",
                "top_logprobs | 2",
                "response_format.type | {\"type\": \"xml\"}",
                "response_format.schema | {\"type\": \"json_object\", \"schema\": {}}",
                "response_format.json_schema | {\"type\": \"json_schema\"}",
                "response_format.json_schema | {\"type\": \"json_schema\", \"json_schema\": {\"name\": \"a\"}}",
                "response_format.json_schema.schema | {\"type\": \"json_schema\", \"json_schema\": {\"schema\": {\"type\": \"hiccup\"}}}",
                "response_format.json_schema.schema | {\"type\": \"json_schema\", \"json_schema\": {\"schema\": {\"$ref\": \"#\"}}}",
                "response_format.json_schema.schema | {\"type\": \"json_schema\", \"json_schema\": {\"schema\": {\"type\": \"string\", \"pattern\": \"^((a{500}){500}){500}$\"}}}",
                "response_format.json_schema.schema | {\"type\": \"json_schema\", \"json_schema\": {\"schema\": {\"type\": \"string\", \"pattern\": \"^(a*)*[ab]*a[ab]{400}$\"}}}",
                "response_format.json_schema.schema | {\"type\": \"json_schema\", \"json_schema\": {\"schema\": {\"type\": \"array\", \"items\": {\"type\": \"integer\"}, \"maxItems\": 1000000000}}}",
                "tool_choice | \"required\"",
                "tool_choice | \"any\"",
                "tool_choice | [1]",
                "tool_choice.function.name | {\"type\": \"function\", \"function\": {\"name\": \"weather\"}}",
                "n | 0",
                "n | 100",
                "n | \"1\"",
                "temperature | 3",
                "temperature | \"hot\"",
                "temperature | 1e999",
                "top_p | 0",
                "top_p | 1.5",
                "top_k | -1",
                "seed | 0.5",
                "seed | 99999999999999999999",
                "max_tokens | 0",
                "max_tokens | -1",
                "max_completion_tokens | 99999999999",
                "stop | 5",
                "stop | \"\"",
                "stop | [\"a\", \"b\", \"c\", \"d\", \"e\"]",
                "stream | 1",
                "stream_options | {\"include_usage\": true}",
                "parallel_tool_calls | 1",
                "modalities | [\"audio\"]",
                "reasoning_effort | \"low\"",
                "functions | []",
                "tools[0].type | [{\"type\": \"retrieval\"}]",
                "tools[0].function.name | [{\"type\": \"function\", \"function\": {\"name\": \"a b\"}}]",
                "tools[0].function.strict | [{\"type\": \"function\", \"function\": {\"name\": \"a\", \"strict\": true}}]",
                "tools[0].function.parameters | [{\"type\": \"function\", \"function\": {\"name\": \"a\", \"parameters\": []}}]",
                "tools[1].function.name | [{\"type\": \"function\", \"function\": {\"name\": \"a\"}}, {\"type\": \"function\", \"function\": {\"name\": \"a\"}}]",
            })
    void impossibleParametersAreNamed(String parameter, String value) throws Exception {
        script.answer("x");
        String member = parameter.replaceAll("[.\\[].*", "");
        JsonNode error = error(post(CHAT, with(HELLO, "\"" + member + "\": " + value)), 400);
        assertThat(error.path("param").stringValue()).isEqualTo(parameter);
        assertThat(error.path("type").stringValue()).isEqualTo("invalid_request_error");
        assertThat(error.path("message").stringValue()).contains("'" + parameter + "'");
        assertThat(script.requests()).isEmpty();
    }

    @Test
    void aFormatAndToolsAreRefusedTogether() throws Exception {
        script.answer("x");
        String body = with(with(HELLO, TOOLS), "\"response_format\": {\"type\": \"json_object\"}");
        assertThat(error(post(CHAT, body), 400).path("param").stringValue()).isEqualTo("response_format");
        answer(CHAT, with(body, "\"tool_choice\": \"none\""));
        assertThat(script.requests().getFirst().sampling().constraint()).isPresent();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "messages | []",
                "messages | {}",
                "messages[0] | [1]",
                "messages[0].role | [{\"content\": \"x\"}]",
                "messages[0].role | [{\"role\": \"boss\", \"content\": \"x\"}]",
                "messages[0].content | [{\"role\": \"user\"}]",
                "messages[0].content | [{\"role\": \"user\", \"content\": 5}]",
                "messages[0].content[0].type | [{\"role\": \"user\", \"content\": [{\"type\": \"image_url\"}]}]",
                "messages[0].content[0] | [{\"role\": \"user\", \"content\": [null]}]",
                "messages[0].weight | [{\"role\": \"user\", \"content\": \"x\", \"weight\": 1}]",
                "messages[0].tool_call_id | [{\"role\": \"tool\", \"content\": \"x\", \"tool_call_id\": \"7\"}]",
                "messages[0].tool_calls[0].function.arguments | [{\"role\": \"assistant\", \"tool_calls\": [{\"type\": \"function\", \"id\": \"1\", \"function\": {\"name\": \"a\", \"arguments\": \"[\"}}]}]",
            })
    void unreadableMessagesAreNamed(String parameter, String messages) throws Exception {
        JsonNode error = error(post(CHAT, "{\"messages\": " + messages + "}"), 400);
        assertThat(error.path("param").stringValue()).isEqualTo(parameter);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "completions | prompt | {}",
                "completions | prompt | {\"prompt\": \"\"}",
                "completions | prompt | {\"prompt\": []}",
                "completions | prompt | {\"prompt\": [-1]}",
                "completions | prompt | {\"prompt\": [1.5]}",
                "completions | prompt | {\"prompt\": [[1], \"a\", {}]}",
                "completions | suffix | {\"prompt\": \"a\", \"suffix\": \"b\"}",
                "completions | echo | {\"prompt\": \"a\", \"echo\": true}",
                "completions | best_of | {\"prompt\": \"a\", \"best_of\": 2}",
                "completions | logprobs | {\"prompt\": \"a\", \"logprobs\": true}",
                "completions | n | {\"prompt\": [\"a\", \"b\"], \"n\": 20}",
                "embeddings | input | {}",
                "embeddings | input | {\"input\": []}",
                "embeddings | input | {\"input\": [1, 2]}",
                "embeddings | input | {\"input\": {\"a\": 1}}",
                "embeddings | encoding_format | {\"input\": \"a\", \"encoding_format\": \"hex\"}",
                "embeddings | dimensions | {\"input\": \"a\", \"dimensions\": 0}",
                "embeddings | truncate | {\"input\": \"a\", \"truncate\": true}",
            })
    void completionsAndEmbeddingsNameTheirParametersToo(String path, String parameter, String body) throws Exception {
        assertThat(error(post("/v1/" + path, body), 400).path("param").stringValue())
                .isEqualTo(parameter);
    }

    @Test
    void lengthsBeyondTheModelAreRefused() throws Exception {
        error(post("/v1/embeddings", "{\"input\": \"a\", \"dimensions\": 1000}"), 400);
        error(post("/v1/embeddings", "{\"input\": [\"\", \"a\"]}"), 400);
    }

    @Test
    void otherModelsAreNotFound() throws Exception {
        for (String path : List.of(CHAT, "/v1/completions", "/v1/embeddings")) {
            JsonNode error = error(post(path, "{\"model\": \"gpt-5\"}"), 404);
            assertThat(error.path("code").stringValue()).isEqualTo("model_not_found");
            assertThat(error.path("param").stringValue()).isEqualTo("model");
        }
    }

    @Test
    void otherPathsMethodsAndFormsAreRefusedInTheForm() throws Exception {
        error(send(to("/v1/audio/speech")), 404);
        error(post("/v1/responses", "{}"), 404);
        error(send(to(CHAT)), 405);
        error(send(to("/v1/models").POST(BodyPublishers.noBody())), 405);
        error(
                send(to(CHAT).setHeader("Content-Type", "application/x-www-form-urlencoded")
                        .POST(BodyPublishers.ofString(HELLO))),
                415);
        error(send(to(CHAT).header("Content-Encoding", "gzip").POST(BodyPublishers.ofString(HELLO))), 415);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "[]",
                "5",
                "{",
                "{\"messages\": [{\"role\": \"user\", \"content\": \"Hi",
                "{\"temperature\": NaN}",
                "{\"temperature\": -Infinity}",
                "{\"messages\": 1, \"messages\": 2}",
                "{} {}",
                "{\"messages\": [{\"role\": \"user\", \"content\": \"\\ud83c\"}]}",
                "{\"messages\": [{\"role\": \"user\", \"content\": \"\\udf89\\ud83c\"}]}",
                "{\"\\ud83c\": 1}",
            })
    void bodiesOfNoRequestAreRefused(String body) throws Exception {
        assertThat(error(post(CHAT, body), 400).path("type").stringValue()).isEqualTo("invalid_request_error");
    }

    @Test
    void hostileBodiesAreRefused() throws Exception {
        error(post(CHAT, "[".repeat(100_000)), 400);
        error(post(CHAT, "{\"a\":".repeat(50_000)), 400);
        error(post(CHAT, with(HELLO, "\"tools\": " + "[".repeat(99) + "]".repeat(99))), 400);
        error(post(CHAT, with(HELLO, "\"seed\": " + "9".repeat(5000))), 400);
        error(post(CHAT, with(HELLO, "\"" + "x".repeat(5000) + "\": 1")), 400);
        error(post(CHAT, "{\"messages\": [" + "1,".repeat(20_000) + "1]}"), 400);
        error(post(CHAT, "x".repeat(300_000)), 413);
        error(
                send(to(CHAT).POST(BodyPublishers.ofByteArray(
                        new byte[] {'{', '"', 'a', '"', ':', '"', (byte) 0xC3, '"', '}'}))),
                400);
        error(
                send(to(CHAT).POST(BodyPublishers.ofByteArray(
                        new byte[] {'{', '"', 'a', '"', ':', '"', (byte) 0xED, (byte) 0xA0, (byte) 0x80, '"', '}'}))),
                400);
        assertThat(limits.inFlight()).isZero();
    }

    @Test
    void bodiesWithBrokenFramesAreRefusedInTheForm() throws Exception {
        try (Socket socket = new Socket("localhost", port)) {
            socket.getOutputStream()
                    .write(
                            "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n{}\r\n0\r\n\r\n"
                                    .getBytes(StandardCharsets.US_ASCII));
            String response = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(response)
                    .startsWith("HTTP/1.1 400")
                    .contains(
                            "application/json",
                            "{\"error\":{\"message\":\"the body cannot be read",
                            "\"type\":\"invalid_request_error\"");
        }
    }

    @Test
    void failuresKeepTheirStatusBeforeAndWithinAStream() throws Exception {
        script.answer("abc");
        script.failAtTheEnd(IreeException.of(StatusCode.DEADLINE_EXCEEDED, "late"));
        assertThat(error(post(CHAT, HELLO), 504).path("type").stringValue()).isEqualTo("server_error");
        HttpResponse<String> response = post(CHAT, with(HELLO, "\"stream\": true"));
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body())
                .contains("\"content\":\"c\"")
                .endsWith(
                        "data: {\"error\":{\"message\":\"late\",\"type\":\"server_error\",\"param\":null,\"code\":null}}\n\n")
                .doesNotContain("[DONE]");
    }

    @Test
    void tooLongPromptsAreTheClientsFault() throws Exception {
        script.answer("x");
        error(
                post(
                        "/v1/completions",
                        "{\"prompt\": \"x\", \"max_tokens\": 2147483647, \"stop\": \"" + "y".repeat(2000) + "\"}"),
                400);
        assertThat(script.requests()).isEmpty();
    }
}
