package io.github.iree4j.spring.cluster;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.cluster.ClusterNode;
import io.github.iree4j.cluster.identity.LeaseKeeper;
import io.github.iree4j.hal.Device;
import io.github.iree4j.spring.actuate.endpoint.EndpointPart;
import java.util.List;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/** {@code /actuator/iree/cluster}: members, sessions with members, the epochs of members' axes, and failures. */
@NotForApplications
public final class ClusterEndpointPart implements EndpointPart {

    private final ClusterNode node;
    private final LeaseKeeper lease;
    private final FrontierTracker tracker;

    /**
     * Creates the part.
     *
     * @param node this node
     * @param lease the node's lease
     * @param tracker knows completed epochs and failed axes
     */
    public ClusterEndpointPart(ClusterNode node, LeaseKeeper lease, FrontierTracker tracker) {
        this.node = node;
        this.lease = lease;
        this.tracker = tracker;
    }

    @Override
    public String name() {
        return "cluster";
    }

    @Override
    public OperationResponseBody read() {
        return ClusterDescriptor.of(node, lease, tracker);
    }

    @Override
    public List<Device> devices() {
        return node.remote().sessions().stream()
                .flatMap(session -> session.opened().stream())
                .toList();
    }
}
