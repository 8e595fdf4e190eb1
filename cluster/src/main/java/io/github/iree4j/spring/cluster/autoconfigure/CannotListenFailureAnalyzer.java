package io.github.iree4j.spring.cluster.autoconfigure;

import io.github.iree4j.cluster.transport.CannotListen;
import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** Failure analyzer for a node whose port or address cannot be used. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class CannotListenFailureAnalyzer extends AbstractFailureAnalyzer<IreeException> {

    /** For Spring. */
    CannotListenFailureAnalyzer() {}

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, IreeException cause) {
        CannotListen listen = cause.detail(CannotListen.class).orElse(null);
        if (listen == null) {
            return null;
        }
        return new FailureAnalysis(
                "This node of the cluster is not reachable for others:%n%n    %s".formatted(cause.getMessage()),
                """
                If another process listens on port %d, end that process, or set 'iree.cluster.bind.port' to a free port, \
                also in 'iree.cluster.discovery' of the other nodes. Otherwise set 'iree.cluster.bind.address' to an \
                address of this machine.""".formatted(listen.port()),
                cause);
    }
}
