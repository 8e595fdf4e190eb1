package io.github.iree4j.spring.ai;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.model.tool.DefaultToolCallingChatOptions;
import org.springframework.ai.model.tool.StructuredOutputChatOptions;
import org.springframework.ai.tool.ToolCallback;

/**
 * Options of a request, in addition to Spring AI's: min-p, a repetition penalty, a JSON schema, a choice of tools, a
 * seed, a time limit and a tenant. Immutable. An option that is null has the value of the model's properties.
 *
 * <pre>{@code
 * IreeChatOptions.builder().temperature(0.8).seed(42L).timeout(Duration.ofSeconds(30)).build()
 * }</pre>
 */
public final class IreeChatOptions extends DefaultToolCallingChatOptions implements StructuredOutputChatOptions {
    private final @Nullable Integer givenMaxTokens;
    private final @Nullable Integer defaultMaxTokens;
    private final @Nullable Double minP;
    private final @Nullable Double repetitionPenalty;
    private final @Nullable String outputSchema;
    private final @Nullable String toolChoice;
    private final @Nullable Long seed;
    private final @Nullable Duration timeout;
    private final @Nullable String tenant;

    private IreeChatOptions(
            @Nullable List<ToolCallback> toolCallbacks,
            @Nullable Map<String, Object> toolContext,
            ChatOptions portable,
            Builder builder) {
        super(
                Objects.requireNonNullElse(toolCallbacks, List.of()),
                Objects.requireNonNullElse(toolContext, Map.of()),
                portable.getModel(),
                portable.getFrequencyPenalty(),
                portable.getMaxTokens() != null ? portable.getMaxTokens() : builder.defaultMaxTokens,
                portable.getPresencePenalty(),
                portable.getStopSequences(),
                portable.getTemperature(),
                portable.getTopK(),
                portable.getTopP());
        this.givenMaxTokens = portable.getMaxTokens();
        this.defaultMaxTokens = builder.defaultMaxTokens;
        this.minP = builder.minP;
        this.repetitionPenalty = builder.repetitionPenalty;
        this.outputSchema = builder.outputSchema;
        this.toolChoice = builder.toolChoice;
        this.seed = builder.seed;
        this.timeout = builder.timeout;
        this.tenant = builder.tenant;
    }

    /** Returns a builder without options. */
    public static Builder builder() {
        return new Builder();
    }

    /** Returns the maximum number of tokens that the request asks for; null for the default, or as many as fit. */
    @Nullable
    Integer givenMaxTokens() {
        return givenMaxTokens;
    }

    /** Returns the smallest share of the highest probability that a token to choose from has; null for 0. */
    public @Nullable Double getMinP() {
        return minP;
    }

    /** Returns the divisor of the logits of repeated tokens; null for 1. */
    public @Nullable Double getRepetitionPenalty() {
        return repetitionPenalty;
    }

    /** Returns the JSON schema of the answer; null for any text. */
    @Override
    public @Nullable String getOutputSchema() {
        return outputSchema;
    }

    /** Returns the choice of tools: {@code none}, {@code auto}, {@code required} or a tool; null for {@code auto}. */
    public @Nullable String getToolChoice() {
        return toolChoice;
    }

    /** Returns the seed of the choice of tokens; null for the seed of the properties, or another seed for each request. */
    public @Nullable Long getSeed() {
        return seed;
    }

    /** Returns the maximum duration of the request; null for the duration of the properties. */
    public @Nullable Duration getTimeout() {
        return timeout;
    }

    /** Returns the name of the tenant; null for none. */
    public @Nullable String getTenant() {
        return tenant;
    }

    @Override
    public Builder mutate() {
        return new Builder()
                .toolCallbacks(getToolCallbacks())
                .toolContext(getToolContext())
                .model(getModel())
                .frequencyPenalty(getFrequencyPenalty())
                .maxTokens(givenMaxTokens)
                .defaultMaxTokens(defaultMaxTokens)
                .presencePenalty(getPresencePenalty())
                .stopSequences(getStopSequences())
                .temperature(getTemperature())
                .topK(getTopK())
                .topP(getTopP())
                .minP(minP)
                .repetitionPenalty(repetitionPenalty)
                .outputSchema(outputSchema)
                .toolChoice(toolChoice)
                .seed(seed)
                .timeout(timeout)
                .tenant(tenant);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof IreeChatOptions that
                && super.equals(other)
                && Objects.equals(givenMaxTokens, that.givenMaxTokens)
                && Objects.equals(defaultMaxTokens, that.defaultMaxTokens)
                && Objects.equals(minP, that.minP)
                && Objects.equals(repetitionPenalty, that.repetitionPenalty)
                && Objects.equals(outputSchema, that.outputSchema)
                && Objects.equals(toolChoice, that.toolChoice)
                && Objects.equals(seed, that.seed)
                && Objects.equals(timeout, that.timeout)
                && Objects.equals(tenant, that.tenant);
    }

