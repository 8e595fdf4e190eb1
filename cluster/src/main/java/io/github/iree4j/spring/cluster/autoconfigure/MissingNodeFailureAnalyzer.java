package io.github.iree4j.spring.cluster.autoconfigure;

import io.github.iree4j.cluster.MissingNode;
import io.github.iree4j.spring.ProgramLoadException;
import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** Failure analyzer for programs on a device of a missing node. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class MissingNodeFailureAnalyzer extends AbstractFailureAnalyzer<ProgramLoadException> {

    /** For Spring. */
    MissingNodeFailureAnalyzer() {}

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, ProgramLoadException cause) {
        MissingNode missing = cause.getCause() instanceof IreeException failure
                ? failure.detail(MissingNode.class).orElse(null)
                : null;
        if (missing == null) {
            return null;
        }
        String module = cause.source().name();
        return new FailureAnalysis(
                "Module '%s' runs on a device of another node, which is not there:%n%n    %s"
                        .formatted(module, cause.getCause()),
                """
                Start the node with %s first, or correct '%s' in 'iree.devices'. Nodes find each other by \
                'iree.cluster.discovery', and need the same 'iree.cluster.name'. 'iree.cluster.data.connect-timeout' is \
                how long this node waits. With 'iree.modules.%s.load=background' the application starts without that \
                node, is not ready, and loads the program when the node is there; with 'lazy' it is ready, and calls of \
                the program fail until then.""".formatted(missing.node(), missing.device(), module),
                cause);
    }
}
