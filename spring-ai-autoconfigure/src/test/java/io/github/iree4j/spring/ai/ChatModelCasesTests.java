package io.github.iree4j.spring.ai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.micrometer.observation.ObservationRegistry;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.ai.chat.memory.ChatMemory;
import org.springframework.ai.chat.memory.MessageWindowChatMemory;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.metadata.DefaultUsage;
import org.springframework.ai.chat.metadata.Usage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.MessageAggregator;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.DefaultToolCallingManager;
import org.springframework.ai.model.tool.ToolCallingManager;
import org.springframework.ai.model.tool.ToolExecutionResult;
import org.springframework.ai.support.ToolCallbacks;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.annotation.ToolParam;
import org.springframework.core.io.Resource;

/**
 * The cases of Spring AI's {@code OpenAiChatModelIT}, with scripted answers.
 *
 * <table>
 * <caption>Cases of Spring AI 2.0.1</caption>
 * <tr><th>Case</th><th>Here</th></tr>
 * <tr><td>{@code roleTest}, {@code streamRoleTest}, {@code testMessageHistory}</td><td>{@link
 * #rolesAndHistoryReachTheTemplateInTheirOrder}</td></tr>
 * <tr><td>{@code streamCompletenessTest}, {@code intermediateStreamingChunksHaveNullFinishReason}, {@code
 * streamingWithTokenUsage}</td><td>{@link #aStreamIsCompleteAndEndsWithReasonAndUsage}</td></tr>
 * <tr><td>{@code streamCompletenessTestWithChatResponse}, {@code ensureChatResponseAsContentDoesNotSwallowBlankSpace},
 * {@code functionCallUsageTest}, {@code streamFunctionCallUsageTest}, {@code validateCallResponseMetadata}</td><td>{@link
 * ToolCallingAdvisorCasesTests}</td></tr>
 * <tr><td>{@code listOutputConverter}, {@code mapOutputConverter}, {@code beanOutputConverter*}, {@code
 * beanStreamOutputConverterRecords}</td><td>{@link StructuredOutputCasesTests}</td></tr>
 * <tr><td>{@code functionCallTest}, {@code streamFunctionCallTest}</td><td>{@link #toolsRunUntilTheModelAnswers}</td></tr>
 * <tr><td>{@code chatMemory}</td><td>{@link #aMemoryHoldsTheConversation}</td></tr>
 * <tr><td>{@code chatMemoryWithTools}</td><td>{@link #aMemoryHoldsCallsAndResults}</td></tr>
 * <tr><td>{@code toolChoiceRequiredForcesToolCall}</td><td>{@link #aRequiredCallIsTheAnswer}</td></tr>
 * <tr><td>{@code toolChoiceNonePreventsToolCall}</td><td>{@link #withoutAChoiceOfToolsCallsAreText}</td></tr>
 * <tr><td>{@code toolWithOptionalParameterSucceedsUnderStrictMode}</td><td>{@link
 * #aRequiredCallMayLeaveOptionalParametersOut}</td></tr>
 * <tr><td>{@code multiModalityEmbeddedImage}, {@code multiModalityImageUrl}, {@code
 * streamingMultiModalityImageUrl}</td><td>refused: {@link IreeChatModelTests#rejectsOptionsBeyondTheModel}</td></tr>
 * <tr><td>{@code multiModalityOutputAudio}, {@code streamingMultiModalityOutputAudio}</td><td>do not apply: text
 * only</td></tr>
 * <tr><td>{@code reasoningContentTest}, {@code validateStoreAndMetadata}, {@code
 * testOpenAiRejectsUnknownParameter}</td><td>do not apply: OpenAI's options; over HTTP {@code
 * OpenAiInterfaceTests}</td></tr>
 * </table>
 */
@Timeout(300)
class ChatModelCasesTests {
    private static final String WEATHER =
            "<tool_call>{\"name\": \"weather\", \"arguments\": {\"city\": \"%s\"}}</tool_call>";

    @TempDir
    private static Path folder;

    private static Resource tokenizer;
    private final Tools tools = new Tools();
    private final ToolCallingManager manager =
            DefaultToolCallingManager.builder().build();

