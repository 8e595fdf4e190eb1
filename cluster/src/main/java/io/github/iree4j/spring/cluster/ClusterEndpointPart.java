package io.github.iree4j.spring.cluster;

import io.github.iree4j.cluster.ClusterNode;
import io.github.iree4j.cluster.identity.LeaseKeeper;
import io.github.iree4j.frontier.CompletedEpochs;
import io.github.iree4j.spring.actuate.endpoint.EndpointPart;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/** {@code /actuator/iree/cluster}: members, sessions with them, the epochs of their axes, and what has failed. */
public final class ClusterEndpointPart implements EndpointPart {

    private final ClusterNode node;
    private final LeaseKeeper lease;
    private final CompletedEpochs epochs;

    /**
     * Creates the part.
     *
     * @param node this node
     * @param lease its lease
     * @param epochs how far axes have completed
     */
    public ClusterEndpointPart(ClusterNode node, LeaseKeeper lease, CompletedEpochs epochs) {
        this.node = node;
        this.lease = lease;
        this.epochs = epochs;
    }

    @Override
    public String name() {
        return "cluster";
    }

    @Override
    public OperationResponseBody read() {
        return ClusterDescriptor.of(node, lease, epochs);
    }
}
