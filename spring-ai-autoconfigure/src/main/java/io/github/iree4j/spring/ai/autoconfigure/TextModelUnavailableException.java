package io.github.iree4j.spring.ai.autoconfigure;

import org.jspecify.annotations.Nullable;

/** Thrown when a configured chat model, embedding model, reranker or classifier cannot be created. */
final class TextModelUnavailableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String action;

    TextModelUnavailableException(String description, String action, @Nullable Throwable cause) {
        super(description, cause);
        this.action = action;
    }

    String action() {
        return action;
    }
}
