package io.github.iree4j.spring.cluster.autoconfigure;

import io.github.iree4j.cluster.MissingNode;
import io.github.iree4j.cluster.WrongAddress;
import io.github.iree4j.spring.ProgramLoadException;
import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** Failure analyzer for programs on a device of a missing node, or whose address cannot be right. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class MissingNodeFailureAnalyzer extends AbstractFailureAnalyzer<ProgramLoadException> {

    /** For Spring. */
    MissingNodeFailureAnalyzer() {}

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, ProgramLoadException cause) {
        if (!(cause.getCause() instanceof IreeException failure)) {
            return null;
        }
        String module = cause.source().name();
        WrongAddress wrong = failure.detail(WrongAddress.class).orElse(null);
        if (wrong != null) {
            return new FailureAnalysis(
                    "Module '%s' runs on '%s', which is no device of another node here:%n%n    %s"
                            .formatted(module, wrong.device(), failure),
                    wrong.remedy(),
                    cause);
        }
        MissingNode missing = failure.detail(MissingNode.class).orElse(null);
        if (missing == null) {
            return null;
        }
        return new FailureAnalysis(
                "Module '%s' runs on a device of another node, which is not there:%n%n    %s"
                        .formatted(module, failure),
                """
                Start the node with %s first, or correct '%s' in 'iree.devices'. Nodes find each other by \
                'iree.cluster.discovery', and need the same 'iree.cluster.name'. 'iree.cluster.data.connect-timeout' is \
                how long this node waits. With 'iree.modules.%s.load=background' the application starts without that \
                node, is not ready, and loads the program when the node is there; with 'lazy' it is ready, and calls of \
                the program fail until then.""".formatted(missing.node(), missing.device(), module),
                cause);
    }
}
