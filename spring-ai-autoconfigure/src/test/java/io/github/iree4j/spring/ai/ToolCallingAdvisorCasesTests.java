package io.github.iree4j.spring.ai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.micrometer.observation.ObservationRegistry;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.advisor.MessageChatMemoryAdvisor;
import org.springframework.ai.chat.client.advisor.ToolCallingAdvisor;
import org.springframework.ai.chat.memory.ChatMemory;
import org.springframework.ai.chat.memory.MessageWindowChatMemory;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.metadata.DefaultUsage;
import org.springframework.ai.chat.metadata.Usage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingManager;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.ai.tool.metadata.ToolMetadata;
import org.springframework.core.io.Resource;

/**
 * Chat clients whose advisor runs tools, called and streamed, with scripted answers.
 *
 * <table>
 * <caption>Cases of Spring AI 2.0.1</caption>
 * <tr><th>Case</th><th>Here</th></tr>
 * <tr><td>{@code AbstractToolCallingAdvisorIT}: {@code callMultipleToolInvocations}, {@code
 * streamMultipleToolInvocations}; {@code DefaultToolCallingManagerTests}: {@code
 * whenSingleToolCallInChatResponseThenExecute}, {@code whenMultipleToolCalls…}, {@code whenMixedMethodToolCalls…}</td>
 * <td>{@link #callsOfSeveralToolsRunInTheirOrder}</td></tr>
 * <tr><td>{@code callDefaultAdvisorConfiguration}, {@code streamDefaultAdvisorConfiguration}</td><td>{@link
 * #defaultAdvisorsRunTools}</td></tr>
 * <tr><td>{@code callMultipleToolInvocationsWithExternalMemory}, {@code callDefaultAdvisorConfigurationWithExternalMemory},
 * and the same two streamed</td><td>{@link #aMemoryInPlaceOfTheHistoryOfTheAdvisor}</td></tr>
 * <tr><td>{@code callWithReturnDirect}, {@code streamWithReturnDirect}, {@code whenSingleToolCallWithReturnDirect…}, {@code
 * whenMultipleToolCallsWithReturnDirect…}, {@code whenMultipleToolCallsWithMixedReturnDirect…}</td><td>{@link
 * #resultsReturnDirectlyIfEachToolSaysSo}</td></tr>
 * <tr><td>{@code callToolCallLimitIsEnforced}, {@code streamToolCallLimitIsEnforced}, {@code
 * whenMaxCallsPerToolExceeded…}, {@code whenMaxTotalToolCallsExceeded…}</td><td>{@link #aLimitOfCallsIsTheAnswer}</td></tr>
 * <tr><td>{@code whenDuplicateMixedToolCalls…}</td><td>{@link #theSameCallTwiceRunsTwice}</td></tr>
 * <tr><td>{@code whenToolCallWithExceptionThenReturnError}</td><td>{@link #theModelReadsFailuresOfTools}</td></tr>
 * <tr><td>{@code whenNoToolCallInChatResponseThenThrow}, {@code whenToolCallbackFallbackIsDefaultThenUnlistedToolIsRejected}</td>
 * <td>{@link #callsOfUnknownToolsAreNoCalls}</td></tr>
 * <tr><td>{@code ToolCallingAdvisorTests}: {@code adviseCallAccumulates*}, {@code adviseStreamAccumulates*}, {@code
 * advise*PreservesAccumulatedUsageForReturnDirect}, {@code adviseCallKeepsSingleCallUsageWhenNoToolCall}; {@code
 * OpenAiChatModelIT}: {@code functionCallUsageTest}, {@code streamFunctionCallUsageTest}</td><td>{@link
 * #usageIsTheSumOfTheAnswers}</td></tr>
 * <tr><td>{@code OpenAiChatModelIT}: {@code validateCallResponseMetadata}, {@code
 * streamCompletenessTestWithChatResponse}, {@code ensureChatResponseAsContentDoesNotSwallowBlankSpace}</td><td>{@link
 * #textAndMetadataReachTheClient}</td></tr>
 * <tr><td>the rest of both classes: null arguments, builders, orders, hooks, observations, counts of earlier turns</td>
 * <td>do not apply: no model takes part</td></tr>
 * </table>
 */
@Timeout(300)
class ToolCallingAdvisorCasesTests {
    private static final String CALL = "<tool_call>{\"name\": \"%s\", \"arguments\": {\"city\": \"%s\"}}</tool_call>";

    @TempDir
    private static Path folder;

    private static Resource tokenizer;
    private final List<String> run = new ArrayList<>();

    @BeforeAll
    static void write() {
        tokenizer = ByteTokenizer.write(folder);
    }

    private static IreeChatModel model(TokenSource source) {
        return new IreeChatModel(
                source, ChatSettings.builder("chat", tokenizer).build(), ObservationRegistry.NOOP, null);
    }

    private static String calls(String tool, String... cities) {
        return String.join(
                "\n",
                List.of(cities).stream().map(city -> CALL.formatted(tool, city)).toList());
    }

