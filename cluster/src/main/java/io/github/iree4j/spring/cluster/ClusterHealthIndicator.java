package io.github.iree4j.spring.cluster;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.cluster.ClusterNode;
import io.github.iree4j.cluster.ClusterPeer;
import io.github.iree4j.cluster.identity.LeaseKeeper;
import io.github.iree4j.cluster.membership.Unreached;
import io.github.iree4j.status.IreeException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;

/**
 * Health of a node: down when fenced or without a held lease; up but degraded while a node in the view has no session,
 * or while a refusal, by either side, keeps a configured node away. The loss of another node is no fault of this node.
 */
@NotForApplications
public final class ClusterHealthIndicator implements HealthIndicator {

    private final ClusterNode node;
    private final LeaseKeeper lease;

    /**
     * Creates an indicator.
     *
     * @param node this node
     * @param lease the node's lease
     */
    public ClusterHealthIndicator(ClusterNode node, LeaseKeeper lease) {
        this.node = node;
        this.lease = lease;
    }

    @Override
    public Health health() {
        Optional<IreeException> fenced = node.fenced();
        boolean held = lease.state() == LeaseKeeper.State.HELD;
        Health.Builder health = fenced.isEmpty() && held ? Health.up() : Health.down();
        fenced.ifPresent(cause -> health.withDetail("reason", cause.toString()));
        Map<String, String> without = new TreeMap<>();
        for (ClusterPeer each : node.peers()) {
            if (each.session() == null) {
                IreeException failure = each.failure();
                without.put(each.member().toString(), failure == null ? "connecting" : failure.toString());
            }
        }
        if (!without.isEmpty()) {
            health.withDetail("degraded", true).withDetail("withoutSession", without);
        }
        List<String> silent = node.silentPeers().stream()
                .map(each -> each.member().toString())
                .toList();
        if (!silent.isEmpty()) {
            health.withDetail("degraded", true).withDetail("silent", silent);
        }
        Map<String, String> unreached = new TreeMap<>();
        boolean refused = false;
        for (Unreached each : node.unreached()) {
            unreached.put(each.address(), each.cause());
            refused |= each.refuses();
        }
        if (refused) {
            health.withDetail("degraded", true);
        }
        if (!unreached.isEmpty()) {
            health.withDetail("unreached", unreached);
        }
        return health.withDetail("identity", node.identity().toString())
                .withDetail("members", node.view().members().size())
                .withDetail("leaseAge", lease.age())
                .withDetail("fencedWithoutRenewalIn", lease.left())
                .build();
    }
}
