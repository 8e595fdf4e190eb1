package io.github.iree4j.generation;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The options of a {@link Generator}. Immutable.
 *
 * @param configName names the configuration in messages
 * @param config the text of the exporter's {@code config.json}; null for the exporter's defaults: 32 tokens per page, 512
 *     pages
 * @param pages number of pages of the cache, page 0 included; 0 for the configuration's number
 * @param chunkTokens most tokens of a prompt that a prefill step reads, rounded up to pages; needs a program with
 *     positions ({@code has_prefill_position})
 * @param maximumWaiting most requests that wait for their first step
 * @param probePrompts number of prompts for measuring at the start which functions and shapes compute equal bits
 */
public record GeneratorOptions(
        String configName, @Nullable String config, int pages, int chunkTokens, int maximumWaiting, int probePrompts) {
    /** The exporter's defaults. */
    public static final GeneratorOptions DEFAULTS = new GeneratorOptions("", null, 0, 256, 1024, 2);

    /** Checks the ranges. */
    public GeneratorOptions {
        check("pages", pages, 0);
        check("chunk tokens", chunkTokens, 1);
        check("maximum of waiting requests", maximumWaiting, 1);
        check("prompts of the probe", probePrompts, 1);
    }

    private static void check(String name, int value, int least) {
        if (value < least) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "%s is %d, at least %d is needed".formatted(name, value, least));
        }
    }

    /**
     * Returns options with a configuration.
     *
     * @param file the exporter's {@code config.json}, read now; null for the exporter's defaults
     * @return options
     * @throws IreeException NOT_FOUND without the file; INVALID_ARGUMENT for a file of more than 1 MiB
     */
    public GeneratorOptions withConfig(@Nullable Path file) {
        return file == null ? withConfig("", null) : withConfig(file.toString(), ModelConfig.text(file));
    }

    /**
     * Returns options with a configuration.
     *
     * @param name names the configuration in messages
     * @param json the text of the exporter's {@code config.json}; null for the exporter's defaults
     * @return options
     */
    public GeneratorOptions withConfig(String name, @Nullable String json) {
        return new GeneratorOptions(name, json, pages, chunkTokens, maximumWaiting, probePrompts);
    }

    /** Returns options with a number of pages. */
    public GeneratorOptions withPages(int count) {
        return new GeneratorOptions(configName, config, count, chunkTokens, maximumWaiting, probePrompts);
    }

    /** Returns options with a number of tokens per prefill step. */
    public GeneratorOptions withChunkTokens(int count) {
        return new GeneratorOptions(configName, config, pages, count, maximumWaiting, probePrompts);
    }

    /** Returns options with a number of prompts for the measurement at the start. */
    public GeneratorOptions withProbePrompts(int count) {
        return new GeneratorOptions(configName, config, pages, chunkTokens, maximumWaiting, count);
    }
}
