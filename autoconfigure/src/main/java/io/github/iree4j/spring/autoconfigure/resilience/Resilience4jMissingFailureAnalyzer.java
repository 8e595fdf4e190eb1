package io.github.iree4j.spring.autoconfigure.resilience;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Failure analyzer for properties requiring a library of Resilience4j when the library is missing. */
final class Resilience4jMissingFailureAnalyzer extends AbstractFailureAnalyzer<Resilience4jMissingException> {

    /** For Spring. */
    Resilience4jMissingFailureAnalyzer() {}

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, Resilience4jMissingException cause) {
        return new FailureAnalysis(
                "Property '%s' is true, but '%s' is not on the class path: nothing would protect the program so."
                        .formatted(cause.property(), cause.artifact()),
                "Add the dependency 'io.github.resilience4j:%s' (or 'io.github.resilience4j:resilience4j-spring-boot4', which has all), or remove the property."
                        .formatted(cause.artifact()),
                cause);
    }
}
