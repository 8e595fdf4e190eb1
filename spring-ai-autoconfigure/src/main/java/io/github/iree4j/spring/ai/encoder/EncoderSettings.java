package io.github.iree4j.spring.ai.encoder;

import io.github.iree4j.spring.ai.SettingException;
import io.github.iree4j.status.DurationText;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Settings common to all models on text encoders: how to call the program, and limits. Immutable, and part of the
 * settings of a model, see {@link EmbeddingSettings.Builder#encoder}.
 */
public final class EncoderSettings {

    /** The token limit when neither settings nor tokenizer define a limit. */
    static final int USUAL_MAX_TOKENS = 512;

    private final String module;
    private final @Nullable String function;
    private final List<TokenInput> inputs;
    private final TokenType tokenType;
    private final int result;
    private final @Nullable Integer maxTokens;
    private final boolean truncate;
    private final int maxTextLength;
    private final int maxRequestSize;
    private final int maxBatchSize;
    private final int maxBatchTokens;
    private final List<Integer> padTo;
    private final long paddingId;
    private final @Nullable Duration timeout;

    private EncoderSettings(Builder builder) {
        module = builder.module;
        function = builder.function;
        inputs = List.copyOf(builder.inputs);
        tokenType = builder.tokenType;
        result = builder.result;
        maxTokens = builder.maxTokens;
        truncate = builder.truncate;
        maxTextLength = builder.maxTextLength;
        maxRequestSize = builder.maxRequestSize;
        maxBatchSize = builder.maxBatchSize;
        maxBatchTokens = builder.maxBatchTokens;
        padTo = builder.padTo.stream().sorted().toList();
        paddingId = builder.paddingId;
        timeout = builder.timeout;
        if (inputs.stream().distinct().count() < inputs.size()) {
            throw new SettingException("inputs", inputs, "must differ: " + inputs);
        }
        if (!inputs.isEmpty() && !inputs.contains(TokenInput.INPUT_IDS)) {
            throw new SettingException("inputs", inputs, "must contain input-ids: " + inputs);
        }
        SettingException.requireAtLeast(0, result, "result");
        SettingException.requireAtLeast(1, maxTokens == null ? 1 : maxTokens, "max-tokens");
        SettingException.requireAtLeast(1, maxTextLength, "max-text-length");
        SettingException.requireAtLeast(1, maxRequestSize, "max-request-size");
        SettingException.requireAtLeast(1, maxBatchSize, "max-batch-size");
        SettingException.requireAtLeast(1, maxBatchTokens, "max-batch-tokens");
        SettingException.requireAtLeast(1, padTo.isEmpty() ? 1 : padTo.getFirst(), "pad-to");
        if (timeout != null && (timeout.isNegative() || timeout.isZero())) {
            throw new SettingException("timeout", timeout, "must be positive, not " + DurationText.of(timeout));
        }
    }

    /** Returns a builder of the settings for a program, with the defaults of the properties. */
    static Builder builder(String module) {
        return new Builder(module);
    }

    /** Returns the name of the program, also used as the name of the model. */
    public String module() {
        return module;
    }

    /** Returns the name of the function; null for the program's only function. */
    public @Nullable String function() {
        return function;
    }

    /**
     * Returns the meaning of each argument of the function, in order; empty with conventional names or at most two
     * arguments.
     */
    public List<TokenInput> inputs() {
        return inputs;
    }

    /** Returns the token type where the module neither declares nor proves the type of an argument. */
    public TokenType tokenType() {
        return tokenType;
    }

    /** Returns the index of the used result, from 0. */
    public int result() {
        return result;
    }

    /**
     * Returns the maximum number of tokens of a text, or of a query with a text, including special tokens; null for the
     * tokenizer's limit, or 512.
     */
    public @Nullable Integer maxTokens() {
        return maxTokens;
    }

    /** Returns whether longer texts are truncated rather than rejected. */
    public boolean truncate() {
        return truncate;
    }

    /** Returns the maximum number of characters of a text. */
    public int maxTextLength() {
        return maxTextLength;
    }

    /** Returns the maximum number of texts of a request. */
    public int maxRequestSize() {
        return maxRequestSize;
    }

    /** Returns the maximum number of texts of a call, for programs with a dynamic number of texts. */
    public int maxBatchSize() {
        return maxBatchSize;
    }

    /**
     * Returns the maximum number of tokens of a call, including padding, for programs with a dynamic number of texts; a
     * single text may have more.
     */
    public int maxBatchTokens() {
        return maxBatchTokens;
    }

    /**
     * Returns the padded lengths of texts, in tokens, ascending, for programs without variants; a batch beyond the
     * largest length is padded to the longest text.
     */
    public List<Integer> padTo() {
        return padTo;
    }

    /** Returns the id of the padding token. */
    public long paddingId() {
        return paddingId;
    }

    /** Returns the maximum duration of a request, tokenization included; null for none. */
    public @Nullable Duration timeout() {
        return timeout;
    }

    /** Builder of the settings within the settings of a model. Not thread-safe. */
    public static final class Builder {
        private final String module;
        private @Nullable String function;
        private List<TokenInput> inputs = List.of();
        private TokenType tokenType = TokenType.I64;
        private int result;
        private @Nullable Integer maxTokens;
        private boolean truncate = true;
        private int maxTextLength = 1 << 20;
        private int maxRequestSize = 8192;
        private int maxBatchSize = 32;
        private int maxBatchTokens = 8192;
        private List<Integer> padTo = List.of();
        private long paddingId;
        private @Nullable Duration timeout;

        private Builder(String module) {
            this.module = module;
        }

        /**
         * Sets the function.
         *
         * @param name the name of the function; the program's only function unless set
         * @return this builder
         */
        public Builder function(String name) {
            this.function = name;
            return this;
        }

        /**
         * Sets the meaning of each argument of the function, for more than two arguments without conventional names.
         *
         * @param meanings in order, all different, with {@link TokenInput#INPUT_IDS}; found by names and number of the
         *     arguments unless set
         * @return this builder
         */
        public Builder inputs(List<TokenInput> meanings) {
            this.inputs = meanings;
            return this;
        }

        /**
         * Sets the token type where the module neither declares nor proves the type of an argument.
         *
         * @param type {@link TokenType#I64} unless set
         * @return this builder
         */
        public Builder tokenType(TokenType type) {
            this.tokenType = type;
            return this;
        }

        /**
         * Sets the used result.
         *
         * @param index from 0; 0 unless set
         * @return this builder
         */
        public Builder result(int index) {
            this.result = index;
            return this;
        }

        /**
         * Sets the maximum number of tokens of a text, or of a query with a text, including special tokens.
         *
         * @param tokens at least 1; the tokenizer's limit, or 512, unless set
         * @return this builder
         */
        public Builder maxTokens(int tokens) {
            this.maxTokens = tokens;
            return this;
        }

        /**
         * Sets whether longer texts are truncated rather than rejected.
         *
         * @param cut true unless set
         * @return this builder
         */
        public Builder truncate(boolean cut) {
            this.truncate = cut;
            return this;
        }

        /**
         * Sets the maximum number of characters of a text.
         *
         * @param characters at least 1; 1,048,576 unless set
         * @return this builder
         */
        public Builder maxTextLength(int characters) {
            this.maxTextLength = characters;
            return this;
        }

        /**
         * Sets the maximum number of texts of a request.
         *
         * @param texts at least 1; 8192 unless set
         * @return this builder
         */
        public Builder maxRequestSize(int texts) {
            this.maxRequestSize = texts;
            return this;
        }

        /**
         * Sets the maximum number of texts of a call, for programs with a dynamic number of texts.
         *
         * @param texts at least 1; 32 unless set
         * @return this builder
         */
        public Builder maxBatchSize(int texts) {
            this.maxBatchSize = texts;
            return this;
        }

        /**
         * Sets the maximum number of tokens of a call, including padding, for programs with a dynamic number of texts;
         * a single text may have more.
         *
         * @param tokens at least 1; 8192 unless set
         * @return this builder
         */
        public Builder maxBatchTokens(int tokens) {
            this.maxBatchTokens = tokens;
            return this;
        }

        /**
         * Sets the padded lengths of texts, for programs without variants; a batch beyond the largest length is padded
         * to the longest text.
         *
         * @param lengths in tokens, each at least 1; none unless set
         * @return this builder
         */
        public Builder padTo(List<Integer> lengths) {
            this.padTo = lengths;
            return this;
        }

        /**
         * Sets the id of the padding token.
         *
         * @param id 0 unless set
         * @return this builder
         */
        public Builder paddingId(long id) {
            this.paddingId = id;
            return this;
        }

        /**
         * Sets the maximum duration of a request, tokenization included.
         *
         * @param limit positive; unlimited unless set
         * @return this builder
         */
        public Builder timeout(Duration limit) {
            this.timeout = limit;
            return this;
        }

        /**
         * Builds the settings.
         *
         * @throws IllegalArgumentException when a value is out of range, naming the setting
         */
        EncoderSettings build() {
            return new EncoderSettings(this);
        }
    }
}
