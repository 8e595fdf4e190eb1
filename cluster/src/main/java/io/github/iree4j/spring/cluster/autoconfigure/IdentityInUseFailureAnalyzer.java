package io.github.iree4j.spring.cluster.autoconfigure;

import io.github.iree4j.cluster.identity.IdentityInUse;
import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** Failure analyzer for a node with an identity file used by another node. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class IdentityInUseFailureAnalyzer extends AbstractFailureAnalyzer<IreeException> {

    /** For Spring. */
    IdentityInUseFailureAnalyzer() {}

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, IreeException cause) {
        IdentityInUse used = cause.detail(IdentityInUse.class).orElse(null);
        if (used == null) {
            return null;
        }
        return new FailureAnalysis(
                "The sessions of this node are counted in a file that another node uses:%n%n    %s, held by %s"
                        .formatted(used.file(), used.holder()),
                """
                Set 'iree.cluster.identity.file' to a file of this node alone, and 'iree.cluster.identity.machine' to a \
                machine index that no other node has. If the holder is an earlier start of this node, stop it, or start \
                this one when it has ended: the file is free as soon as that process is gone.""",
                cause);
    }
}
