package io.github.iree4j.spring.ai;

import io.github.iree4j.status.DurationText;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.Resource;

/** Settings of an {@link IreeChatModel}. Immutable. */
public final class ChatSettings {
    private static final int MOST_PROPOSED_TOKENS = 64; // of GeneratorOptions, by a test
    private static final int MOST_PROBE_PROMPTS = 1024; // likewise
    private static final int MOST_STEPS_AHEAD = 64;

    private final String module;
    private final Resource tokenizer;
    private final @Nullable Resource config;
    private final @Nullable Object template;
    private final int maxTokens;
    private final double temperature;
    private final int topK;
    private final double topP;
    private final @Nullable Long seed;
    private final int pages;
    private final @Nullable Duration timeout;
    private final List<String> stopTokens;
    private final int requestsPerTenant;
    private final int proposedTokens;
    private final int hostPages;
    private final int probePrompts;
    private final int stepsAhead;
    private final @Nullable String draft;
    private final @Nullable Resource draftConfig;

    private ChatSettings(Builder builder) {
        module = builder.module;
        tokenizer = builder.tokenizer;
        config = builder.config;
        template = builder.template;
        maxTokens = builder.maxTokens;
        temperature = builder.temperature;
        topK = builder.topK;
        topP = builder.topP;
        seed = builder.seed;
        pages = builder.pages;
        timeout = builder.timeout;
        stopTokens = List.copyOf(builder.stopTokens);
        requestsPerTenant = builder.requestsPerTenant;
        proposedTokens = builder.proposedTokens;
        hostPages = builder.hostPages;
        probePrompts = builder.probePrompts;
        stepsAhead = builder.stepsAhead;
        draft = builder.draft;
        draftConfig = builder.draftConfig;
        SettingException.requireAtLeast(1, maxTokens, "max-tokens");
        SettingException.requireAtLeast(1, requestsPerTenant, "requests-per-tenant");
        between(
                0,
                MOST_PROPOSED_TOKENS,
                proposedTokens,
                "proposed-tokens",
                "8 is a common number, 0 is for no proposals");
        between(1, MOST_PROBE_PROMPTS, probePrompts, "probe-prompts", "1 is the shortest measurement");
        between(1, MOST_STEPS_AHEAD, stepsAhead, "steps-ahead", "1 is for one step after the other");
        SettingException.requireAtLeast(0, hostPages, "host-pages");
        if (draft != null && proposedTokens == 0) {
            throw new SettingException(
                    "draft.module", draft, "needs proposed-tokens of at least 1, not 0; 8 is a common number");
        }
        if (draft == null && draftConfig != null) {
            throw new SettingException(
                    "draft.config", draftConfig, "needs draft.module; name the program of the draft");
        }
        SettingException.requireAtLeast(0, topK, "top-k");
        SettingException.requireAtLeast(0, pages, "pages");
        if (!(temperature >= 0 && temperature <= 100)) {
            throw new SettingException("temperature", temperature, "must be from 0 to 100, not " + temperature);
        }
        if (!(topP > 0 && topP <= 1)) {
            throw new SettingException("top-p", topP, "must be greater than 0 and at most 1, not " + topP);
        }
        if (timeout != null && (timeout.isNegative() || timeout.isZero())) {
            throw new SettingException("timeout", timeout, "must be positive, not " + DurationText.of(timeout));
        }
    }

    private static void between(int least, int most, int value, String name, String remedy) {
        if (value < least || value > most) {
            throw new SettingException(
                    name, value, "must be from %d to %d, not %d; %s".formatted(least, most, value, remedy));
        }
    }

    /**
     * Returns a builder with the defaults of the properties.
     *
     * @param module name of the program, also used as the name of the model
     * @param tokenizer the model's {@code tokenizer.json}
     * @return a builder
     */
    public static Builder builder(String module, Resource tokenizer) {
        return new Builder(module, tokenizer);
    }

