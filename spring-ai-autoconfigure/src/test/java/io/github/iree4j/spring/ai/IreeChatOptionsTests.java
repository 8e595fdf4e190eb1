package io.github.iree4j.spring.ai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.model.tool.StructuredOutputChatOptions;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;

/**
 * Options and how they merge. The cases of Spring AI's tests of options:
 *
 * <table>
 * <caption>Cases of Spring AI 2.0.1</caption>
 * <tr><th>Case</th><th>Here</th></tr>
 * <tr><td>{@code AbstractChatOptionsTests}: {@code builderShouldReturnNewInstances}, {@code testMutateBehavior}; {@code
 * OpenAiChatOptionsTests}: {@code testBuilderWithAllFields}, {@code testEqualsAndHashCode}, {@code testBuilderChaining},
 * {@code testMutateAndBuild}</td><td>{@link #aCopyIsEqualAndEachOptionCounts}</td></tr>
 * <tr><td>{@code testDefaultValues}, {@code testBuilderWithNullValues}</td><td>{@link #noOptionIsNull}</td></tr>
 * <tr><td>{@code testCombineWith}, {@code testCombineWithChatOptions}, {@code testCombineWithToolCallingChatOptions},
 * {@code testCombineWithDoesNotOverrideWithNull}, {@code testCombineWithPreservesNonNullValues}</td><td>{@link
 * #optionsOfTheOtherReplaceAndNoOptionReplacesNothing}, {@link #optionsOfOtherKindsAreCombined}</td></tr>
 * <tr><td>{@code testNullAndEmptyCollections}, {@code cloneCreatesIndependentCollections}, {@code
 * cloneHandlesNullCollections}, {@code testToolCallbacksList}, {@code testToolCallbacksBuilderValidation}, {@code
 * testToolCallbacksAndNames}; {@code DefaultToolCallingChatOptionsTests}: {@code builderShouldStoreToolCallbacks}, {@code
 * builderShouldStoreToolContext}, {@code gettersShouldReturnImmutableCollections}, {@code
 * builderShouldHandleEmptyCollections}, {@code builderShouldRejectNullToolCallbacksVarargs}</td><td>{@link
 * #collectionsAreCopies}</td></tr>
 * <tr><td>{@code testSetOutputSchema}</td><td>{@link #optionsOfOtherKindsAreCombined}</td></tr>
 * <tr><td>{@code testSetters}, {@code testStopSequencesAlias}, {@code testMaxTokens*}, {@code testMaxCompletionTokens*},
 * {@code testBuilderCanSetOnly*}, {@code testCombineWithAbstractOpenAiOptions}, {@code testTopKReturnsNull}, {@code
 * testSetOutputSchemaWithStrictDisabled}, {@code audioParametersAreSerializedLocaleIndependently}</td><td>do not apply:
 * setters, names and parameters of OpenAI's options</td></tr>
 * </table>
 */
class IreeChatOptionsTests {
    private static final ToolCallback TOOL = FunctionToolCallback.builder(
                    "weather", (Map<String, Object> input) -> "sunny")
            .inputType(Map.class)
            .build();

    private static IreeChatOptions.Builder all() {
        return IreeChatOptions.builder()
                .model("chat")
                .frequencyPenalty(0.5)
                .maxTokens(100)
                .presencePenalty(0.25)
                .stopSequences(List.of("STOP"))
                .temperature(0.75)
                .topK(5)
                .topP(0.5)
                .toolCallbacks(List.of(TOOL))
                .toolContext(Map.of("key", "value"))
                .minP(0.125)
                .repetitionPenalty(1.5)
                .outputSchema("{}")
                .toolChoice("required")
                .seed(7L)
                .timeout(Duration.ofSeconds(3))
                .tenant("anna");
    }

