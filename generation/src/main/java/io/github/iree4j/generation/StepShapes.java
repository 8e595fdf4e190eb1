package io.github.iree4j.generation;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;

/**
 * The sizes of steps.
 *
 * @param stride tokens per page
 * @param maximumColumns most pages of a sequence, and most columns of a step
 * @param chunkPages pages read by a prefill step of a program with positions
 */
record StepShapes(int stride, int maximumColumns, int chunkPages) {
    /** Exporters specialise functions for a single column, and allow the compiler to rely on two or more. */
    static final int MINIMUM_COLUMNS = 2;

    /**
     * Returns the sizes for a model.
     *
     * @param chunkTokens tokens read by a prefill step, rounded up to pages
     * @throws IreeException INVALID_ARGUMENT when the cache or {@code max_seq_len} has fewer than two pages
     */
    static StepShapes of(ModelConfig config, int chunkTokens) {
        // Exporters declare one page less than the context as the most columns, and compilers may rely on it. Without
        // max_seq_len, only the least that exporters declare is certain not to lead out of the model's tables.
        int declared = config.maximumTokens() == 0
                ? MINIMUM_COLUMNS
                : Math.max(MINIMUM_COLUMNS, Math.ceilDiv(config.maximumTokens(), config.stride()) - 1);
        if (config.maximumTokens() > 0 && config.maximumTokens() < (long) MINIMUM_COLUMNS * config.stride()) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "max_seq_len is %d, less than %d pages of %d tokens, so steps would leave the model's tables; export with a smaller block_seq_stride"
                            .formatted(config.maximumTokens(), MINIMUM_COLUMNS, config.stride()));
        }
        int columns = Math.min(config.pages() - 1, declared);
        if (columns < MINIMUM_COLUMNS) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "a cache of %d pages leaves %d for sequences beside page 0, and a sequence needs %d; give the cache at least %d pages"
                            .formatted(config.pages(), config.pages() - 1, MINIMUM_COLUMNS, MINIMUM_COLUMNS + 1));
        }
        return new StepShapes(
                config.stride(), columns, Math.clamp(Math.ceilDiv(chunkTokens, config.stride()), 1, columns));
    }

    /** Returns the most tokens of a sequence that are read. */
    int maximumTokens() {
        return maximumColumns * stride;
    }

    int pagesFor(int tokens) {
        return Math.ceilDiv(tokens, stride);
    }
}
