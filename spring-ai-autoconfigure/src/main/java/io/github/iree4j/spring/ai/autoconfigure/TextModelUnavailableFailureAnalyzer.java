package io.github.iree4j.spring.ai.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Failure analyzer for chat models, embedding models, rerankers and classifiers that cannot be created. */
final class TextModelUnavailableFailureAnalyzer extends AbstractFailureAnalyzer<TextModelUnavailableException> {

    /** For Spring. */
    TextModelUnavailableFailureAnalyzer() {}

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, TextModelUnavailableException cause) {
        return new FailureAnalysis(cause.getMessage(), cause.action(), cause);
    }
}
