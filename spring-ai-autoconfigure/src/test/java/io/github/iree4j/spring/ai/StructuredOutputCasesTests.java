package io.github.iree4j.spring.ai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.micrometer.observation.ObservationRegistry;
import java.math.BigDecimal;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.advisor.StructuredOutputValidationAdvisor;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.converter.BeanOutputConverter;
import org.springframework.ai.converter.ListOutputConverter;
import org.springframework.ai.converter.MapOutputConverter;
import org.springframework.ai.tool.annotation.ToolParam;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.core.convert.support.DefaultConversionService;
import org.springframework.core.io.Resource;

/**
 * Answers as objects.
 *
 * <table>
 * <caption>Cases of Spring AI 2.0.1</caption>
 * <tr><th>Case</th><th>Here</th></tr>
 * <tr><td>{@code OpenAiChatModelIT}: {@code listOutputConverter}, {@code mapOutputConverter}</td><td>{@link
 * #listsAndMapsAreConverted}</td></tr>
 * <tr><td>{@code beanOutputConverter}, {@code beanOutputConverterRecords}, {@code beanStreamOutputConverterRecords}; {@code
 * BeanOutputConverterTest}: {@code convertClassType}, {@code convertTypeReference*}, {@code convertWithThinkingTags*}, {@code
 * convertWith…Tags}</td><td>{@link #beansAreConvertedFromCallsAndStreams}</td></tr>
 * <tr><td>{@code BeanOutputConverterTest}: {@code format*}, {@code convertClassWithDateType}, {@code
 * convert*WithJsonAnnotations}, {@code verifySchemaPropertyOrder}, {@code convertWithComplexNestedStructure}</td><td>{@link
 * #schemasOfTheConverterConstrainTheAnswer}, {@link #anyDecoderAnswersWithAnEntity}</td></tr>
 * <tr><td>{@code StructuredOutputValidationAdvisorTests}: {@code testAdviseCallWithValidJsonOnFirstAttempt}, {@code
 * testAdviseCallWithInvalidJsonRetries}, {@code testPromptAugmentationWithValidationError}, {@code
 * adviseCallAccumulatesUsageAcrossValidationRetries}, {@code testMultipleRetriesWithDifferentInvalidResponses}, {@code
 * testValidationWith*}</td><td>{@link #anInvalidAnswerIsAskedForAgain}</td></tr>
 * <tr><td>{@code testAdviseCallExhaustsAllRetries}, {@code testAdviseCallWithZeroRetries}, {@code
 * adviseCallAppliesAccumulatedUsageWhenValidationRetriesAreExhausted}</td><td>{@link
 * #theLastInvalidAnswerIsReturned}</td></tr>
 * <tr><td>{@code testAdviseStreamThrowsUnsupportedOperationException}, null arguments, builders, names and orders; {@code
 * shouldHavePreConfiguredDefaultObjectMapper}</td><td>do not apply: no model takes part</td></tr>
 * </table>
 */
@Timeout(300)
class StructuredOutputCasesTests {
    private static final String FILMS = "{\"actor\": \"Tom Hanks\", \"movies\": [\"Big\", \"Cast Away\"]}";
    private static final Films TOM = new Films("Tom Hanks", List.of("Big", "Cast Away"));

    @TempDir
    private static Path folder;

    private static Resource tokenizer;

    record Films(String actor, List<String> movies) {}

    enum Colour {
        RED,
        GREEN
    }

    record Numbers(int a, long b, double c, float d, Integer e, BigDecimal f, short g, boolean h) {}

    record Times(LocalDate a, LocalDateTime b, Instant c, OffsetDateTime d, Duration e) {}

    record Names(UUID a, URI b, Colour c, @Nullable String d, Optional<String> e, char f) {}

    record Nested(Films a, List<Films> b, Films[] c, Map<String, Integer> d, List<List<Colour>> e) {}

    @JsonPropertyOrder({"second", "first"})
    record Annotated(
            @JsonProperty(required = false) @JsonPropertyDescription("The first")
            String first,

            @JsonProperty("second") @ToolParam(required = false, description = "The second")
            String other) {}

    record Part(boolean small, Colour colour) {}

    record Finite(Colour colour, boolean large, Part part) {}

    record Endless(List<Endless> next) {}

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