    @Override
    public int hashCode() {
        return Objects.hash(
                super.hashCode(),
                givenMaxTokens,
                minP,
                repetitionPenalty,
                outputSchema,
                toolChoice,
                seed,
                timeout,
                tenant);
    }

    /** Builder of options. Not thread-safe. */
    public static final class Builder extends DefaultToolCallingChatOptions.Builder<Builder>
            implements StructuredOutputChatOptions.Builder<Builder> {
        private @Nullable Integer defaultMaxTokens;
        private @Nullable Double minP;
        private @Nullable Double repetitionPenalty;
        private @Nullable String outputSchema;
        private @Nullable String toolChoice;
        private @Nullable Long seed;
        private @Nullable Duration timeout;
        private @Nullable String tenant;

        private Builder() {}

        /** Sets the maximum number of tokens unless given, shortened where a sequence has less room. */
        Builder defaultMaxTokens(@Nullable Integer tokens) {
            this.defaultMaxTokens = tokens;
            return this;
        }

        /**
         * Restricts the choice to probable tokens.
         *
         * @param share smallest share of the highest probability that a token to choose from has, from 0 to 1
         * @return this builder
         */
        public Builder minP(@Nullable Double share) {
            this.minP = share;
            return this;
        }

        /**
         * Sets the repetition penalty of the tokens of the prompt and of the answer.
         *
         * @param divisor of logits, greater than 0, at most 2; 1 for none
         * @return this builder
         */
        public Builder repetitionPenalty(@Nullable Double divisor) {
            this.repetitionPenalty = divisor;
            return this;
        }

        /**
         * Sets the JSON schema of the answer. The answer is an instance of the schema, on a line, unless the maximum of
         * tokens ends the answer before.
         *
         * @param schema a JSON schema
         * @return this builder
         */
        @Override
        public Builder outputSchema(@Nullable String schema) {
            this.outputSchema = schema;
            return this;
        }

        /**
         * Sets whether the answer calls tools.
         *
         * <p>With {@code required} or a tool, each answer is a call whose arguments are by the tool's schema, also the
         * answer to a result of a tool: change the option, or limit the calls, where an advisor runs tools.
         *
         * @param choice {@code none} for no tools, {@code auto} for the model's choice, {@code required} for a call of any
         *     tool, or the name of the tool to call
         * @return this builder
         */
        public Builder toolChoice(@Nullable String choice) {
            this.toolChoice = choice;
            return this;
        }

        /**
         * Sets the seed of the choice of tokens, which matters with a temperature above 0.
         *
         * @param number the same seed gives the same answer
         * @return this builder
         */
        public Builder seed(@Nullable Long number) {
            this.seed = number;
            return this;
        }

        /**
         * Sets the maximum duration of the request.
         *
         * @param limit positive
         * @return this builder
         */
        public Builder timeout(@Nullable Duration limit) {
            this.timeout = limit;
            return this;
        }

        /**
         * Sets the tenant. Requests of tenants take turns, within the quota {@code iree.ai.chat.requests-per-tenant}.
         *
         * @param name any name
         * @return this builder
         */
        public Builder tenant(@Nullable String name) {
            this.tenant = name;
            return this;
        }

        @Override
        public Builder combineWith(ChatOptions.Builder<?> other) {
            super.combineWith(other);
            if (other instanceof StructuredOutputChatOptions.Builder<?>
                    && other.build() instanceof StructuredOutputChatOptions structured
                    && structured.getOutputSchema() != null) {
                outputSchema = structured.getOutputSchema();
            }
            if (other instanceof Builder that) {
                defaultMaxTokens = that.defaultMaxTokens != null ? that.defaultMaxTokens : defaultMaxTokens;
                minP = that.minP != null ? that.minP : minP;
                repetitionPenalty = that.repetitionPenalty != null ? that.repetitionPenalty : repetitionPenalty;
                toolChoice = that.toolChoice != null ? that.toolChoice : toolChoice;
                seed = that.seed != null ? that.seed : seed;
                timeout = that.timeout != null ? that.timeout : timeout;
                tenant = that.tenant != null ? that.tenant : tenant;
            }
            return this;
        }

        @Override
        public IreeChatOptions build() {
            DefaultToolCallingChatOptions portable = (DefaultToolCallingChatOptions) super.build();
            return new IreeChatOptions(portable.getToolCallbacks(), portable.getToolContext(), portable, this);
        }
    }
}