    /** Returns the name of the program, also used as the name of the model. */
    public String module() {
        return module;
    }

    /** Returns the model's {@code tokenizer.json}. */
    public Resource tokenizer() {
        return tokenizer;
    }

    /** Returns the exporter's {@code config.json}; null for the exporter's defaults. */
    public @Nullable Resource config() {
        return config;
    }

    /** Returns the chat template or its file; null for the template beside the tokenizer. */
    @Nullable
    Object template() {
        return template;
    }

    /** Returns the maximum number of tokens of an answer. */
    public int maxTokens() {
        return maxTokens;
    }

    /** Returns 0 for the most probable token, or the divisor of logits. */
    public double temperature() {
        return temperature;
    }

    /** Returns the number of tokens to choose from; 0 for all. */
    public int topK() {
        return topK;
    }

    /** Returns the share of the probability to choose from; 1 for all. */
    public double topP() {
        return topP;
    }

    /** Returns the seed; null for another seed for each request. */
    public @Nullable Long seed() {
        return seed;
    }

    /** Returns the number of pages of the cache; 0 for the number of the configuration. */
    public int pages() {
        return pages;
    }

    /** Returns the maximum duration of a request; null for none. */
    public @Nullable Duration timeout() {
        return timeout;
    }

    /** Returns the tokens that end an answer; empty for the end-of-sequence token of the tokenizer. */
    public List<String> stopTokens() {
        return stopTokens;
    }

    /** Returns the maximum number of unfinished requests of a tenant. */
    public int requestsPerTenant() {
        return requestsPerTenant;
    }

    /** Returns the maximum number of proposed tokens that a step verifies; 0 for no proposals. */
    public int proposedTokens() {
        return proposedTokens;
    }

    /** Returns the number of pages in the memory of the host; 0 for none. */
    public int hostPages() {
        return hostPages;
    }

    /** Returns the number of prompts of the measurement at the start. */
    public int probePrompts() {
        return probePrompts;
    }

    /** Returns the most decode steps that are submitted before the first ends. */
    public int stepsAhead() {
        return stepsAhead;
    }

    /** Returns the name of the program that computes the proposed tokens; null to propose from earlier text. */
    public @Nullable String draft() {
        return draft;
    }

    /** Returns the {@code config.json} of the draft; null for the exporter's defaults. */
    public @Nullable Resource draftConfig() {
        return draftConfig;
    }

    /** Builder of settings. Not thread-safe. */
    public static final class Builder {
        private final String module;
        private final Resource tokenizer;
        private @Nullable Resource config;
        private @Nullable Object template;
        private int maxTokens = 512;
        private double temperature;
        private int topK;
        private double topP = 1;
        private @Nullable Long seed;
        private int pages;
        private @Nullable Duration timeout;
        private List<String> stopTokens = List.of();
        private int requestsPerTenant = Integer.MAX_VALUE;
        private int proposedTokens;
        private int hostPages;
        private int probePrompts = 2;
        private int stepsAhead = 1;
        private @Nullable String draft;
        private @Nullable Resource draftConfig;

        private Builder(String module, Resource tokenizer) {
            this.module = module;
            this.tokenizer = tokenizer;
        }

        /**
         * Sets the configuration of the model.
         *
         * @param file the exporter's {@code config.json}
         * @return this builder
         */
        public Builder config(Resource file) {
            this.config = file;
            return this;
        }

        /**
         * Sets the chat template.
         *
         * @param text the template in Jinja; the template beside the tokenizer unless set
         * @return this builder
         */
        public Builder template(String text) {
            this.template = text;
            return this;
        }

        /**
         * Sets the file of the chat template.
         *
         * @param file a file with the template in Jinja; the template beside the tokenizer unless set
         * @return this builder
         */
        public Builder template(Resource file) {
            this.template = file;
            return this;
        }

        /**
         * Sets the maximum number of tokens of an answer.
         *
         * @param tokens at least 1; 512, or as many as a sequence has room for, unless set
         * @return this builder
         */
        public Builder maxTokens(int tokens) {
            this.maxTokens = tokens;
            return this;
        }