    private ToolCallback tool(String name, boolean direct) {
        return FunctionToolCallback.builder(name, (Map<String, Object> input) -> {
                    run.add(name + " " + input.get("city"));
                    if ("Atlantis".equals(input.get("city"))) {
                        throw new IllegalArgumentException("there is no " + input.get("city"));
                    }
                    return Map.of("temp", 10 * run.size());
                })
                .description("Tells the " + name)
                .inputType(Map.class)
                .inputSchema("{\"type\": \"object\", \"properties\": {\"city\": {\"type\": \"string\"}}}")
                .toolMetadata(ToolMetadata.builder().returnDirect(direct).build())
                .build();
    }

    /** Asks, and returns the answer; of a stream, the joined texts with the metadata of the last response. */
    private static ChatResponse ask(ChatClient.ChatClientRequestSpec request, boolean streaming) {
        if (!streaming) {
            return Objects.requireNonNull(request.call().chatResponse());
        }
        List<ChatResponse> chunks = Objects.requireNonNull(
                request.stream().chatResponse().collectList().block());
        StringBuilder text = new StringBuilder();
        chunks.forEach(each -> text.append(text(each)));
        return new ChatResponse(
                List.of(new Generation(
                        new AssistantMessage(text.toString()),
                        chunks.getLast().getResult().getMetadata())),
                chunks.getLast().getMetadata());
    }

    private static String text(ChatResponse response) {
        return response.getResult().getOutput().getText();
    }

