package io.github.iree4j.spring.ai;

import org.jspecify.annotations.Nullable;
import org.springframework.ai.document.MetadataMode;

/**
 * Settings of an {@link IreeReranker}.
 *
 * @param encoder how to call the program, and limits; the used result has the scores
 * @param activation {@link Activation#SIGMOID} for programs that return logits, {@link Activation#NONE} for scores as
 *     the program returns them
 * @param topK maximum number of returned documents; null for all
 * @param minScore documents with a lower score are omitted; null for none
 * @param metadataMode metadata of a document to compare with the query, in addition to the text
 */
public record RerankerSettings(
        EncoderSettings encoder,
        Activation activation,
        @Nullable Integer topK,
        @Nullable Double minScore,
        MetadataMode metadataMode) {

    /**
     * Checks ranges.
     *
     * @throws IllegalArgumentException when a value is out of range, naming the setting
     */
    public RerankerSettings {
        if (activation == Activation.SOFTMAX) {
            throw new IllegalArgumentException("activation must be sigmoid or none: a single score has no softmax");
        }
        EncoderSettings.atLeast(1, topK == null ? 1 : topK, "top-k");
        if (minScore != null && !Double.isFinite(minScore)) {
            throw new IllegalArgumentException("min-score must be a number, not " + minScore);
        }
    }

    /**
     * Returns the default settings of the properties.
     *
     * @param module name of the program
     * @return the settings
     */
    public static RerankerSettings of(String module) {
        return new RerankerSettings(EncoderSettings.of(module), Activation.SIGMOID, null, null, MetadataMode.NONE);
    }
}
