package io.github.iree4j.spring.cluster;

import io.github.iree4j.cluster.ClusterNode;
import io.github.iree4j.cluster.ClusterPeer;
import io.github.iree4j.cluster.identity.LeaseKeeper;
import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CompletedEpochs;
import io.github.iree4j.hal.remote.RemoteDeviceInfo;
import io.github.iree4j.hal.remote.RemoteSession;
import io.github.iree4j.hal.remote.RemoteSessionStatistics;
import io.github.iree4j.status.IreeException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * A cluster as one node sees it.
 *
 * @param self this node
 * @param lease where its lease stands
 * @param fenced why this node is out of the cluster; null while it is not
 * @param views number of views so far
 * @param members the nodes of the last view, this one included
 * @param failed the incarnations that have failed, with the cause
 */
public record ClusterDescriptor(
        Self self, Lease lease, @Nullable String fenced, long views, List<Member> members, Map<Long, String> failed)
        implements OperationResponseBody {

    /**
     * This node.
     *
     * @param clusterId the causal domain, in hexadecimal
     * @param machine its machine index
     * @param session its session epoch
     * @param incarnation its incarnation
     * @param address where peers reach it; null before it listens
     */
    public record Self(
            String clusterId,
            int machine,
            int session,
            long incarnation,
            @Nullable String address) {}

    /**
     * A lease.
     *
     * @param state held, fenced or released
     * @param ageMillis how long ago it was renewed
     * @param renewals how often it was renewed
     */
    public record Lease(LeaseKeeper.State state, long ageMillis, long renewals) {}

    /**
     * A node of the view.
     *
     * @param machine its machine index
     * @param session its session epoch
     * @param incarnation its incarnation
     * @param address where peers reach it
     * @param state self, connected, draining, connecting or failed
     * @param failure why there is no session; null when there is one, or nothing went wrong
     * @param devices the devices that it serves
     * @param streams what the session has done; null without one
     * @param axes the axes of the peer that this node knows
     */
    public record Member(
            int machine,
            int session,
            long incarnation,
            String address,
            String state,
            @Nullable String failure,
            List<Served> devices,
            @Nullable Streams streams,
            List<AxisEpoch> axes) {}

    /**
     * A device that a node serves.
     *
     * @param id its id there
     * @param driver its driver
     * @param name its name
     * @param queues number of its queues
     */
    public record Served(String id, String driver, String name, int queues) {}

    /**
     * What a session has done.
     *
     * @param framesSent frames sent, or waiting to be
     * @param bytesSent their bytes
     * @param framesReceived frames received
     * @param bytesReceived their bytes
     * @param framesDropped frames that were repeated, or came after the end
     * @param bytesWaiting bytes that wait for a stream to have room
     * @param subscriptionsOfPeer semaphores of this node that the peer waits for
     * @param subscriptionsAtPeer semaphores of the peer that this node waits for
     */
    public record Streams(
            long framesSent,
            long bytesSent,
            long framesReceived,
            long bytesReceived,
            long framesDropped,
            long bytesWaiting,
            int subscriptionsOfPeer,
            int subscriptionsAtPeer) {}

    /**
     * How far an axis has completed, as far as this node knows.
     *
     * @param axis session, machine, domain and ordinal
     * @param completed its epoch
     */
    public record AxisEpoch(String axis, long completed) {}

    static ClusterDescriptor of(ClusterNode node, LeaseKeeper lease, CompletedEpochs epochs) {
        ClusterMember self = node.self();
        IreeException fenced = node.fenced();
        Map<Long, String> failed = new TreeMap<>();
        node.remote().failures().forEach((incarnation, cause) -> failed.put(incarnation, cause.toString()));
        List<ClusterPeer> peers = node.peers();
        return new ClusterDescriptor(
                new Self(
                        "%016x".formatted(node.identity().clusterId()),
                        node.identity().machine(),
                        node.identity().session(),
                        node.identity().incarnation(),
                        self == null ? null : address(self)),
                new Lease(lease.state(), lease.age().toMillis(), lease.renewals()),
                fenced == null ? null : fenced.toString(),
                node.views(),
                node.view().members().stream()
                        .map(each -> member(each, self, peers, failed, epochs))
                        .toList(),
                failed);
    }

    private static Member member(
            ClusterMember member,
            @Nullable ClusterMember self,
            List<ClusterPeer> peers,
            Map<Long, String> failed,
            CompletedEpochs epochs) {
        ClusterPeer peer = peers.stream()
                .filter(each -> each.member().equals(member))
                .findFirst()
                .orElse(null);
        RemoteSession session = peer == null ? null : peer.session();
        IreeException failure = peer == null ? null : peer.failure();
        String state;
        if (member.equals(self)) {
            state = "self";
        } else if (session != null) {
            state = session.draining() == null ? "connected" : "draining";
        } else {
            state = failed.containsKey(member.identity().incarnation()) ? "failed" : "connecting";
        }
        return new Member(
                member.identity().machine(),
                member.identity().session(),
                member.identity().incarnation(),
                address(member),
                state,
                session != null || failure == null ? null : failure.toString(),
                session == null
                        ? List.of()
                        : session.devices().stream()
                                .map(ClusterDescriptor::served)
                                .toList(),
                session == null ? null : streams(session.statistics()),
                session == null
                        ? List.of()
                        : session.axes().stream()
                                .map(axis -> new AxisEpoch(Axis.toString(axis), epochs.completed(axis)))
                                .toList());
    }

    private static Served served(RemoteDeviceInfo device) {
        return new Served(device.id(), device.driver(), device.name(), device.queueCount());
    }

    private static Streams streams(RemoteSessionStatistics of) {
        return new Streams(
                of.framesSent(),
                of.bytesSent(),
                of.framesReceived(),
                of.bytesReceived(),
                of.framesDropped(),
                of.bytesWaiting(),
                of.subscriptionsOfPeer(),
                of.subscriptionsAtPeer());
    }

    private static String address(ClusterMember member) {
        return member.host() + ":" + member.port();
    }
}
