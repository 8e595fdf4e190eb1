package io.github.iree4j.spring.ai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.generation.GenerationRequest;
import io.github.iree4j.generation.sampling.SamplingOptions;
import io.github.iree4j.generation.sampling.TokenConstraint;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.metadata.Usage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.MessageAggregator;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.content.Media;
import org.springframework.ai.model.tool.StructuredOutputChatOptions;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.util.MimeTypeUtils;
import reactor.core.Disposable;

/** On scripted tokens. */
@Timeout(300)
class IreeChatModelTests {
    @TempDir
    private static Path folder;

    private static Resource tokenizer;
    private final TestObservationRegistry observations = TestObservationRegistry.create();

    @BeforeAll
    static void write() {
        tokenizer = ByteTokenizer.write(folder);
    }

    private IreeChatModel model(TokenSource source, Consumer<ChatSettings.Builder> changes) {
        ChatSettings.Builder builder = ChatSettings.builder("chat", tokenizer);
        changes.accept(builder);
        return new IreeChatModel(source, builder.build(), observations, null);
    }

    private IreeChatModel model(TokenSource source) {
        return model(source, _ -> {});
    }

    /** Calls and streams, which must have the same answer, and returns the response of the call. */
    private ChatResponse answer(IreeChatModel model, Prompt prompt) {
        ChatResponse called = model.call(prompt);
        List<ChatResponse> chunks = model.stream(prompt).collectList().block();
        StringBuilder text = new StringBuilder();
        for (ChatResponse chunk : chunks) {
            text.append(chunk.getResult().getOutput().getText());
            assertThat(chunk.getMetadata().getModel()).isEqualTo("chat");
            assertThat(chunk.getMetadata().getId())
                    .isEqualTo(chunks.getFirst().getMetadata().getId());
        }
        assertThat(text).hasToString(called.getResult().getOutput().getText());
        for (ChatResponse chunk : chunks.subList(0, chunks.size() - 1)) {
            assertThat(chunk.getResult().getOutput().getText()).isNotEmpty().doesNotContain("\ufffd");
            assertThat(chunk.getResult().getMetadata().getFinishReason()).isNull();
            assertThat(chunk.hasToolCalls()).isFalse();
        }
        ChatResponse last = chunks.getLast();
        assertThat(last.getResult().getMetadata().getFinishReason())
                .isEqualTo(called.getResult().getMetadata().getFinishReason());
        assertThat(last.getMetadata().getUsage()).isEqualTo(called.getMetadata().getUsage());
        assertThat(last.getResult().getOutput().getToolCalls())
                .isEqualTo(called.getResult().getOutput().getToolCalls());
        return called;
    }

    @Test
    void answersWithTextUsageAndReason() {
        ScriptedTokens script = ScriptedTokens.text("Grüezi, 世界 🎉");
        script.sharedTokens = 16;
        ChatResponse response =
                answer(model(script), new Prompt(List.of(new SystemMessage("Be kind."), new UserMessage("Hi"))));
        assertThat(response.getResult().getOutput().getText()).isEqualTo("Grüezi, 世界 🎉");
        assertThat(response.getResult().getMetadata().getFinishReason()).isEqualTo("stop");
        Usage usage = response.getMetadata().getUsage();
        int prompt = script.requests.getFirst().promptLength();
        assertThat(usage.getPromptTokens()).isEqualTo(prompt).isEqualTo(1 + 1 + 8 + 1 + 1 + 2 + 1 + 1);
        assertThat(usage.getCompletionTokens()).isEqualTo(20 + 1);
        assertThat(usage.getTotalTokens()).isEqualTo(prompt + 21);
        assertThat(usage.getCacheReadInputTokens()).isEqualTo(16);
        assertThat(script.prompt(0)).isEqualTo("<|begin|><|system|>Be kind.<|end|><|user|>Hi<|end|><|assistant|>");
    }

