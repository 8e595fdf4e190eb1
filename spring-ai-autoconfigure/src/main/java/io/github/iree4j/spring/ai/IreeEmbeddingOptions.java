package io.github.iree4j.spring.ai;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.embedding.EmbeddingOptions;

/**
 * Options of a request, in addition to {@link EmbeddingOptions}.
 *
 * @param model null or the name of the model; no other name is supported
 * @param dimensions length of truncated embeddings; null for the model's length
 * @param timeout maximum duration of the request, tokenization included; null for the model's timeout
 * @param priority priority among calls of the same program; higher first
 * @param kind the kind of the texts, selecting the prefix; null for kind document with {@code Document}s, otherwise for
 *     the model's kind of strings
 */
public record IreeEmbeddingOptions(
        @Nullable String model,
        @Nullable Integer dimensions,
        @Nullable Duration timeout,
        int priority,
        @Nullable TextKind kind)
        implements EmbeddingOptions {

    /** The defaults of the model. */
    public static final IreeEmbeddingOptions DEFAULTS = new IreeEmbeddingOptions(null, null, null, 0, null);

    /**
     * Converts options to this class.
     *
     * @param options the options; null for the defaults
     * @return the same instance if already of this class
     */
    static IreeEmbeddingOptions of(@Nullable EmbeddingOptions options) {
        return switch (options) {
            case null -> DEFAULTS;
            case IreeEmbeddingOptions ours -> ours;
            default -> new IreeEmbeddingOptions(options.getModel(), options.getDimensions(), null, 0, null);
        };
    }

    /**
     * Returns these options, with the model's name if no name is set.
     *
     * @param name the name of the model
     */
    IreeEmbeddingOptions ofModel(String name) {
        return model == null || model.isEmpty()
                ? new IreeEmbeddingOptions(name, dimensions, timeout, priority, kind)
                : this;
    }

    /**
     * Returns these options with a timeout.
     *
     * @param limit maximum duration of the request
     * @return the options
     */
    public IreeEmbeddingOptions timeout(@Nullable Duration limit) {
        return new IreeEmbeddingOptions(model, dimensions, limit, priority, kind);
    }

    /**
     * Returns these options with a length of the embeddings.
     *
     * @param length at least 1
     * @return the options
     */
    public IreeEmbeddingOptions dimensions(@Nullable Integer length) {
        return new IreeEmbeddingOptions(model, length, timeout, priority, kind);
    }

    /**
     * Returns these options with a priority.
     *
     * @param value higher comes first
     * @return the options
     */
    public IreeEmbeddingOptions priority(int value) {
        return new IreeEmbeddingOptions(model, dimensions, timeout, value, kind);
    }

    /**
     * Returns these options for texts of a kind.
     *
     * @param value the kind; null for the default
     * @return the options
     */
    public IreeEmbeddingOptions kind(@Nullable TextKind value) {
        return new IreeEmbeddingOptions(model, dimensions, timeout, priority, value);
    }

    @Override
    public @Nullable String getModel() {
        return model;
    }

    @Override
    public @Nullable Integer getDimensions() {
        return dimensions;
    }
}
