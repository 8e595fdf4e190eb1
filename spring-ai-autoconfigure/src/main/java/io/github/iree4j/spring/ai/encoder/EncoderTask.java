package io.github.iree4j.spring.ai.encoder;

import io.github.iree4j.ProgramFunction;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;

/** The work of a model on texts, as named in messages, and the prefix of the model's properties. */
enum EncoderTask {
    EMBEDDING("embed texts", "iree.ai.embedding"),
    RERANKER("rerank texts", "iree.ai.reranker"),
    CLASSIFIER("classify texts", "iree.ai.classifier");

    private final String action;
    private final String prefix;

    EncoderTask(String action, String prefix) {
        this.action = action;
        this.prefix = prefix;
    }

    String action() {
        return action;
    }

    /** Returns the full name of a property. */
    String property(String name) {
        return prefix + "." + name;
    }

    /** Returns the failure for a function that does not fit. */
    IreeException cannot(ProgramFunction function, String why) {
        return IreeException.of(
                StatusCode.FAILED_PRECONDITION,
                "'%s' cannot %s: %s; it is %s".formatted(function.fullName(), action, why, function.declaration()));
    }
}