    private ChatClient.ChatClientRequestSpec request(ScriptedTokens script, ToolCallback... tools) {
        return ChatClient.create(model(script))
                .prompt()
                .advisors(ToolCallingAdvisor.builder().build())
                .user("Weather?")
                .tools((Object[]) tools);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void callsOfSeveralToolsRunInTheirOrder(boolean streaming) {
        ScriptedTokens script = ScriptedTokens.text(
                "Let me see. " + calls("weather", "Bern", "Paris") + calls("wind", "Tokyo"), "10, 20 and 30.");
        ChatResponse answer = ask(request(script, tool("weather", false), tool("wind", false)), streaming);
        assertThat(text(answer)).endsWith("10, 20 and 30.");
        assertThat(run).containsExactly("weather Bern", "weather Paris", "wind Tokyo");
        assertThat(script.requests).hasSize(2);
        assertThat(script.prompt(0)).contains("Tells the weather", "Tells the wind");
        assertThat(script.prompt(1))
                .endsWith(
                        "<|tool|>{\"temp\":10}<|end|><|tool|>{\"temp\":20}<|end|><|tool|>{\"temp\":30}<|end|><|assistant|>");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void defaultAdvisorsRunTools(boolean streaming) {
        ScriptedTokens script = ScriptedTokens.text(calls("weather", "Bern"), calls("weather", "Paris"), "10 and 20.");
        ChatClient client = ChatClient.builder(model(script))
                .defaultAdvisors(ToolCallingAdvisor.builder().build())
                .build();
        assertThat(text(ask(client.prompt().user("Weather?").tools(tool("weather", false)), streaming)))
                .isEqualTo("10 and 20.");
        assertThat(run).containsExactly("weather Bern", "weather Paris");
        assertThat(script.requests).hasSize(3);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aMemoryInPlaceOfTheHistoryOfTheAdvisor(boolean streaming) {
        ScriptedTokens script = ScriptedTokens.text(
                calls("weather", "Bern"), calls("weather", "Paris"), "10 and 20.", "You are welcome.");
        ChatClient client = ChatClient.builder(model(script))
                .defaultAdvisors(
                        ToolCallingAdvisor.builder()
                                .disableInternalConversationHistory()
                                .build(),
                        MessageChatMemoryAdvisor.builder(
                                        MessageWindowChatMemory.builder().build())
                                .order(1000)
                                .build())
                .build();
        Consumer<ChatClient.AdvisorSpec> conversation = spec -> spec.param(ChatMemory.CONVERSATION_ID, "id");
        assertThat(text(ask(
                        client.prompt()
                                .user("Weather?")
                                .tools(tool("weather", false))
                                .advisors(conversation),
                        streaming)))
                .isEqualTo("10 and 20.");
        assertThat(run).containsExactly("weather Bern", "weather Paris");
        assertThat(text(ask(client.prompt().user("Thanks.").advisors(conversation), streaming)))
                .isEqualTo("You are welcome.");
        assertThat(script.prompt(3))
                .contains("<|user|>Weather?<|end|>", "\"city\": \"Bern\"", "{\"temp\":10}", "\"city\": \"Paris\"")
                .endsWith(
                        "<|tool|>{\"temp\":20}<|end|><|assistant|>10 and 20.<|end|><|user|>Thanks.<|end|><|assistant|>");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void resultsReturnDirectlyIfEachToolSaysSo(boolean streaming) {
        ScriptedTokens script = ScriptedTokens.text(calls("weather", "Bern"), "not asked");
        ChatResponse direct = ask(request(script, tool("weather", true)), streaming);
        assertThat(text(direct)).isEqualTo("{\"temp\":10}");
        assertThat(direct.getResult().getMetadata().getFinishReason()).isEqualTo("returnDirect");
        assertThat(script.requests).hasSize(1);
        ScriptedTokens mixed = ScriptedTokens.text(calls("weather", "Bern") + calls("wind", "Bern"), "asked");
        assertThat(text(ask(request(mixed, tool("weather", true), tool("wind", false)), streaming)))
                .isEqualTo("asked");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aLimitOfCallsIsTheAnswer(boolean streaming) {
        ScriptedTokens script = ScriptedTokens.text(calls("weather", "Bern", "Paris", "Tokyo"), "not asked");
        ToolCallingManager limited =
                ToolCallingManager.builder().maxCallsPerTool("weather", 1).build();
        ChatResponse answer = ask(
                ChatClient.create(model(script))
                        .prompt()
                        .advisors(ToolCallingAdvisor.builder()
                                .toolCallingManager(limited)
                                .build())
                        .user("Weather?")
                        .tools(tool("weather", false)),
                streaming);
        assertThat(text(answer)).contains("limit");
        assertThat(run).containsExactly("weather Bern");
        assertThat(script.requests).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theSameCallTwiceRunsTwice(boolean streaming) {
        ScriptedTokens script = ScriptedTokens.text(calls("weather", "Bern", "Bern"), "10 or 20.");
        assertThat(text(ask(request(script, tool("weather", false)), streaming)))
                .isEqualTo("10 or 20.");
        assertThat(run).containsExactly("weather Bern", "weather Bern");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theModelReadsFailuresOfTools(boolean streaming) {
        ScriptedTokens script = ScriptedTokens.text(calls("weather", "Atlantis"), "Unknown.");
        assertThat(text(ask(request(script, tool("weather", false)), streaming)))
                .isEqualTo("Unknown.");
        assertThat(script.prompt(1)).endsWith("<|tool|>there is no Atlantis<|end|><|assistant|>");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void callsOfUnknownToolsAreNoCalls(boolean streaming) {
        String call = calls("format_disk", "Bern");
        ScriptedTokens script = ScriptedTokens.text(call);
        ChatResponse answer = ask(request(script, tool("weather", false)), streaming);
        assertThat(text(answer)).isEqualTo(call);
        assertThat(run).isEmpty();
        assertThatIllegalStateException()
                .isThrownBy(
                        () -> ToolCallingManager.builder().build().executeToolCalls(new Prompt("Weather?"), answer));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void usageIsTheSumOfTheAnswers(boolean streaming) {
        ScriptedTokens script = ScriptedTokens.text(calls("weather", "Bern"), "10 degrees.");
        script.sharedTokens = 3;
        Usage usage = ask(request(script, tool("weather", false)), streaming)
                .getMetadata()
                .getUsage();
        int prompts =
                script.requests.stream().mapToInt(each -> each.promptLength()).sum();
        assertThat(usage).isInstanceOf(DefaultUsage.class);
        assertThat(usage.getPromptTokens()).isEqualTo(prompts);
        assertThat(usage.getCompletionTokens())
                .isEqualTo(calls("weather", "Bern").length() + 1 + "10 degrees.".length() + 1);
        assertThat(usage.getTotalTokens()).isEqualTo(usage.getPromptTokens() + usage.getCompletionTokens());
        assertThat(usage.getCacheReadInputTokens())
                .as("Spring AI counts cached tokens of streams in the last answer only")
                .isEqualTo(streaming ? 3 : 6);
        Usage alone = ask(request(ScriptedTokens.text("Sunny.")), streaming)
                .getMetadata()
                .getUsage();
        assertThat(alone.getCompletionTokens()).isEqualTo("Sunny.".length() + 1);
        ScriptedTokens direct = ScriptedTokens.text(calls("weather", "Bern"));
        assertThat(ask(request(direct, tool("weather", true)), streaming)
                        .getMetadata()
                        .getUsage()
                        .getTotalTokens())
                .isEqualTo(direct.requests.getFirst().promptLength()
                        + calls("weather", "Bern").length()
                        + 1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void textAndMetadataReachTheClient(boolean streaming) {
        ScriptedTokens script = ScriptedTokens.text(" The 1st president,  G. W. \n");
        ChatResponse answer = ask(
                ChatClient.create(model(script))
                        .prompt()
                        .options(IreeChatOptions.builder().model("chat"))
                        .user("Who?"),
                streaming);
        assertThat(text(answer)).isEqualTo(" The 1st president,  G. W. \n");
        assertThat(answer.getMetadata().getId()).isNotEmpty();
        assertThat(answer.getMetadata().getModel()).isEqualTo("chat");
        assertThat(answer.getMetadata().getUsage().getPromptTokens()).isPositive();
        assertThat(answer.getMetadata().getUsage().getCompletionTokens()).isPositive();
        List<String> content = Objects.requireNonNull(ChatClient.create(model(script)).prompt("Who?").stream()
                .content()
                .collectList()
                .block());
        assertThat(String.join("", content)).isEqualTo(" The 1st president,  G. W. \n");
    }
}