    /** Tools of an application. */
    static final class Tools {
        final List<String> cities = new ArrayList<>();

        @Tool(description = "Tells the weather")
        String weather(String city) {
            cities.add(city);
            return "It is %d degrees in %s".formatted(10 * cities.size(), city);
        }

        @Tool(description = "Greets a person")
        String greet(String name, @ToolParam(required = false) String title) {
            return title == null ? name : title + " " + name;
        }
    }

    @BeforeAll
    static void write() {
        tokenizer = ByteTokenizer.write(folder);
    }

    private static IreeChatModel model(TokenSource source) {
        return new IreeChatModel(
                source, ChatSettings.builder("chat", tokenizer).build(), ObservationRegistry.NOOP, null);
    }

    private static String text(ChatResponse response) {
        return response.getResult().getOutput().getText();
    }

    private static ChatResponse streamed(IreeChatModel model, Prompt prompt) {
        List<ChatResponse> whole = new ArrayList<>();
        new MessageAggregator().aggregate(model.stream(prompt), whole::add).blockLast();
        assertThat(whole).hasSize(1);
        return whole.getFirst();
    }

    private IreeChatOptions options(String choice) {
        return IreeChatOptions.builder()
                .toolCallbacks(List.of(ToolCallbacks.from(tools)))
                .toolChoice(choice)
                .build();
    }

    @Test
    void rolesAndHistoryReachTheTemplateInTheirOrder() {
        ScriptedTokens script = ScriptedTokens.text("Blackbeard.", "Blackbeard, again.");
        IreeChatModel model = model(script);
        ChatResponse first = model.call(new Prompt(new UserMessage("Who?"), new SystemMessage("Be a pirate.")));
        assertThat(first.getResults()).hasSize(1);
        assertThat(script.prompt(0))
                .isEqualTo("<|begin|><|user|>Who?<|end|><|system|>Be a pirate.<|end|><|assistant|>");
        ChatResponse second = streamed(
                model,
                new Prompt(new UserMessage("Dummy"), first.getResult().getOutput(), new UserMessage("Repeat that.")));
        assertThat(text(second)).isEqualTo("Blackbeard, again.");
        assertThat(script.prompt(1))
                .isEqualTo(
                        "<|begin|><|user|>Dummy<|end|><|assistant|>Blackbeard.<|end|><|user|>Repeat that.<|end|><|assistant|>");
    }

    @Test
    void aStreamIsCompleteAndEndsWithReasonAndUsage() {
        String numbers = IntStream.rangeClosed(1, 100).mapToObj(String::valueOf).collect(Collectors.joining("\n"));
        IreeChatModel model = model(ScriptedTokens.text(numbers));
        List<ChatResponse> chunks = Objects.requireNonNull(
                model.stream(new Prompt("Count.")).collectList().block());
        assertThat(chunks.stream().map(ChatModelCasesTests::text).collect(Collectors.joining()))
                .isEqualTo(numbers);
        assertThat(chunks.subList(0, chunks.size() - 1)).hasSizeGreaterThan(1).allSatisfy(each -> {
            assertThat(each.getResult().getMetadata().getFinishReason()).isNull();
            assertThat(each.getMetadata().getUsage().getTotalTokens()).isZero();
        });
        ChatResponse last = chunks.getLast();
        assertThat(last.getResult().getMetadata().getFinishReason()).isEqualTo("stop");
        Usage usage = last.getMetadata().getUsage();
        assertThat(usage)
                .isInstanceOf(DefaultUsage.class)
                .isEqualTo(model.call(new Prompt("Count.")).getMetadata().getUsage());
        assertThat(usage.getPromptTokens()).isPositive();
        assertThat(usage.getCompletionTokens()).isPositive();
        assertThat(usage.getTotalTokens()).isEqualTo(usage.getPromptTokens() + usage.getCompletionTokens());
        assertThat(last.getMetadata().getRateLimit()).isNotNull();
        assertThat(last.getMetadata().getPromptMetadata()).isNotNull();
        ChatResponse whole = streamed(model, new Prompt("Count."));
        assertThat(text(whole)).isEqualTo(numbers);
        assertThat(whole.getMetadata().getUsage().getTotalTokens()).isEqualTo(usage.getTotalTokens());
        assertThat(whole.getMetadata().getModel()).isEqualTo("chat");
        assertThat(whole.getMetadata().getId()).isNotEmpty();
    }

