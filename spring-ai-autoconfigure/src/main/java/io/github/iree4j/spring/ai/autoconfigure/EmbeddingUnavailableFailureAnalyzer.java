package io.github.iree4j.spring.ai.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Failure analyzer for embedding models that cannot be created. */
final class EmbeddingUnavailableFailureAnalyzer extends AbstractFailureAnalyzer<EmbeddingUnavailableException> {

    /** For Spring. */
    EmbeddingUnavailableFailureAnalyzer() {}

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, EmbeddingUnavailableException cause) {
        return new FailureAnalysis(cause.getMessage(), cause.action(), cause);
    }
}
