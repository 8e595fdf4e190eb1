package io.github.iree4j.spring.cluster;

import io.github.iree4j.cluster.ClusterNode;
import io.github.iree4j.cluster.identity.LeaseKeeper;
import io.github.iree4j.hal.remote.RemoteSession;
import io.github.iree4j.hal.remote.RemoteSessionStatistics;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;

/** Binds the meters of a node. None has a tag for a peer: peers come and go, and each has a new name. */
public final class ClusterMetrics implements MeterBinder {

    private final ClusterNode node;
    private final LeaseKeeper lease;

    /**
     * Creates the meters.
     *
     * @param node this node
     * @param lease its lease
     */
    public ClusterMetrics(ClusterNode node, LeaseKeeper lease) {
        this.node = node;
        this.lease = lease;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        gauge(
                registry,
                "iree.cluster.members",
                "nodes",
                "Nodes of the view, this one included.",
                each -> each.view().members().size());
        gauge(
                registry,
                "iree.cluster.sessions",
                "sessions",
                "Open sessions with other nodes.",
                each -> each.peers().stream()
                        .filter(peer -> peer.session() != null)
                        .count());
        gauge(
                registry,
                "iree.cluster.failed",
                "nodes",
                "Incarnations of other nodes that have failed.",
                each -> each.remote().failures().size());
        gauge(
                registry,
                "iree.cluster.fenced",
                "nodes",
                "1 when this node is out of the cluster.",
                each -> each.fenced() == null ? 0 : 1);
        gauge(
                registry,
                "iree.cluster.axes",
                "axes",
                "Axes of other nodes that this one knows.",
                each -> sum(each, RemoteSessionStatistics::axes));
        gauge(
                registry,
                "iree.cluster.subscriptions",
                "semaphores",
                "Semaphores of other nodes that this one waits for.",
                each -> sum(each, RemoteSessionStatistics::subscriptionsAtPeer));
        gauge(
                registry,
                "iree.cluster.waiting",
                "bytes",
                "Bytes that wait for a stream to another node to have room.",
                each -> sum(each, RemoteSessionStatistics::bytesWaiting));
        gauge(
                registry,
                "iree.cluster.sent",
                "bytes",
                "Bytes of frames sent in open sessions.",
                each -> sum(each, RemoteSessionStatistics::bytesSent));
        gauge(
                registry,
                "iree.cluster.received",
                "bytes",
                "Bytes of frames received in open sessions.",
                each -> sum(each, RemoteSessionStatistics::bytesReceived));
        FunctionCounter.builder("iree.cluster.views", node, ClusterNode::views)
                .description("Changes of the view.")
                .baseUnit("views")
                .register(registry);
        FunctionCounter.builder("iree.cluster.lease.renewals", lease, LeaseKeeper::renewals)
                .description("Renewals of the lease.")
                .baseUnit("renewals")
                .register(registry);
        TimeGauge.builder(
                        "iree.cluster.lease.age",
                        lease,
                        TimeUnit.MILLISECONDS,
                        each -> each.age().toMillis())
                .description("Time since the lease was renewed.")
                .register(registry);
        TimeGauge.builder(
                        "iree.cluster.lease.renewal",
                        lease,
                        TimeUnit.MICROSECONDS,
                        each -> each.lastRenewal().toNanos() / 1e3)
                .description("Time that the last renewal of the lease took.")
                .register(registry);
    }

    private void gauge(
            MeterRegistry registry, String name, String unit, String description, ToDoubleFunction<ClusterNode> value) {
        Gauge.builder(name, node, value).description(description).baseUnit(unit).register(registry);
    }

    private static double sum(ClusterNode node, ToDoubleFunction<RemoteSessionStatistics> value) {
        return node.remote().sessions().stream()
                .map(RemoteSession::statistics)
                .mapToDouble(value)
                .sum();
    }
}