    @Test
    void toolsRunUntilTheModelAnswers() {
        for (boolean streaming : List.of(false, true)) {
            tools.cities.clear();
            ScriptedTokens script = ScriptedTokens.text(
                    WEATHER.formatted("Bern") + "\n" + WEATHER.formatted("Paris"),
                    WEATHER.formatted("Tokyo"),
                    "10, 20 and 30 degrees.");
            IreeChatModel model = model(script);
            IreeChatOptions options = options(null);
            Prompt prompt = new Prompt("Bern, Paris and Tokyo?", options);
            ChatResponse response = streaming ? streamed(model, prompt) : model.call(prompt);
            while (response.hasToolCalls()) {
                ToolExecutionResult result = manager.executeToolCalls(prompt, response);
                prompt = new Prompt(result.conversationHistory(), options);
                response = streaming ? streamed(model, prompt) : model.call(prompt);
            }
            assertThat(text(response)).isEqualTo("10, 20 and 30 degrees.");
            assertThat(tools.cities).containsExactly("Bern", "Paris", "Tokyo");
            assertThat(script.requests).hasSize(3);
            assertThat(script.prompt(2)).contains("10 degrees in Bern", "20 degrees in Paris", "30 degrees in Tokyo");
            assertThat(ids(prompt.getInstructions())).containsExactly("call-0", "call-1", "call-2");
        }
    }

    private static List<String> ids(List<Message> messages) {
        return messages.stream()
                .filter(AssistantMessage.class::isInstance)
                .flatMap(each -> ((AssistantMessage) each).getToolCalls().stream())
                .map(ToolCall::id)
                .toList();
    }

    @Test
    void aMemoryHoldsTheConversation() {
        ScriptedTokens script = ScriptedTokens.text("Hello, James Bond.", "James Bond.");
        IreeChatModel model = model(script);
        ChatMemory memory = MessageWindowChatMemory.builder().build();
        for (String message : List.of("My name is James Bond", "What is my name?")) {
            memory.add("id", new UserMessage(message));
            ChatResponse response = model.call(new Prompt(memory.get("id")));
            assertThat(response.getResults()).hasSize(1);
            memory.add("id", response.getResult().getOutput());
        }
        assertThat(script.prompt(1))
                .isEqualTo(
                        "<|begin|><|user|>My name is James Bond<|end|><|assistant|>Hello, James Bond.<|end|><|user|>What is my name?<|end|><|assistant|>");
    }

    @Test
    void aMemoryHoldsCallsAndResults() {
        ScriptedTokens script = ScriptedTokens.text(WEATHER.formatted("Bern"), "10 degrees.", "The weather in Bern.");
        IreeChatModel model = model(script);
        ChatMemory memory = MessageWindowChatMemory.builder().build();
        memory.add("id", List.of(new SystemMessage("Help."), new UserMessage("Weather?")));
        Prompt prompt = new Prompt(memory.get("id"), options(null));
        ChatResponse response = model.call(prompt);
        memory.add("id", response.getResult().getOutput());
        while (response.hasToolCalls()) {
            List<Message> history = manager.executeToolCalls(prompt, response).conversationHistory();
            memory.add("id", history.getLast());
            prompt = new Prompt(memory.get("id"), options(null));
            response = model.call(prompt);
            memory.add("id", response.getResult().getOutput());
        }
        memory.add("id", new UserMessage("What did I ask?"));
        assertThat(text(model.call(new Prompt(memory.get("id"))))).isEqualTo("The weather in Bern.");
        assertThat(script.prompt(2))
                .endsWith(
                        "<|user|>Weather?<|end|><|assistant|><tool_call>{\"name\": \"weather\", \"arguments\": {\"city\": \"Bern\"}}</tool_call><|end|>"
                                + "<|tool|>\"It is 10 degrees in Bern\"<|end|><|assistant|>10 degrees.<|end|><|user|>What did I ask?<|end|><|assistant|>");
    }

