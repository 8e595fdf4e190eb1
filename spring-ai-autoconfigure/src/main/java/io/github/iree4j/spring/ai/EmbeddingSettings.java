package io.github.iree4j.spring.ai;

import org.jspecify.annotations.Nullable;
import org.springframework.ai.document.MetadataMode;

/**
 * Settings of an {@link IreeEmbeddingModel}.
 *
 * @param encoder how to call the program, and limits; the used result has the vectors
 * @param pooling how token vectors are pooled; null for {@link Pooling#NONE} with a result of two dimensions and {@link
 *     Pooling#MEAN} with three
 * @param normalize whether embeddings have length 1
 * @param dimensions length of an embedding; longer vectors of the program are truncated; null for the program's length
 * @param metadataMode metadata of a document to embed with the text
 * @param prefixes prefixes of texts
 */
public record EmbeddingSettings(
        EncoderSettings encoder,
        @Nullable Pooling pooling,
        boolean normalize,
        @Nullable Integer dimensions,
        MetadataMode metadataMode,
        TextPrefixes prefixes) {

    /**
     * Checks ranges.
     *
     * @throws IllegalArgumentException when a value is out of range, naming the setting
     */
    public EmbeddingSettings {
        EncoderSettings.atLeast(1, dimensions == null ? 1 : dimensions, "dimensions");
    }

    /**
     * Returns the default settings of the properties.
     *
     * @param module name of the program
     * @return the settings
     */
    public static EmbeddingSettings of(String module) {
        return new EmbeddingSettings(
                EncoderSettings.of(module), null, true, null, MetadataMode.NONE, TextPrefixes.NONE);
    }
}