    /** With a default of 4096 tokens, as many as a sequence has. */
    @Test
    void onlyTheDefaultOfMaximumTokensIsShortened() {
        ScriptedTokens script = ScriptedTokens.text("x");
        IreeChatModel model = model(script, settings -> settings.maxTokens(4096));
        ChatClient client = ChatClient.create(model);
        model.call(new Prompt("Hi"));
        model.call(new Prompt("Hi", model.getOptions()));
        model.call(new Prompt("Hi", ChatOptions.builder().temperature(0.5).build()));
        client.prompt("Hi").call().content();
        client.prompt("Hi").options(IreeChatOptions.builder().seed(1L)).call().content();
        int room = 4096 - script.requests.getFirst().promptLength();
        assertThat(script.requests)
                .extracting(GenerationRequest::maximumTokens)
                .containsExactly(room, room, room, room, room);
        script.requests.clear();
        model.call(new Prompt("Hi", ChatOptions.builder().maxTokens(4096).build()));
        model.call(new Prompt(
                "Hi",
                ((IreeChatOptions) model.getOptions()).mutate().maxTokens(4096).build()));
        client.prompt("Hi")
                .options(ChatOptions.builder().maxTokens(4096))
                .call()
                .content();
        assertThat(script.requests).extracting(GenerationRequest::maximumTokens).containsExactly(4096, 4096, 4096);
        assertThat(model.getOptions().getMaxTokens()).isEqualTo(4096);
    }

    @Test
    void aStreamIsReadableByTheAggregatorOfSpringAi() {
        List<ChatResponse> whole = new ArrayList<>();
        new MessageAggregator()
                .aggregate(model(ScriptedTokens.text("Hello")).stream(new Prompt("Hi")), whole::add)
                .blockLast();
        assertThat(whole.getFirst().getResult().getOutput().getText()).isEqualTo("Hello");
        assertThat(whole.getFirst().getMetadata().getUsage().getCompletionTokens())
                .isEqualTo(6);
        assertThat(whole.getFirst().getResult().getMetadata().getFinishReason()).isEqualTo("stop");
    }

    @Test
    void endsWithTheMaximumOfTokensAndMarksAHalfCharacter() {
        ScriptedTokens script = ScriptedTokens.text("ab🎉");
        ChatResponse response = model(script)
                .call(new Prompt("Hi", ChatOptions.builder().maxTokens(4).build()));
        assertThat(response.getResult().getOutput().getText()).isEqualTo("ab\ufffd");
        assertThat(response.getResult().getMetadata().getFinishReason()).isEqualTo("length");
    }

    @Test
    void stopSequencesAreNoPartOfTheAnswer() {
        ScriptedTokens script = ScriptedTokens.text("one STO two STOP three");
        ChatResponse response = answer(
                model(script),
                new Prompt(
                        "Hi",
                        ChatOptions.builder()
                                .stopSequences(List.of("STOP", "never"))
                                .build()));
        assertThat(response.getResult().getOutput().getText()).isEqualTo("one STO two ");
        assertThat(response.getResult().getMetadata().getFinishReason()).isEqualTo("stop");
        assertThat(response.getMetadata().getUsage().getCompletionTokens()).isEqualTo(16);
        assertThat(script.cancelled.getCount()).isZero();
        assertThat(model(ScriptedTokens.text("x ST"))
                        .call(new Prompt(
                                "Hi",
                                ChatOptions.builder()
                                        .stopSequences(List.of("STOP"))
                                        .build()))
                        .getResult()
                        .getOutput()
                        .getText())
                .isEqualTo("x ST");
    }

    private static ToolCallback tool(String name) {
        return FunctionToolCallback.builder(name, (Map<String, Object> input) -> "sunny")
                .description("Tells the " + name)
                .inputType(Map.class)
                .inputSchema("{\"type\": \"object\", \"properties\": {\"city\": {\"type\": \"string\"}}}")
                .build();
    }

    private static ChatOptions tools() {
        return ToolCallingChatOptions.builder().toolCallbacks(tool("weather")).build();
    }

