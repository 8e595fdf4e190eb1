package io.github.iree4j.spring.ai.autoconfigure;

import org.jspecify.annotations.Nullable;

/** There is to be an embedding model, and its configuration does not make one. */
final class EmbeddingUnavailableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String action;

    EmbeddingUnavailableException(String description, String action, @Nullable Throwable cause) {
        super(description, cause);
        this.action = action;
    }

    String action() {
        return action;
    }
}
