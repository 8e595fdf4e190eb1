package io.github.iree4j.spring.cluster;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.cluster.ClusterNode;
import io.github.iree4j.cluster.ClusterPeer;
import io.github.iree4j.cluster.identity.LeaseKeeper;
import io.github.iree4j.hal.remote.RemoteSession;
import io.github.iree4j.hal.remote.RemoteSessionStatistics;
import io.github.iree4j.hal.remote.RemoteStreamStatistics;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/**
 * Binds the meters of a node. Meters of a peer are tagged with the peer's machine index, and exist while there is a
 * session: peers come and go under new names, and the tags take at most 256 values.
 */
@NotForApplications
public final class ClusterMetrics implements MeterBinder {

    private final ClusterNode node;
    private final LeaseKeeper lease;
    private final List<PeerMeters> peers = new CopyOnWriteArrayList<>(); // of each registry

    /** A gauge with a row for each peer. */
    private record PeerMeters(MultiGauge gauge, Function<RemoteSession, Map<Tags, Double>> values) {}

    /**
     * Creates the meters.
     *
     * @param node this node
     * @param lease the node's lease
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
                each -> each.fenced().isPresent() ? 1 : 0);
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
        bindPeers(registry);
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

    private void bindPeers(MeterRegistry registry) {
        perStream(
                registry,
                "iree.cluster.peer.sent",
                "Bytes of frames sent to a peer in the open session.",
                RemoteStreamStatistics::bytesSent);
        perStream(
                registry,
                "iree.cluster.peer.received",
                "Bytes of frames received from a peer in the open session.",
                RemoteStreamStatistics::bytesReceived);
        perStream(
                registry,
                "iree.cluster.peer.waiting",
                "Bytes that wait for room on their way to a peer.",
                RemoteStreamStatistics::bytesWaiting);
        perPeer(
                registry,
                "iree.cluster.peer.submitted",
                "operations",
                "Operations of this node that a peer has and has not completed.",
                RemoteSessionStatistics::commandsAtPeer);
        perPeer(
                registry,
                "iree.cluster.peer.served",
                "operations",
                "Operations of a peer that this node has accepted and not completed.",
                RemoteSessionStatistics::commandsOfPeer);
        perPeer(
                registry,
                "iree.cluster.peer.round.trip",
                "seconds",
                "Average time until a peer answers.",
                statistics -> statistics.roundTripNanos() / 1e9);
    }

    private void perPeer(
            MeterRegistry registry,
            String name,
            String unit,
            String description,
            ToDoubleFunction<RemoteSessionStatistics> value) {
        MultiGauge gauge =
                MultiGauge.builder(name).description(description).baseUnit(unit).register(registry);
        peers.add(new PeerMeters(gauge, session -> Map.of(Tags.empty(), value.applyAsDouble(session.statistics()))));
    }

    private void perStream(
            MeterRegistry registry, String name, String description, ToDoubleFunction<RemoteStreamStatistics> value) {
        MultiGauge gauge = MultiGauge.builder(name)
                .description(description)
                .baseUnit("bytes")
                .register(registry);
        peers.add(new PeerMeters(
                gauge,
                session -> session.statistics().streams().stream()
                        .collect(Collectors.toMap(
                                each -> Tags.of("stream", each.stream().name().toLowerCase(Locale.ROOT)),
                                value::applyAsDouble))));
    }

    /** Updates the meters of peers to the present values. To be called regularly. */
    public void refresh() {
        for (PeerMeters each : peers) {
            List<MultiGauge.Row<?>> rows = new ArrayList<>();
            for (ClusterPeer peer : node.peers()) {
                RemoteSession session = peer.session();
                if (session != null) {
                    int machine = peer.member().identity().machine();
                    each.values()
                            .apply(session)
                            .forEach((tags, value) ->
                                    rows.add(MultiGauge.Row.of(tags.and("machine", Integer.toString(machine)), value)));
                }
            }
            each.gauge().register(rows, true);
        }
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
