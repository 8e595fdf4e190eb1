package io.github.iree4j.spring.cluster.autoconfigure;

import io.github.iree4j.cluster.identity.IdentityInUse;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Failure analyzer for a node without an identity: the store is unavailable, damaged, or exhausted. */
final class NoIdentityFailureAnalyzer extends AbstractFailureAnalyzer<IreeException> {
    private static final Set<String> BEANS = Set.of("ireeIdentityStore", "ireeLease");

    /** For Spring. */
    NoIdentityFailureAnalyzer() {}

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, IreeException cause) {
        boolean ofIdentity = false;
        for (Throwable each = rootFailure; each != null && !ofIdentity; each = each.getCause()) {
            ofIdentity = each instanceof BeanCreationException bean
                    && bean.getBeanName() != null
                    && BEANS.contains(bean.getBeanName());
        }
        if (!ofIdentity || cause.detail(IdentityInUse.class).isPresent()) {
            return null;
        }
        return new FailureAnalysis(
                "This node got no identity from the store of 'iree.cluster.identity':%n%n    %s".formatted(cause),
                cause.code() == StatusCode.UNAVAILABLE
                        ? "Correct the cause named by the store, or start this node again when the store answers. A node does not start without an identity, since two nodes with the same identity would corrupt each other's work."
                        : "Follow the message. A node does not start without an identity that no other node has.",
                cause);
    }
}