    @Test
    void aConversationWithoutItsBeginHasNoIdTwice() {
        ScriptedTokens script = ScriptedTokens.text(WEATHER.formatted("Bern"));
        List<Message> rest = List.of(
                AssistantMessage.builder()
                        .content("")
                        .toolCalls(List.of(new ToolCall("call-1", "function", "weather", "{}")))
                        .build(),
                ToolResponseMessage.builder()
                        .responses(List.of(new ToolResponse("call-1", "weather", "sunny")))
                        .build(),
                AssistantMessage.builder()
                        .content("")
                        .toolCalls(List.of(new ToolCall("of another model", "function", "weather", "{}")))
                        .build());
        ChatResponse response = model(script).call(new Prompt(rest, options(null)));
        assertThat(ids(List.of(response.getResult().getOutput()))).containsExactly("call-3");
    }

    @Test
    void aRequiredCallIsTheAnswer() {
        for (String choice : List.of("required", "weather")) {
            ScriptedTokens script = ScriptedTokens.text("{\"name\": \"weather\", \"arguments\": {\"city\": \"Bern\"}}");
            IreeChatModel model = model(script);
            Prompt prompt = new Prompt("Hello", options(choice));
            for (ChatResponse response : List.of(model.call(prompt), streamed(model, prompt))) {
                assertThat(response.getResult().getOutput().getToolCalls())
                        .containsExactly(new ToolCall("call-0", "function", "weather", "{\"city\":\"Bern\"}"));
                assertThat(response.getResult().getMetadata().getFinishReason()).isEqualTo("tool_calls");
            }
            assertThat(script.prompt(0)).endsWith("<|assistant|><tool_call>\n").contains("Tells the weather");
            assertThat(script.prompt(0).contains("Greets a person"))
                    .as("all tools are offered")
                    .isEqualTo(choice.equals("required"));
            assertThat(script.requests)
                    .allSatisfy(each -> assertThat(each.sampling().constraint()).isPresent());
        }
    }

    @Test
    void withoutAChoiceOfToolsCallsAreText() {
        ScriptedTokens script = ScriptedTokens.text(WEATHER.formatted("Bern"));
        IreeChatModel model = model(script);
        Prompt prompt = new Prompt("Hello", options("none"));
        for (ChatResponse response : List.of(model.call(prompt), streamed(model, prompt))) {
            assertThat(response.hasToolCalls()).isFalse();
            assertThat(text(response)).isEqualTo(WEATHER.formatted("Bern"));
        }
        assertThat(script.prompt(0)).isEqualTo("<|begin|><|user|>Hello<|end|><|assistant|>");
        IreeChatOptions schema =
                options("none").mutate().outputSchema("{\"type\": \"object\"}").build();
        model.call(new Prompt("Hello", schema)); // no tools, so no conflict
    }

    @Test
    void aRequiredCallMayLeaveOptionalParametersOut() {
        ScriptedTokens script =
                ScriptedTokens.text("{\"name\": \"greet\", \"arguments\": {\"name\": \"Alice\"}}", "Alice");
        IreeChatModel model = model(script);
        Prompt prompt = new Prompt("Greet Alice", options("greet"));
        ChatResponse response = model.call(prompt);
        List<Message> history = manager.executeToolCalls(prompt, response).conversationHistory();
        assertThat(history.getLast()).isInstanceOf(ToolResponseMessage.class);
        assertThat(((ToolResponseMessage) history.getLast())
                        .getResponses()
                        .getFirst()
                        .responseData())
                .isEqualTo("\"Alice\"");
        assertThat(text(model.call(new Prompt(history, options(null))))).isEqualTo("Alice");
    }

    @Test
    void aChoiceOfNoToolIsRefused() {
        IreeChatModel model = model(ScriptedTokens.text("x"));
        for (IreeChatOptions wrong : List.of(
                options("traffic"),
                options("required").mutate().toolCallbacks(List.of()).build())) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> model.call(new Prompt("Hello", wrong)))
                    .withMessageContaining(
                            "the tool choice is '%s', but the tools are".formatted(wrong.getToolChoice()))
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
        }
    }
}
