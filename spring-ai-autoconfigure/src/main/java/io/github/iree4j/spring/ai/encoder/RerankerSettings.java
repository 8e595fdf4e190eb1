package io.github.iree4j.spring.ai.encoder;

import io.github.iree4j.spring.ai.SettingException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.document.MetadataMode;

/** Settings of an {@link IreeReranker}. Immutable. */
public final class RerankerSettings {

    private final EncoderSettings encoder;
    private final Activation activation;
    private final @Nullable Integer topK;
    private final @Nullable Double minScore;
    private final MetadataMode metadataMode;

    private RerankerSettings(Builder builder) {
        encoder = builder.encoder.build();
        activation = builder.activation;
        topK = builder.topK;
        minScore = builder.minScore;
        metadataMode = builder.metadataMode;
        if (activation == Activation.SOFTMAX) {
            throw new SettingException(
                    "activation", "softmax", "must be sigmoid or none: a single score has no softmax");
        }
        SettingException.requireAtLeast(1, topK == null ? 1 : topK, "top-k");
        if (minScore != null && !Double.isFinite(minScore)) {
            throw new SettingException("min-score", minScore, "must be a number, not " + minScore);
        }
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

    /** Returns how to call the program, and limits; the used result has the scores. */
    public EncoderSettings encoder() {
        return encoder;
    }

    /**
     * Returns {@link Activation#SIGMOID} for programs that return logits, {@link Activation#NONE} for scores as the
     * program returns them.
     */
    public Activation activation() {
        return activation;
    }

    /** Returns the maximum number of returned documents; null for all. */
    public @Nullable Integer topK() {
        return topK;
    }

    /** Returns the lowest score of a returned document; null for any score. */
    public @Nullable Double minScore() {
        return minScore;
    }

    /** Returns the metadata of a document to compare with the query, in addition to the text. */
    public MetadataMode metadataMode() {
        return metadataMode;
    }

    /** Builder of settings. Not thread-safe. */
    public static final class Builder {
        private final EncoderSettings.Builder encoder;
        private Activation activation = Activation.SIGMOID;
        private @Nullable Integer topK;
        private @Nullable Double minScore;
        private MetadataMode metadataMode = MetadataMode.NONE;

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
         * Sets how the program's numbers become scores.
         *
         * @param function {@link Activation#SIGMOID}, the default, for logits; {@link Activation#NONE} for scores as
         *     the program returns them
         * @return this builder
         */
        public Builder activation(Activation function) {
            this.activation = function;
            return this;
        }

        /**
         * Sets the maximum number of returned documents.
         *
         * @param most at least 1; all documents unless set
         * @return this builder
         */
        public Builder topK(int most) {
            this.topK = most;
            return this;
        }

        /**
         * Sets the lowest score of a returned document.
         *
         * @param least finite; any score unless set
         * @return this builder
         */
        public Builder minScore(double least) {
            this.minScore = least;
            return this;
        }

        /**
         * Sets the metadata of a document to compare with the query, in addition to the text.
         *
         * @param mode {@link MetadataMode#NONE} unless set
         * @return this builder
         */
        public Builder metadataMode(MetadataMode mode) {
            this.metadataMode = mode;
            return this;
        }

        /**
         * Builds the settings.
         *
         * @return the settings
         * @throws IllegalArgumentException when a value is out of range, naming the setting
         */
        public RerankerSettings build() {
            return new RerankerSettings(this);
        }
    }
}