    @Test
    void callsToolsAndReadsTheirAnswers() {
        ScriptedTokens script = ScriptedTokens.text(
                "Let me see. <tool_call>{\"name\": \"weather\", \"arguments\": {\"city\": \"Zürich\"}}</tool_call>");
        ChatResponse response = answer(model(script), new Prompt("Weather?", tools()));
        assertThat(response.getResult().getMetadata().getFinishReason()).isEqualTo("tool_calls");
        assertThat(response.hasToolCalls()).isTrue();
        assertThat(response.getResult().getOutput().getText()).isEqualTo("Let me see. ");
        ToolCall call = new ToolCall("call-0", "function", "weather", "{\"city\":\"Zürich\"}");
        assertThat(response.getResult().getOutput().getToolCalls()).containsExactly(call);
        assertThat(script.prompt(0))
                .startsWith(
                        "<|begin|><|system|>{\"type\": \"function\", \"function\": {\"name\": \"weather\", \"description\": \"Tells the weather\", \"parameters\": {\"type\": \"object\", ");

        ScriptedTokens next = ScriptedTokens.text("<tool_call>{\"name\": \"weather\"}</tool_call>");
        ChatResponse second = model(next)
                .call(new Prompt(
                        List.of(
                                new UserMessage("Weather?"),
                                AssistantMessage.builder()
                                        .content("")
                                        .toolCalls(List.of(call))
                                        .build(),
                                ToolResponseMessage.builder()
                                        .responses(List.of(new ToolResponse("call-0", "weather", "sunny")))
                                        .build()),
                        tools()));
        assertThat(next.prompt(0))
                .contains("<|assistant|><tool_call>{\"name\": \"weather\", \"arguments\": {\"city\": \"Z")
                .endsWith("<|tool|>sunny<|end|><|assistant|>");
        assertThat(second.getResult().getOutput().getToolCalls().getFirst().id())
                .isEqualTo("call-1");
    }

    @Test
    void hostileAnswersStayText() {
        for (String text : List.of(
                "<tool_call>{\"name\": \"format\", \"arguments\": {}}</tool_call>",
                "<tool_call>{\"name\": \"weather\", \"arguments\": {{{</tool_call>",
                "<tool_call>".repeat(40))) {
            ChatResponse response = answer(model(ScriptedTokens.text(text)), new Prompt("Hi", tools()));
            assertThat(response.getResult().getOutput().getText()).isEqualTo(text);
            assertThat(response.getResult().getMetadata().getFinishReason()).isEqualTo("stop");
        }
        String call = "<tool_call>{\"name\": \"weather\"}</tool_call>";
        assertThat(answer(model(ScriptedTokens.text(call)), new Prompt("Hi"))
                        .getResult()
                        .getOutput()
                        .getText())
                .as("without tools")
                .isEqualTo(call);
    }

    @Test
    void optionsOfARequestReplaceTheModelsOptions() {
        ScriptedTokens script = ScriptedTokens.text("x");
        IreeChatModel model = model(
                script,
                settings -> settings.temperature(0.5)
                        .topK(7)
                        .topP(0.9)
                        .seed(1)
                        .maxTokens(50)
                        .timeout(Duration.ofSeconds(9)));
        model.call(new Prompt("Hi"));
        model.call(new Prompt(
                "Hi", ChatOptions.builder().temperature(0.25).maxTokens(3).build()));
        model.call(new Prompt(
                "Hi",
                IreeChatOptions.builder()
                        .seed(5L)
                        .topK(2)
                        .topP(0.5)
                        .minP(0.25)
                        .frequencyPenalty(0.5)
                        .presencePenalty(-1.5)
                        .repetitionPenalty(1.25)
                        .timeout(Duration.ofSeconds(2))
                        .build()));
        assertThat(script.requests)
                .extracting(each -> each.sampling().temperature())
                .containsExactly(0.5f, 0.25f, 0.5f);
        assertThat(script.requests).extracting(each -> each.sampling().seed()).containsExactly(1L, 1L, 5L);
        assertThat(script.requests).extracting(each -> each.sampling().topK()).containsExactly(7, 7, 2);
        assertThat(script.requests).extracting(each -> each.sampling().topP()).containsExactly(0.9f, 0.9f, 0.5f);
        assertThat(script.requests).extracting(GenerationRequest::maximumTokens).containsExactly(50, 3, 50);
        assertThat(script.requests.get(2).timeout()).contains(Duration.ofSeconds(2));
        SamplingOptions last = script.requests.get(2).sampling();
        assertThat(last.minP()).isEqualTo(0.25f);
        assertThat(last.frequencyPenalty()).isEqualTo(0.5f);
        assertThat(last.presencePenalty()).isEqualTo(-1.5f);
        assertThat(last.repetitionPenalty()).isEqualTo(1.25f);
        IreeChatOptions options = (IreeChatOptions) model.getOptions();
        assertThat(options.mutate().build()).isEqualTo(options);
        assertThat(options.getSeed()).isEqualTo(1);
        assertThat(options.mutate().seed(2L).build()).isNotEqualTo(options);
    }

