package io.github.iree4j.spring.autoconfigure.client;

import io.github.iree4j.spring.client.IreeClientException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.util.StringUtils;

/** Failure analyzer for client interfaces unlike the called programs. */
final class IreeClientFailureAnalyzer extends AbstractFailureAnalyzer<IreeClientException> {

    /** For Spring. */
    IreeClientFailureAnalyzer() {}

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, IreeClientException cause) {
        return new FailureAnalysis(
                StringUtils.capitalize(String.valueOf(cause.getMessage())) + ".", cause.remedy(), cause);
    }
}
