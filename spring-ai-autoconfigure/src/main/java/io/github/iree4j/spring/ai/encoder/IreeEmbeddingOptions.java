package io.github.iree4j.spring.ai.encoder;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.embedding.EmbeddingOptions;

/**
 * Options of a request, in addition to {@link EmbeddingOptions}. Immutable: each method with a parameter returns
 * changed options.
 *
 * <pre>{@code
 * IreeEmbeddingOptions.DEFAULTS.kind(TextKind.DOCUMENT).timeout(Duration.ofSeconds(2))
 * }</pre>
 */
public final class IreeEmbeddingOptions implements EmbeddingOptions {

    /** The defaults of the model, at priority 0. */
    public static final IreeEmbeddingOptions DEFAULTS = new IreeEmbeddingOptions(null, null, null, 0, null);

    private final @Nullable String model;
    private final @Nullable Integer dimensions;
    private final @Nullable Duration timeout;
    private final int priority;
    private final @Nullable TextKind kind;

    private IreeEmbeddingOptions(
            @Nullable String model,
            @Nullable Integer dimensions,
            @Nullable Duration timeout,
            int priority,
            @Nullable TextKind kind) {
        this.model = model;
        this.dimensions = dimensions;
        this.timeout = timeout;
        this.priority = priority;
        this.kind = kind;
    }

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
     * @param limit maximum duration of the request, tokenization included; null for the model's timeout
     * @return the options
     */
    public IreeEmbeddingOptions timeout(@Nullable Duration limit) {
        return new IreeEmbeddingOptions(model, dimensions, limit, priority, kind);
    }

    /**
     * Returns these options with a length of the embeddings.
     *
     * @param length at least 1; null for the model's length
     * @return the options
     */
    public IreeEmbeddingOptions dimensions(@Nullable Integer length) {
        return new IreeEmbeddingOptions(model, length, timeout, priority, kind);
    }

    /**
     * Returns these options with a priority.
     *
     * @param value priority among calls of the same program; higher comes first
     * @return the options
     */
    public IreeEmbeddingOptions priority(int value) {
        return new IreeEmbeddingOptions(model, dimensions, timeout, value, kind);
    }

    /**
     * Returns these options for texts of a kind, which selects the prefix.
     *
     * @param value the kind; null for kind document with {@code Document}s, otherwise for the model's kind of strings
     * @return the options
     */
    public IreeEmbeddingOptions kind(@Nullable TextKind value) {
        return new IreeEmbeddingOptions(model, dimensions, timeout, priority, value);
    }

    /**
     * Returns the name of the model.
     *
     * @return null, or the name of the model; no other name is supported
     */
    @Override
    public @Nullable String getModel() {
        return model;
    }

    /**
     * Returns the length of truncated embeddings.
     *
     * @return null for the model's length
     */
    @Override
    public @Nullable Integer getDimensions() {
        return dimensions;
    }

    /**
     * Returns the maximum duration of the request, tokenization included.
     *
     * @return null for the model's timeout
     */
    public @Nullable Duration timeout() {
        return timeout;
    }

    /**
     * Returns the priority among calls of the same program.
     *
     * @return higher first; 0 unless set
     */
    public int priority() {
        return priority;
    }

    /**
     * Returns the kind of the texts, which selects the prefix.
     *
     * @return null for kind document with {@code Document}s, otherwise for the model's kind of strings
     */
    public @Nullable TextKind kind() {
        return kind;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof IreeEmbeddingOptions that
                && Objects.equals(model, that.model)
                && Objects.equals(dimensions, that.dimensions)
                && Objects.equals(timeout, that.timeout)
                && priority == that.priority
                && kind == that.kind;
    }

    @Override
    public int hashCode() {
        return Objects.hash(model, dimensions, timeout, priority, kind);
    }

    @Override
    public String toString() {
        return "IreeEmbeddingOptions[model=%s, dimensions=%s, timeout=%s, priority=%d, kind=%s]"
                .formatted(model, dimensions, timeout, priority, kind);
    }
}
