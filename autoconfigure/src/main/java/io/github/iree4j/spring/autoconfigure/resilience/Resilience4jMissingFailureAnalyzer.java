package io.github.iree4j.spring.autoconfigure.resilience;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Failure analyzer for properties requiring Resilience4j when Resilience4j is missing. */
final class Resilience4jMissingFailureAnalyzer extends AbstractFailureAnalyzer<Resilience4jMissingException> {

    /** For Spring. */
    Resilience4jMissingFailureAnalyzer() {}

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, Resilience4jMissingException cause) {
        return new FailureAnalysis(
                "Property '%s' is true, but Resilience4j is not on the class path: nothing would protect the program."
                        .formatted(cause.property()),
                "Add the dependency 'io.github.resilience4j:resilience4j-spring-boot4' (or resilience4j-circuitbreaker, resilience4j-bulkhead, resilience4j-retry and resilience4j-timelimiter), or remove the property.",
                cause);
    }
}
