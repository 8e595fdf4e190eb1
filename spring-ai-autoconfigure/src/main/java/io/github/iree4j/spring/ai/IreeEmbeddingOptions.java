package io.github.iree4j.spring.ai;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.embedding.EmbeddingOptions;

/**
 * How one request is answered, beside what {@link EmbeddingOptions} has.
 *
 * @param model null or the name of the model, which has no others
 * @param dimensions length of the embeddings, which are cut to it; null for that of the model
 * @param timeout how long the request may take, tokenizing included; null for that of the model
 * @param priority which calls of the same program go first: higher ones
 * @param kind what the texts are, which says what is put before them; null for documents where they come as such, and else for what the
 *     model takes strings for
 */
public record IreeEmbeddingOptions(
        @Nullable String model,
        @Nullable Integer dimensions,
        @Nullable Duration timeout,
        int priority,
        @Nullable TextKind kind)
        implements EmbeddingOptions {

    /** Nothing but what the model has. */
    public static final IreeEmbeddingOptions DEFAULTS = new IreeEmbeddingOptions(null, null, null, 0, null);

    /**
     * Options of ours that say what others say.
     *
     * @param options null for nothing
     * @return the same ones when they are of this class
     */
    static IreeEmbeddingOptions of(@Nullable EmbeddingOptions options) {
        return switch (options) {
            case null -> DEFAULTS;
            case IreeEmbeddingOptions ours -> ours;
            default -> new IreeEmbeddingOptions(options.getModel(), options.getDimensions(), null, 0, null);
        };
    }

    /**
     * These options with a name where they have none.
     *
     * @param name the model's
     */
    IreeEmbeddingOptions ofModel(String name) {
        return model == null || model.isEmpty()
                ? new IreeEmbeddingOptions(name, dimensions, timeout, priority, kind)
                : this;
    }

    /**
     * Returns these options with a timeout.
     *
     * @param limit how long the request may take
     * @return the options
     */
    public IreeEmbeddingOptions within(@Nullable Duration limit) {
        return new IreeEmbeddingOptions(model, dimensions, limit, priority, kind);
    }

    /**
     * Returns these options with a length of the embeddings.
     *
     * @param length at least 1
     * @return the options
     */
    public IreeEmbeddingOptions cutTo(@Nullable Integer length) {
        return new IreeEmbeddingOptions(model, length, timeout, priority, kind);
    }

    /**
     * Returns these options with a priority.
     *
     * @param value higher comes first
     * @return the options
     */
    public IreeEmbeddingOptions prioritized(int value) {
        return new IreeEmbeddingOptions(model, dimensions, timeout, value, kind);
    }

    /**
     * Returns these options for texts of a kind.
     *
     * @param value null for what they come as
     * @return the options
     */
    public IreeEmbeddingOptions as(@Nullable TextKind value) {
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
