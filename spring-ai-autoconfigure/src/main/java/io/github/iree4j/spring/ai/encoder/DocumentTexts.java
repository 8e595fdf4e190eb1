package io.github.iree4j.spring.ai.encoder;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.document.Document;
import org.springframework.ai.document.MetadataMode;

/** The texts of documents as models receive them. */
final class DocumentTexts {
    private DocumentTexts() {}

    /** Returns the text with the metadata of a mode; null for a document without text. */
    static @Nullable String of(Document document, MetadataMode mode) {
        // Even without metadata, a formatted document has lines before its text.
        return mode == MetadataMode.NONE ? document.getText() : document.getFormattedContent(mode);
    }

    /**
     * Returns the text with the metadata of a mode.
     *
     * @throws IreeException INVALID_ARGUMENT when the document has no text
     */
    static String require(Document document, MetadataMode mode) {
        String text = of(document, mode);
        if (text == null) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "document '%s' has no text".formatted(document.getId()));
        }
        return text;
    }
}