    @Test
    void rejectsOptionsBeyondTheModel() {
        IreeChatModel model = model(ScriptedTokens.text("x"));
        Media picture = new Media(MimeTypeUtils.IMAGE_PNG, new ByteArrayResource(new byte[1]));
        for (Prompt prompt : List.of(
                new Prompt("Hi", ChatOptions.builder().model("other").build()),
                new Prompt("Hi", ChatOptions.builder().presencePenalty(2.5).build()),
                new Prompt(
                        "Hi", ChatOptions.builder().stopSequences(List.of("")).build()),
                new Prompt("Hi", ChatOptions.builder().temperature(-1.0).build()),
                new Prompt("Hi", ChatOptions.builder().maxTokens(0).build()),
                new Prompt(List.of()),
                new Prompt(UserMessage.builder().text("Hi").media(picture).build()))) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> model.call(prompt))
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> model.stream(prompt).blockLast())
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
        }
    }

    @Test
    void anOutputSchemaConstrainsTheAnswer() {
        ScriptedTokens script = ScriptedTokens.text("{}");
        IreeChatModel model = model(script);
        ChatOptions schema = StructuredOutputChatOptions.builder()
                .outputSchema("{\"type\": \"object\"}")
                .build();
        model.call(new Prompt(
                "Hi",
                ((IreeChatOptions) model.getOptions())
                        .mutate()
                        .outputSchema("{\"type\": \"object\"}")
                        .build()));
        model.call(new Prompt("Hi", schema));
        model.call(new Prompt("Hi"));
        TokenConstraint first =
                script.requests.getFirst().sampling().constraint().orElseThrow();
        assertThat(script.requests.get(1).sampling().constraint()).containsSame(first); // which knows its tokens
        assertThat(script.requests.get(2).sampling().constraint()).isEmpty();
        for (ChatOptions options : List.of(
                IreeChatOptions.builder().outputSchema(" ").build(),
                IreeChatOptions.builder().outputSchema("{\"type\": 5}").build(),
                IreeChatOptions.builder()
                        .outputSchema("{\"type\": \"object\"}")
                        .toolCallbacks(List.of(tool("weather")))
                        .build())) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> model.call(new Prompt("Hi", options)))
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
        }
    }

    @Test
    void failuresKeepTheirStatusAndComeBehindTheText() {
        ScriptedTokens script = ScriptedTokens.text("ab");
        script.failure = IreeException.of(StatusCode.DEADLINE_EXCEEDED, "late");
        IreeChatModel model = model(script);
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> model.call(new Prompt("Hi")))
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED));
        List<String> seen = new ArrayList<>();
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> model.stream(new Prompt("Hi"))
                        .doOnNext(
                                chunk -> seen.add(chunk.getResult().getOutput().getText()))
                        .blockLast())
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED));
        assertThat(seen).containsExactly("a", "b");
    }

    @Test
    void cancellingTheSubscriptionCancelsTheRequest() throws Exception {
        ScriptedTokens script = ScriptedTokens.text("abc");
        script.waitAt = 2;
        IreeChatModel model = model(script);
        List<Throwable> failures = new ArrayList<>();
        Disposable subscription = model.stream(new Prompt("Hi")).take(5).subscribe(_ -> {}, failures::add);
        subscription.dispose();
        assertThat(script.cancelled.await(100, TimeUnit.SECONDS)).isTrue();
        assertThat(failures).isEmpty();
    }

    @Test
    void anInterruptedCallIsCancelled() {
        ScriptedTokens script = ScriptedTokens.text("abc");
        script.waitAt = 1;
        Thread.currentThread().interrupt();
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> model(script).call(new Prompt("Hi")))
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.CANCELLED));
        assertThat(Thread.interrupted()).isTrue();
        assertThat(script.cancelled.getCount()).isZero();
    }

    @Test
    void observesCallsAndStreams() throws Exception {
        CountDownLatch stopped = new CountDownLatch(2);
        observations.observationConfig().observationHandler(new ObservationHandler<>() {
            @Override
            public void onStop(Observation.Context context) {
                stopped.countDown();
            }

            @Override
            public boolean supportsContext(Observation.Context context) {
                return true;
            }
        });
        IreeChatModel model = model(ScriptedTokens.text("Hello"));
        Prompt prompt = new Prompt(
                "Hi",
                IreeChatOptions.builder()
                        .temperature(0.5)
                        .topK(7)
                        .stopSequences(List.of("STOP"))
                        .build());
        model.call(prompt);
        model.stream(prompt).blockLast();
        assertThat(stopped.await(100, TimeUnit.SECONDS)).isTrue(); // a moment behind the last chunk
        TestObservationRegistryAssert.assertThat(observations)
                .hasNumberOfObservationsWithNameEqualTo("gen_ai.client.operation", 2)
                .forAllObservationsWithNameEqualTo(
                        "gen_ai.client.operation",
                        each -> each.hasLowCardinalityKeyValue("gen_ai.system", "iree")
                                .hasLowCardinalityKeyValue("gen_ai.operation.name", "chat")
                                .hasLowCardinalityKeyValue("gen_ai.response.model", "chat")
                                .hasLowCardinalityKeyValue("gen_ai.request.model", "chat")
                                .hasHighCardinalityKeyValue("gen_ai.request.temperature", "0.5")
                                .hasHighCardinalityKeyValue("gen_ai.request.top_k", "7")
                                .hasHighCardinalityKeyValue("gen_ai.request.max_tokens", "512")
                                .hasHighCardinalityKeyValue("gen_ai.request.stop_sequences", "[\"STOP\"]")
                                .hasHighCardinalityKeyValueWithKey("gen_ai.response.id")
                                .hasHighCardinalityKeyValue("gen_ai.usage.input_tokens", "6")
                                .hasHighCardinalityKeyValue("gen_ai.usage.output_tokens", "6")
                                .hasHighCardinalityKeyValue("gen_ai.usage.total_tokens", "12")
                                .hasHighCardinalityKeyValue("gen_ai.response.finish_reasons", "[\"stop\"]"));
        TestObservationRegistryAssert.assertThat(observations).doesNotHaveAnyRemainingCurrentObservation();
    }

    @Test
    void templatesAndStopTokensCanBeReplaced() {
        ScriptedTokens script = ScriptedTokens.text("one|two");
        IreeChatModel model = model(
                script,
                settings -> settings.template("{{ messages[0].content }}").stopTokens(List.of("|")));
        assertThat(model.call("Hi")).isEqualTo("one");
        assertThat(script.prompt(0)).isEqualTo("Hi");
        Resource file = new ByteArrayResource("{{ messages|length }}\n".getBytes(StandardCharsets.UTF_8), "the file");
        model(script, settings -> settings.template(file)).call("Hi");
        assertThat(script.prompt(script.requests.size() - 1)).isEqualTo("1");
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> model(script, settings -> settings.stopTokens(List.of("<|none|>"))))
                .withMessageContaining("<|none|>");
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> new IreeChatModel(
                        script,
                        ChatSettings.builder("chat", TestTokenizers.file(ByteTokenizer.json()))
                                .build(),
                        ObservationRegistry.NOOP,
                        null))
                .withMessageContaining("chat_template.jinja");
    }
}
