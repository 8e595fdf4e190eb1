package io.github.iree4j.spring.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Failure analyzer for modules without a location. */
final class ModuleLocationMissingFailureAnalyzer extends AbstractFailureAnalyzer<ModuleLocationMissingException> {

    /** For Spring. */
    ModuleLocationMissingFailureAnalyzer() {}

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, ModuleLocationMissingException cause) {
        return new FailureAnalysis(
                "Module '%s' is configured, but %s.".formatted(cause.module(), cause.getMessage()),
                "Set '%s' to the module file, for example 'classpath:%s.vmfb' or a path."
                        .formatted(cause.property(), cause.module()),
                cause);
    }
}