    @Test
    void aCopyIsEqualAndEachOptionCounts() {
        IreeChatOptions.Builder builder = all();
        IreeChatOptions options = builder.build();
        assertThat(builder.build()).isEqualTo(options).isNotSameAs(options).hasSameHashCodeAs(options);
        assertThat(options.mutate()).isInstanceOf(IreeChatOptions.Builder.class).isNotSameAs(options.mutate());
        assertThat(options.mutate().build()).isEqualTo(options).isInstanceOf(IreeChatOptions.class);
        for (IreeChatOptions.Builder other : List.of(
                all().model("other"),
                all().frequencyPenalty(0.0),
                all().maxTokens(1),
                all().presencePenalty(0.0),
                all().stopSequences(List.of("x")),
                all().temperature(0.0),
                all().topK(1),
                all().topP(1.0),
                all().toolCallbacks(List.of()),
                all().toolContext(Map.of("key", "other")),
                all().minP(0.0),
                all().repetitionPenalty(1.0),
                all().outputSchema("true"),
                all().toolChoice("none"),
                all().seed(8L),
                all().timeout(null),
                all().tenant("bob"))) {
            assertThat(other.build()).isNotEqualTo(options);
        }
    }

    @Test
    void noOptionIsNull() {
        IreeChatOptions options = IreeChatOptions.builder().build();
        assertThat(options)
                .isEqualTo(IreeChatOptions.builder().model(null).seed(null).build());
        assertThat(options.getModel()).isNull();
        assertThat(options.getMaxTokens()).isNull();
        assertThat(options.getTemperature()).isNull();
        assertThat(options.getStopSequences()).isNull();
        assertThat(options.getSeed()).isNull();
        assertThat(options.getToolChoice()).isNull();
        assertThat(options.getToolCallbacks()).isEmpty();
        assertThat(options.getToolContext()).isEmpty();
    }

    @Test
    void optionsOfTheOtherReplaceAndNoOptionReplacesNothing() {
        IreeChatOptions base = all().build();
        assertThat(base.mutate().combineWith(IreeChatOptions.builder()).build()).isEqualTo(base);
        assertThat(IreeChatOptions.builder().combineWith(base.mutate()).build()).isEqualTo(base);
        IreeChatOptions merged = base.mutate()
                .combineWith(IreeChatOptions.builder()
                        .temperature(null)
                        .topK(9)
                        .seed(11L)
                        .toolChoice("none"))
                .build();
        assertThat(merged).isEqualTo(all().topK(9).seed(11L).toolChoice("none").build());
    }

    @Test
    void optionsOfOtherKindsAreCombined() {
        IreeChatOptions base = all().toolCallbacks(List.of()).build();
        assertThat(base.mutate()
                        .combineWith(ChatOptions.builder().temperature(0.1).maxTokens(3))
                        .build())
                .isEqualTo(base.mutate().temperature(0.1).maxTokens(3).build());
        assertThat(base.mutate()
                        .combineWith(ToolCallingChatOptions.builder().topP(0.9).toolCallbacks(TOOL))
                        .build())
                .isEqualTo(base.mutate().topP(0.9).toolCallbacks(List.of(TOOL)).build());
        IreeChatOptions schema = base.mutate()
                .combineWith(StructuredOutputChatOptions.builder().outputSchema("{\"type\": \"object\"}"))
                .build();
        assertThat(schema.getOutputSchema()).isEqualTo("{\"type\": \"object\"}");
        assertThat(schema.getSeed()).isEqualTo(7);
    }

    @Test
    void collectionsAreCopies() {
        List<String> stops = new ArrayList<>(List.of("STOP"));
        List<ToolCallback> tools = new ArrayList<>(List.of(TOOL));
        Map<String, Object> context = new HashMap<>(Map.of("key", "value"));
        IreeChatOptions options = IreeChatOptions.builder()
                .stopSequences(stops)
                .toolCallbacks(tools)
                .toolContext(context)
                .build();
        IreeChatOptions copy = options.mutate().build();
        stops.clear();
        tools.clear();
        context.clear();
        assertThat(options.getStopSequences()).containsExactly("STOP");
        assertThat(options.getToolCallbacks()).containsExactly(TOOL);
        assertThat(options.getToolContext()).containsEntry("key", "value");
        assertThat(copy).isEqualTo(options);
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> options.getToolCallbacks().add(TOOL));
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> options.getToolContext().clear());
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> IreeChatOptions.builder().toolCallbacks((ToolCallback[]) null));
        assertThat(IreeChatOptions.builder().stopSequences(List.of()).build().getStopSequences())
                .isEmpty();
    }
}
