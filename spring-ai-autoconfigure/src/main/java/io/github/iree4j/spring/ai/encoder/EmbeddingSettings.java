package io.github.iree4j.spring.ai.encoder;

import io.github.iree4j.spring.ai.SettingException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.document.MetadataMode;

/**
 * Settings of an {@link IreeEmbeddingModel}. Immutable.
 *
 * <pre>{@code
 * EmbeddingSettings.builder("minilm")
 *         .pooling(Pooling.MEAN)
 *         .encoder(encoder -> encoder.maxTokens(256).timeout(Duration.ofSeconds(30)))
 *         .build()
 * }</pre>
 */
public final class EmbeddingSettings {

    private final EncoderSettings encoder;
    private final @Nullable Pooling pooling;
    private final boolean normalize;
    private final @Nullable Integer dimensions;
    private final MetadataMode metadataMode;
    private final TextPrefixes prefixes;

    private EmbeddingSettings(Builder builder) {
        encoder = builder.encoder.build();
        pooling = builder.pooling;
        normalize = builder.normalize;
        dimensions = builder.dimensions;
        metadataMode = builder.metadataMode;
        prefixes = builder.prefixes;
        SettingException.requireAtLeast(1, dimensions == null ? 1 : dimensions, "dimensions");
    }

    /**
     * Returns a builder with the defaults of the properties.
     *
     * @param module name of the program, also used as the name of the model
     * @return a builder
     */
    public static Builder builder(String module) {
        return new Builder(module);
    }

    /** Returns how to call the program, and limits; the used result has the vectors. */
    public EncoderSettings encoder() {
        return encoder;
    }

    /**
     * Returns how token vectors are pooled; null for {@link Pooling#NONE} with a result of two dimensions and {@link
     * Pooling#MEAN} with three.
     */
    public @Nullable Pooling pooling() {
        return pooling;
    }

    /** Returns whether embeddings have length 1. */
    public boolean normalize() {
        return normalize;
    }

    /** Returns the length of an embedding, to which longer vectors are truncated; null for the program's length. */
    public @Nullable Integer dimensions() {
        return dimensions;
    }

    /** Returns the metadata of a document to embed with the text. */
    public MetadataMode metadataMode() {
        return metadataMode;
    }

    /** Returns the prefixes of texts. */
    public TextPrefixes prefixes() {
        return prefixes;
    }

    /** Builder of settings. Not thread-safe. */
    public static final class Builder {
        private final EncoderSettings.Builder encoder;
        private @Nullable Pooling pooling;
        private boolean normalize = true;
        private @Nullable Integer dimensions;
        private MetadataMode metadataMode = MetadataMode.NONE;
        private TextPrefixes prefixes = TextPrefixes.NONE;

        private Builder(String module) {
            this.encoder = EncoderSettings.builder(module);
        }

        /**
         * Sets how to call the program, and limits.
         *
         * @param changes sets some of the settings; called at once
         * @return this builder
         */
        public Builder encoder(Consumer<EncoderSettings.Builder> changes) {
            changes.accept(encoder);
            return this;
        }

        /**
         * Sets how token vectors are pooled.
         *
         * @param way unless set, {@link Pooling#NONE} with a result of two dimensions and {@link Pooling#MEAN} with
         *     three
         * @return this builder
         */
        public Builder pooling(Pooling way) {
            this.pooling = way;
            return this;
        }

        /**
         * Sets whether embeddings have length 1.
         *
         * @param unit true unless set
         * @return this builder
         */
        public Builder normalize(boolean unit) {
            this.normalize = unit;
            return this;
        }

        /**
         * Sets the length of an embedding; longer vectors of the program are truncated.
         *
         * @param length at least 1; the program's length unless set
         * @return this builder
         */
        public Builder dimensions(int length) {
            this.dimensions = length;
            return this;
        }

        /**
         * Sets the metadata of a document to embed with the text.
         *
         * @param mode {@link MetadataMode#NONE} unless set
         * @return this builder
         */
        public Builder metadataMode(MetadataMode mode) {
            this.metadataMode = mode;
            return this;
        }

        /**
         * Sets the prefixes of texts.
         *
         * @param added {@link TextPrefixes#NONE} unless set
         * @return this builder
         */
        public Builder prefixes(TextPrefixes added) {
            this.prefixes = added;
            return this;
        }

        /**
         * Builds the settings.
         *
         * @return the settings
         * @throws IllegalArgumentException when a value is out of range, naming the setting
         */
        public EmbeddingSettings build() {
            return new EmbeddingSettings(this);
        }
    }
}