    @Test
    void listsAndMapsAreConverted() {
        ListOutputConverter lists = new ListOutputConverter(new DefaultConversionService());
        ScriptedTokens script = ScriptedTokens.text("vanilla, chocolate, lemon");
        assertThat(lists.convert(text(model(script).call(new Prompt("List.\n" + lists.getFormat())))))
                .containsExactly("vanilla", "chocolate", "lemon");
        assertThat(ChatClient.create(model(script)).prompt("List.").call().entity(lists))
                .containsExactly("vanilla", "chocolate", "lemon");
        MapOutputConverter maps = new MapOutputConverter();
        ScriptedTokens map = ScriptedTokens.text("```json\n{\"numbers\": [1, 2, 3]}\n```");
        assertThat(maps.convert(text(model(map).call(new Prompt("Map.\n" + maps.getFormat())))))
                .containsEntry("numbers", List.of(1, 2, 3));
        assertThat(map.prompt(0)).contains("Map.\n", "JSON");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                FILMS,
                "```json\n" + FILMS + "\n```",
                "<think>Who?\nTom.</think>\n" + FILMS,
                "<thinking>Who?</thinking><think>Tom.</think> " + FILMS
            })
    void beansAreConvertedFromCallsAndStreams(String answer) {
        IreeChatModel model = model(ScriptedTokens.text(answer));
        BeanOutputConverter<Films> films = new BeanOutputConverter<>(Films.class);
        Prompt prompt = new Prompt("Films.\n" + films.getFormat());
        assertThat(films.convert(text(model.call(prompt)))).isEqualTo(TOM);
        String streamed = Objects.requireNonNull(
                        model.stream(prompt).collectList().block())
                .stream()
                .map(StructuredOutputCasesTests::text)
                .collect(Collectors.joining());
        assertThat(films.convert(streamed)).isEqualTo(TOM);
        ScriptedTokens script = ScriptedTokens.text(answer);
        assertThat(ChatClient.create(model(script)).prompt("Films.").call().entity(Films.class))
                .isEqualTo(TOM);
        assertThat(script.prompt(0)).contains("\"movies\"");
        assertThat(ChatClient.create(model(ScriptedTokens.text("[" + FILMS + "]")))
                        .prompt("Films.")
                        .call()
                        .entity(new ParameterizedTypeReference<List<Films>>() {}))
                .containsExactly(TOM);
    }

    @ParameterizedTest
    @ValueSource(classes = {Films.class, Numbers.class, Times.class, Names.class, Nested.class, Annotated.class})
    void schemasOfTheConverterConstrainTheAnswer(Class<?> type) {
        String schema = new BeanOutputConverter<>(type).getJsonSchema();
        ScriptedTokens script = ScriptedTokens.text("x");
        model(script)
                .call(new Prompt(
                        "Hi", IreeChatOptions.builder().outputSchema(schema).build()));
        assertThat(script.requests.getFirst().sampling().constraint()).isPresent();
    }

    @Test
    void aTypeInItselfIsRefusedByName() {
        String schema = new BeanOutputConverter<>(Endless.class).getJsonSchema();
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> model(ScriptedTokens.text("x"))
                        .call(new Prompt(
                                "Hi",
                                IreeChatOptions.builder().outputSchema(schema).build())))
                .withMessageContaining("#/properties/next/items", "recursive schemas are not supported")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
    }

    /** Random weights: only the schema makes the answer JSON. */
    @Test
    void anyDecoderAnswersWithAnEntity() {
        SmallDecoder.runner(folder).run(context -> {
            ChatSettings settings = SmallDecoder.settings(folder).build();
            try (IreeChatModel model =
                    new IreeChatModel(context.getBean(Programs.class), settings, ObservationRegistry.NOOP, null)) {
                Finite entity = ChatClient.create(model)
                        .prompt("Any.")
                        .call()
                        .entity(Finite.class, spec -> spec.useProviderStructuredOutput());
                assertThat(entity.colour()).isIn(Colour.RED, Colour.GREEN);
                assertThat(entity.part().colour()).isIn(Colour.RED, Colour.GREEN);
            }
        });
    }

    private static ChatClient.CallResponseSpec validated(ScriptedTokens script, int attempts) {
        return ChatClient.create(model(script))
                .prompt("Films.")
                .advisors(StructuredOutputValidationAdvisor.builder()
                        .outputType(Films.class)
                        .maxRepeatAttempts(attempts)
                        .build())
                .call();
    }

    @Test
    void anInvalidAnswerIsAskedForAgain() {
        ScriptedTokens valid = ScriptedTokens.text(FILMS);
        assertThat(validated(valid, 3).entity(Films.class)).isEqualTo(TOM);
        assertThat(valid.requests).hasSize(1);
        List<String> wrong = List.of("", "{\"actor\":", "{\"actor\": 5, \"movies\": []}", "[]");
        ScriptedTokens script = ScriptedTokens.text(wrong.get(0), wrong.get(1), wrong.get(2), wrong.get(3), FILMS);
        ChatResponse answer = validated(script, 4).chatResponse();
        assertThat(text(answer)).isEqualTo(FILMS);
        assertThat(script.requests).hasSize(5);
        assertThat(script.prompt(0)).doesNotContain("validation failed");
        for (int i = 1; i < 5; i++) {
            assertThat(script.prompt(i)).contains("validation failed");
        }
        int prompts =
                script.requests.stream().mapToInt(each -> each.promptLength()).sum();
        int texts = wrong.stream().mapToInt(each -> each.length() + 1).sum() + FILMS.length() + 1;
        assertThat(answer.getMetadata().getUsage().getPromptTokens()).isEqualTo(prompts);
        assertThat(answer.getMetadata().getUsage().getCompletionTokens()).isEqualTo(texts);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2})
    void theLastInvalidAnswerIsReturned(int attempts) {
        ScriptedTokens script = ScriptedTokens.text("no JSON");
        ChatResponse answer = validated(script, attempts).chatResponse();
        assertThat(text(answer)).isEqualTo("no JSON");
        assertThat(script.requests).hasSize(1 + attempts);
        assertThat(answer.getMetadata().getUsage().getCompletionTokens()).isEqualTo((1 + attempts) * 8);
    }
}