        /**
         * Sets how tokens are chosen.
         *
         * @param divisor 0, the default, for the most probable token; otherwise the divisor of logits, up to 100
         * @return this builder
         */
        public Builder temperature(double divisor) {
            this.temperature = divisor;
            return this;
        }

        /**
         * Sets the number of tokens to choose from.
         *
         * @param tokens 0, the default, for all
         * @return this builder
         */
        public Builder topK(int tokens) {
            this.topK = tokens;
            return this;
        }

        /**
         * Sets the share of the probability to choose from.
         *
         * @param share greater than 0; 1, the default, for all
         * @return this builder
         */
        public Builder topP(double share) {
            this.topP = share;
            return this;
        }

        /**
         * Sets the seed of the choice of tokens.
         *
         * @param number the same seed gives the same answers; another seed for each request unless set
         * @return this builder
         */
        public Builder seed(long number) {
            this.seed = number;
            return this;
        }

        /**
         * Sets the size of the cache.
         *
         * @param count number of pages; 0, the default, for the number of the configuration
         * @return this builder
         */
        public Builder pages(int count) {
            this.pages = count;
            return this;
        }

        /**
         * Sets the maximum duration of a request.
         *
         * @param limit positive; unlimited unless set
         * @return this builder
         */
        public Builder timeout(Duration limit) {
            this.timeout = limit;
            return this;
        }

        /**
         * Sets the tokens that end an answer.
         *
         * @param tokens as the tokenizer's file writes them; the end-of-sequence token of {@code tokenizer_config.json}
         *     unless set
         * @return this builder
         */
        public Builder stopTokens(List<String> tokens) {
            this.stopTokens = tokens;
            return this;
        }

        /**
         * Sets the quota of each tenant.
         *
         * @param count maximum number of unfinished requests, at least 1; unlimited unless set
         * @return this builder
         */
        public Builder requestsPerTenant(int count) {
            this.requestsPerTenant = count;
            return this;
        }

        /**
         * Sets the length of proposals, verified by steps where that is faster.
         *
         * @param count maximum number of tokens, up to 64; 0, the default, for no proposals
         * @return this builder
         */
        public Builder proposedTokens(int count) {
            this.proposedTokens = count;
            return this;
        }

        /**
         * Sets how many pages the memory of the host keeps for requests that have lost their pages.
         *
         * @param count number of pages; 0, the default, for none: keys and values are computed again
         * @return this builder
         */
        public Builder hostPages(int count) {
            this.hostPages = count;
            return this;
        }

        /**
         * Sets the effort of the measurement at the start, which finds functions and shapes that compute equal bits.
         *
         * @param count number of prompts, from 1 to 1024; 2 unless set
         * @return this builder
         */
        public Builder probePrompts(int count) {
            this.probePrompts = count;
            return this;
        }

        /**
         * Sets how many decode steps are submitted before the first ends, of a program with {@code top_k} 1.
         *
         * @param count most steps, from 1 to 64; 1 unless set
         * @return this builder
         */
        public Builder stepsAhead(int count) {
            this.stepsAhead = count;
            return this;
        }

        /**
         * Sets a draft: a smaller model for the same tokens, which computes the proposed tokens.
         *
         * @param program name of the program; tokens are proposed from earlier text unless set
         * @return this builder
         */
        public Builder draft(String program) {
            this.draft = program;
            return this;
        }

        /**
         * Sets the configuration of the draft.
         *
         * @param file the exporter's {@code config.json} of the draft
         * @return this builder
         */
        public Builder draftConfig(Resource file) {
            this.draftConfig = file;
            return this;
        }

        /**
         * Builds the settings.
         *
         * @return the settings
         * @throws IllegalArgumentException when a value is out of range, naming the setting
         */
        public ChatSettings build() {
            return new ChatSettings(this);
        }
    }
}
