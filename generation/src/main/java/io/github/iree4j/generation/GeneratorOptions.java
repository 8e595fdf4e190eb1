package io.github.iree4j.generation;

import io.github.iree4j.Program;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The options of a {@link Generator}. Immutable.
 *
 * <pre>{@code
 * GeneratorOptions.builder().config(Path.of("config.json")).pages(1024).build()
 * }</pre>
 */
public final class GeneratorOptions {
    /** The exporter's defaults. */
    public static final GeneratorOptions DEFAULTS = builder().build();

    private static final int MOST_CHUNK_TOKENS = 1 << 20; // more than a step can read
    private static final int MOST_PROBE_PROMPTS = 1024;
    private static final int MOST_STEPS_AHEAD = 64; // arrivals wait until all have ended
    private static final int MOST_PROPOSED_TOKENS = 64; // a step computes all, and throws wrong tokens away

    private final String configName;
    private final @Nullable String config;
    private final int pages;
    private final int chunkTokens;
    private final int maximumWaiting;
    private final int probePrompts;
    private final boolean thoroughProbe;
    private final int requestsPerTenant;
    private final int proposedTokens;
    private final int stepsAhead;
    private final int hostPages;
    private final @Nullable Program draft;
    private final String draftConfigName;
    private final @Nullable String draftConfig;

