package io.github.iree4j.sample;

import io.github.iree4j.cluster.ClusterNode;
import io.github.iree4j.cluster.ClusterPeer;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.hal.remote.RemoteSession;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.stereotype.Component;

/** The nodes that a pipeline goes through. */
@Component
final class Nodes {
    private final SchedulingDomain domain;
    private final ObjectProvider<ClusterNode> cluster;

    Nodes(SchedulingDomain domain, ObjectProvider<ClusterNode> cluster) {
        this.domain = domain;
        this.cluster = cluster;
    }

    /**
     * A node.
     *
     * @param identity the node
     * @param session the session with the node; null for this node
     */
    record Present(NodeIdentity identity, @Nullable RemoteSession session) {}

    /** This node, and the nodes that serve devices and do not drain, by incarnation. */
    List<Present> present() {
        List<Present> present = new ArrayList<>();
        ClusterNode node = cluster.getIfAvailable();
        NodeIdentity self = node != null
                ? node.identity()
                : new NodeIdentity(0, domain.axes().machine(), domain.axes().session(), 1);
        present.add(new Present(self, null));
        for (ClusterPeer peer : node == null ? List.<ClusterPeer>of() : node.peers()) {
            RemoteSession session = peer.session();
            if (session != null
                    && session.draining() == null
                    && !session.devices().isEmpty()) {
                present.add(new Present(peer.member().identity(), session));
            }
        }
        present.sort(Comparator.comparingLong(each -> each.identity().incarnation()));
        return present;
    }
}