    private GeneratorOptions(Builder of) {
        this.configName = of.configName;
        this.config = of.config;
        this.pages = of.pages;
        this.chunkTokens = of.chunkTokens;
        this.maximumWaiting = of.maximumWaiting;
        this.probePrompts = of.probePrompts;
        this.thoroughProbe = of.thoroughProbe;
        this.requestsPerTenant = of.requestsPerTenant;
        this.proposedTokens = of.proposedTokens;
        this.stepsAhead = of.stepsAhead;
        this.hostPages = of.hostPages;
        this.draft = of.draft;
        this.draftConfigName = of.draftConfigName;
        this.draftConfig = of.draftConfig;
        check("pages", pages, 0);
        check("chunk tokens", chunkTokens, 1);
        checkMost("chunk tokens", chunkTokens, MOST_CHUNK_TOKENS);
        check("maximum of waiting requests", maximumWaiting, 1);
        check("prompts of the probe", probePrompts, 1);
        checkMost("prompts of the probe", probePrompts, MOST_PROBE_PROMPTS);
        check("requests per tenant", requestsPerTenant, 1);
        check("proposed tokens", proposedTokens, 0);
        checkMost("proposed tokens", proposedTokens, MOST_PROPOSED_TOKENS);
        check("steps ahead", stepsAhead, 1);
        checkMost("steps ahead", stepsAhead, MOST_STEPS_AHEAD);
        check("pages of the host", hostPages, 0);
        if (draft != null && proposedTokens == 0) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "a draft is set, but proposed tokens is 0; set proposed tokens to 1 or more, for instance 4");
        }
        if (draft == null && draftConfig != null) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "the configuration '%s' is set for a draft, but no draft".formatted(draftConfigName));
        }
    }

    private static void check(String name, int value, int least) {
        if (value < least) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "%s is %d, at least %d is needed".formatted(name, value, least));
        }
    }

    private static void checkMost(String name, int value, int most) {
        if (value > most) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "%s is %d, at most %d is possible".formatted(name, value, most));
        }
    }

    /** Returns a builder with the exporter's defaults. */
    public static Builder builder() {
        return new Builder();
    }

    /** Returns a builder with these options. */
    public Builder toBuilder() {
        return new Builder()
                .config(configName, config)
                .pages(pages)
                .chunkTokens(chunkTokens)
                .maximumWaiting(maximumWaiting)
                .probePrompts(probePrompts)
                .thoroughProbe(thoroughProbe)
                .requestsPerTenant(requestsPerTenant)
                .proposedTokens(proposedTokens)
                .stepsAhead(stepsAhead)
                .hostPages(hostPages)
                .draft(draft)
                .draftConfig(draftConfigName, draftConfig);
    }

    /** Returns the name of the configuration in messages. */
    public String configName() {
        return configName;
    }

    /** Returns the text of the exporter's {@code config.json}; null for the exporter's defaults. */
    public @Nullable String config() {
        return config;
    }

    /** Returns the number of pages of the cache, page 0 included; 0 for the configuration's number. */
    public int pages() {
        return pages;
    }

    /** Returns the most tokens of a prompt that a prefill step reads. */
    public int chunkTokens() {
        return chunkTokens;
    }

    /** Returns the most requests that wait for their first step. */
    public int maximumWaiting() {
        return maximumWaiting;
    }

    /** Returns the number of prompts for measuring at the start which functions and shapes compute equal bits. */
    public int probePrompts() {
        return probePrompts;
    }

    /** Returns whether the measurement at the start takes every row of every function, and more neighbours and shapes. */
    public boolean thoroughProbe() {
        return thoroughProbe;
    }

    /** Returns the most unfinished requests of a tenant. */
    public int requestsPerTenant() {
        return requestsPerTenant;
    }

    /** Returns the most tokens that are proposed for a sequence and verified by a step; 0 for none. */
    public int proposedTokens() {
        return proposedTokens;
    }

    /** Returns the most decode steps that are submitted before the first ends; 1 for one step after the other. */
    public int stepsAhead() {
        return stepsAhead;
    }

    /** Returns the number of pages in the memory of the host, for sequences that have lost their pages. */
    public int hostPages() {
        return hostPages;
    }

    /** Returns the program that proposes tokens; null to look up proposals in earlier text. */
    public @Nullable Program draft() {
        return draft;
    }

    /** Returns the name of the draft's configuration in messages. */
    public String draftConfigName() {
        return draftConfigName;
    }

    /** Returns the text of the draft's {@code config.json}; null for the exporter's defaults. */
    public @Nullable String draftConfig() {
        return draftConfig;
    }

    /** Builder of options. Not thread-safe. */
    public static final class Builder {
        private String configName = "";
        private @Nullable String config;
        private int pages;
        private int chunkTokens = 256;
        private int maximumWaiting = 1024;
        private int probePrompts = 2;
        private boolean thoroughProbe;
        private int requestsPerTenant = Integer.MAX_VALUE;
        private int proposedTokens;
        private int stepsAhead = 1;
        private int hostPages;
        private @Nullable Program draft;
        private String draftConfigName = "";
        private @Nullable String draftConfig;

        private Builder() {}

        /**
         * Sets the configuration.
         *
         * @param file the exporter's {@code config.json}, read now; null for the exporter's defaults: 32 tokens per page,
         *     512 pages
         * @return this builder
         * @throws IreeException NOT_FOUND without the file; INVALID_ARGUMENT for a file of more than 1 MiB
         */
        public Builder config(@Nullable Path file) {
            return file == null ? config("", null) : config(file.toString(), ModelConfig.text(file));
        }

        /**
         * Sets the configuration.
         *
         * @param name names the configuration in messages
         * @param json the text of the exporter's {@code config.json}; null for the exporter's defaults
         * @return this builder
         */
        public Builder config(String name, @Nullable String json) {
            this.configName = name;
            this.config = json;
            return this;
        }

        /**
         * Sets the size of the cache.
         *
         * @param count number of pages, page 0 included; 0 for the configuration's number
         * @return this builder
         */
        public Builder pages(int count) {
            this.pages = count;
            return this;
        }

        /**
         * Sets how much of a prompt a prefill step reads, which needs a program with positions ({@code
         * has_prefill_position}).
         *
         * @param count most tokens, from 1 to 1048576, rounded up to pages
         * @return this builder
         */
        public Builder chunkTokens(int count) {
            this.chunkTokens = count;
            return this;
        }

        /**
         * Sets how many requests may wait for their first step.
         *
         * @param count most requests, 1 or more; further requests are rejected with RESOURCE_EXHAUSTED
         * @return this builder
         */
        public Builder maximumWaiting(int count) {
            this.maximumWaiting = count;
            return this;
        }

        /**
         * Sets the effort of the measurement at the start.
         *
         * @param count number of prompts, from 1 to 1024
         * @return this builder
         */
        public Builder probePrompts(int count) {
            this.probePrompts = count;
            return this;
        }

        /**
         * Sets which rows, neighbours and shapes are measured at the start. A thorough measurement takes every row of every
         * function beside several patterns of neighbours, and also a prompt of several steps: thousands of steps with
         * functions for 32 sequences, instead of some dozens.
         *
         * @param thorough whether to measure all of this; false unless set
         * @return this builder
         */
        public Builder thoroughProbe(boolean thorough) {
            this.thoroughProbe = thorough;
            return this;
        }

        /**
         * Sets the quota of each tenant, see {@link GenerationRequest#tenant(String)}.
         *
         * @param count most unfinished requests, 1 or more; further requests are rejected with RESOURCE_EXHAUSTED
         * @return this builder
         */
        public Builder requestsPerTenant(int count) {
            this.requestsPerTenant = count;
            return this;
        }

        /**
         * Sets the length of proposals. Steps verify tokens that followed the last tokens earlier in the prompt or the
         * answer, or the tokens of a {@linkplain #draft draft}, where the times of earlier steps show that a verifying
         * step computes tokens faster. Needs a program whose prefill and decode functions compute equal bits. The tokens
         * of a request are the same with and without proposals.
         *
         * @param count most tokens, from 0 to 64, for instance 8; 0 for no proposals
         * @return this builder
         */
        public Builder proposedTokens(int count) {
            this.proposedTokens = count;
            return this;
        }

        /**
         * Sets how many decode steps are submitted before the first ends: the tokens of a step stay in the memory of the
         * device, where the next step takes the tokens. This saves the way to the host and back for each token, and is
         * slower on the CPU. Needs a program with {@code top_k} 1 and functions with fences; other programs compute one
         * step after the other, and so do steps between which a prompt is read. New requests, and the pages of requests
         * that end, wait until all submitted steps have ended. The tokens of a request are the same.
         *
         * @param count most steps, from 1 to 64, for instance 4; 1 for one step after the other
         * @return this builder
         */
        public Builder stepsAhead(int count) {
            this.stepsAhead = count;
            return this;
        }

        /**
         * Sets how many pages are kept in the memory of the host. A sequence that loses its pages continues with copies
         * of them, as far as the host has room for all pages of the sequence; otherwise the sequence computes the keys and
         * values again.
         *
         * @param count number of pages, allocated at the start; 0 for none
         * @return this builder
         */
        public Builder hostPages(int count) {
            this.hostPages = count;
            return this;
        }

        /**
         * Sets a draft: a smaller program for the same tokens, which computes the proposed tokens. The tokens of a request
         * are the same whatever the draft computes; where the draft fails, nothing is proposed. The draft has a
         * separate cache of as many pages, and needs {@link #proposedTokens}.
         *
         * @param program a program with functions {@code prefill_bs{N}} with positions ({@code has_prefill_position}) and
         *     {@code decode_bs{N}}, and with as many tokens per page; stays the caller's, and must be open as long as the
         *     generator; null to look up proposals in the prompt and the answer
         * @return this builder
         */
        public Builder draft(@Nullable Program program) {
            this.draft = program;
            return this;
        }

        /**
         * Sets the configuration of the draft.
         *
         * @param file the exporter's {@code config.json} of the draft, read now; null for the exporter's defaults: 32
         *     tokens per page, and proposals within the first two pages of a sequence only
         * @return this builder
         * @throws IreeException NOT_FOUND without the file; INVALID_ARGUMENT for a file of more than 1 MiB
         */
        public Builder draftConfig(@Nullable Path file) {
            return file == null ? draftConfig("", null) : draftConfig(file.toString(), ModelConfig.text(file));
        }

        /**
         * Sets the configuration of the draft. The number of pages is not used.
         *
         * @param name names the configuration in messages
         * @param json the text of the exporter's {@code config.json} of the draft; null for the exporter's defaults
         * @return this builder
         */
        public Builder draftConfig(String name, @Nullable String json) {
            this.draftConfigName = name;
            this.draftConfig = json;
            return this;
        }

        /**
         * Creates the options.
         *
         * @return the options
         * @throws IreeException INVALID_ARGUMENT for a value out of range, by name
         */
        public GeneratorOptions build() {
            return new GeneratorOptions(this);
        }
    }
}
