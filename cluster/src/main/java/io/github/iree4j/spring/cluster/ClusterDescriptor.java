package io.github.iree4j.spring.cluster;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.cluster.ClusterNode;
import io.github.iree4j.cluster.ClusterPeer;
import io.github.iree4j.cluster.identity.LeaseKeeper;
import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.cluster.membership.Unreached;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.remote.RemoteDeviceInfo;
import io.github.iree4j.hal.remote.RemoteLaneStatistics;
import io.github.iree4j.hal.remote.RemoteSession;
import io.github.iree4j.hal.remote.RemoteSessionStatistics;
import io.github.iree4j.hal.remote.RemoteStreamStatistics;
import io.github.iree4j.hal.remote.ServedLaneStatistics;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * A cluster as seen by a node. Lists of axes and queues have at most 256 entries; counts give the full numbers.
 *
 * @param self this node
 * @param lease the state of the lease
 * @param fenced why this node is out of the cluster; null while not fenced
 * @param views number of views so far
 * @param members the nodes of the last view, including this node, and then the silent nodes
 * @param unreached the addresses where this node looks for other nodes without success, with causes
 * @param failed the failed incarnations, with the cause
 * @param failedAxes axes failed with the incarnations, up to 64 of each incarnation
 */
@NotForApplications
public record ClusterDescriptor(
        Self self,
        Lease lease,
        @Nullable String fenced,
        long views,
        List<Member> members,
        List<Unreached> unreached,
        Map<Long, String> failed,
        List<FailedAxis> failedAxes)
        implements OperationResponseBody {

    private static final int MOST = 256;

    /**
     * This node.
     *
     * @param clusterId the causal domain, in hexadecimal
     * @param machine the machine index
     * @param session the session epoch
     * @param incarnation the incarnation
     * @param address the address for peers; null before listening
     * @param draining whether no more work of peers is accepted
     * @param queues the queues of the served devices
     */
    public record Self(
            String clusterId,
            int machine,
            int session,
            long incarnation,
            @Nullable String address,
            boolean draining,
            List<Queue> queues) {}

    /**
     * A queue of a device served by this node; also used by the node itself.
     *
     * @param device id of the device
     * @param queue index of the queue
     * @param axis timeline of the queue
     * @param completed the epoch up to which all operations have completed
     * @param tainted whether the frontier is incomplete
     * @param frontier the uncompleted part of the next operation's predecessors
     */
    public record Queue(String device, int queue, String axis, long completed, boolean tainted, List<Entry> frontier) {}

    /**
     * An entry of a frontier.
     *
     * @param axis session, machine, domain and ordinal
     * @param epoch the epoch to reach
     * @param completed the completed epoch
     */
    public record Entry(String axis, long epoch, long completed) {}

    /**
     * A lease.
     *
     * @param state held, fenced or released
     * @param ageMillis time since the last renewal
     * @param renewals number of renewals
     */
    public record Lease(LeaseKeeper.State state, long ageMillis, long renewals) {}

    /**
     * A node of the view.
     *
     * @param machine the machine index
     * @param session the session epoch
     * @param incarnation the incarnation
     * @param address the address for peers
     * @param state self, connected, draining, connecting, failed, or silent: not in the view, with a session that has not
     *     ended
     * @param failure why there is no session; null with a session, or without a failure
     * @param devices the served devices
     * @param streams the traffic of each stream of the session, by {@code control}, {@code queue} and {@code bulk};
     *     empty without a session
     * @param traffic other statistics of the session; null without a session
     * @param queues the queues of the node's devices used by this node
     * @param lanes the lanes of the node on devices of this node
     * @param axisCount the number of the node's axes known here
     * @param axes the first of these axes
     */
    public record Member(
            int machine,
            int session,
            long incarnation,
            String address,
            String state,
            @Nullable String failure,
            List<Served> devices,
            Map<String, Stream> streams,
            @Nullable Traffic traffic,
            List<UsedQueue> queues,
            List<Lane> lanes,
            int axisCount,
            List<AxisEpoch> axes) {}

    /**
     * A device served by a node.
     *
     * @param id the device's id there
     * @param driver the driver
     * @param name the name
     * @param queues number of queues
     */
    public record Served(String id, String driver, String name, int queues) {}

    /**
     * The traffic of a stream.
     *
     * @param framesSent frames sent, or waiting to be
     * @param bytesSent bytes of the sent frames
     * @param framesReceived frames received
     * @param bytesReceived bytes of the received frames
     * @param bytesWaiting bytes waiting for room
     */
    public record Stream(long framesSent, long bytesSent, long framesReceived, long bytesReceived, long bytesWaiting) {}

    /**
     * The statistics of a session.
     *
     * @param framesDropped repeated frames, and frames after the end
     * @param submitted uncompleted operations of this node at the peer
     * @param served accepted, uncompleted operations of the peer
     * @param subscriptionsOfPeer semaphores of this node awaited by the peer
     * @param subscriptionsAtPeer semaphores of the peer awaited by this node
     * @param roundTripMicros average time until the peer answers; 0 when not known yet
     */
    public record Traffic(
            long framesDropped,
            int submitted,
            int served,
            int subscriptionsOfPeer,
            int subscriptionsAtPeer,
            double roundTripMicros) {}

    /**
     * A queue of a peer's device, used by this node.
     *
     * @param device id of the device there
     * @param axis the timeline of the queue at this node, named in frontiers
     * @param completed the completed epoch of the axis
     * @param lane the timeline of the queue at the peer; also belongs to this node
     * @param laneCompleted the epoch reached by the lane
     * @param inFlight operations sent and not completed
     * @param waiting operations waiting here for sending
     */
    public record UsedQueue(
            String device, String axis, long completed, String lane, long laneCompleted, int inFlight, int waiting) {}

    /**
     * A queue of this node's device, as used by a peer.
     *
     * @param lane the lane's timeline, belonging to the peer
     * @param device id of the device here
     * @param queue index of the queue running the commands
     * @param completed the epoch reached by the lane
     * @param commands the number of accepted commands still running or waiting
     */
    public record Lane(String lane, String device, int queue, long completed, int commands) {}

    /**
     * The completed epoch of an axis, as known to this node.
     *
     * @param axis session, machine, domain and ordinal
     * @param completed the completed epoch
     */
    public record AxisEpoch(String axis, long completed) {}

    /**
     * An axis failed with its node.
     *
     * @param axis session, machine, domain and ordinal
     * @param incarnation the node
     * @param completed the epoch reached before
     * @param cause the cause
     */
    public record FailedAxis(String axis, long incarnation, long completed, String cause) {}

    static ClusterDescriptor of(ClusterNode node, LeaseKeeper lease, FrontierTracker tracker) {
        Optional<ClusterMember> self = node.self();
        Map<Long, String> failed = new TreeMap<>();
        node.remote().failures().forEach((incarnation, cause) -> failed.put(incarnation, cause.toString()));
        List<ClusterPeer> peers = node.peers();
        List<Member> members = new ArrayList<>();
        for (ClusterMember each : node.view().members()) {
            ClusterPeer peer = peers.stream()
                    .filter(other -> other.member().equals(each))
                    .findFirst()
                    .orElse(null);
            boolean isSelf = self.filter(each::equals).isPresent();
            members.add(member(each, isSelf ? "self" : state(each, peer, failed), peer, tracker));
        }
        for (ClusterPeer each : node.silentPeers()) {
            members.add(member(each.member(), "silent", each, tracker));
        }
        return new ClusterDescriptor(
                new Self(
                        "%016x".formatted(node.identity().clusterId()),
                        node.identity().machine(),
                        node.identity().session(),
                        node.identity().incarnation(),
                        self.map(ClusterDescriptor::address).orElse(null),
                        node.remote().isDraining(),
                        queues(node.remote().served(), tracker)),
                new Lease(lease.state(), lease.age().toMillis(), lease.renewals()),
                node.fenced().map(IreeException::toString).orElse(null),
                node.views(),
                members,
                node.unreached(),
                failed,
                failedAxes(node.remote().failedAxes(), tracker));
    }

    private static List<Queue> queues(List<Device> devices, FrontierTracker tracker) {
        List<Queue> queues = new ArrayList<>();
        for (Device device : devices) {
            for (int i = 0; i < device.queueCount() && queues.size() < MOST; i++) {
                DeviceQueue queue = device.queue(i);
                Frontier frontier = queue.frontier();
                List<Entry> entries = new ArrayList<>();
                for (int k = 0; k < frontier.size(); k++) {
                    entries.add(new Entry(
                            Axis.toString(frontier.axis(k)), frontier.epoch(k), tracker.completed(frontier.axis(k))));
                }
                queues.add(new Queue(
                        device.id(),
                        i,
                        Axis.toString(queue.axis()),
                        tracker.completed(queue.axis()),
                        frontier.isTainted(),
                        entries));
            }
        }
        return queues;
    }

    private static List<FailedAxis> failedAxes(Map<Long, List<Long>> lost, FrontierTracker tracker) {
        List<FailedAxis> failed = new ArrayList<>();
        lost.forEach((incarnation, axes) -> {
            for (long axis : axes) {
                IreeException cause = tracker.failure(axis);
                if (cause != null && failed.size() < MOST) {
                    failed.add(new FailedAxis(
                            Axis.toString(axis), incarnation, tracker.completed(axis), cause.toString()));
                }
            }
        });
        return failed;
    }

    private static String state(ClusterMember member, @Nullable ClusterPeer peer, Map<Long, String> failed) {
        RemoteSession session = peer == null ? null : peer.session();
        if (session != null) {
            return session.draining() == null ? "connected" : "draining";
        }
        return failed.containsKey(member.identity().incarnation()) ? "failed" : "connecting";
    }

    private static Member member(
            ClusterMember member, String state, @Nullable ClusterPeer peer, FrontierTracker tracker) {
        RemoteSession session = peer == null ? null : peer.session();
        IreeException failure = peer == null ? null : peer.failure();
        RemoteSessionStatistics statistics = session == null ? null : session.statistics();
        List<Long> axes = session == null ? List.of() : session.axes();
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
                statistics == null ? Map.of() : streams(statistics.streams()),
                statistics == null ? null : traffic(statistics),
                session == null
                        ? List.of()
                        : session.lanes().stream()
                                .limit(MOST)
                                .map(lane -> used(lane, tracker))
                                .toList(),
                session == null
                        ? List.of()
                        : session.servedLanes().stream()
                                .limit(MOST)
                                .map(ClusterDescriptor::lane)
                                .toList(),
                axes.size(),
                axes.stream()
                        .limit(MOST)
                        .map(axis -> new AxisEpoch(Axis.toString(axis), tracker.completed(axis)))
                        .toList());
    }

    private static Served served(RemoteDeviceInfo device) {
        return new Served(device.id(), device.driver(), device.name(), device.queueCount());
    }

    private static UsedQueue used(RemoteLaneStatistics lane, FrontierTracker tracker) {
        return new UsedQueue(
                lane.device(),
                Axis.toString(lane.queue()),
                tracker.completed(lane.queue()),
                Axis.toString(lane.axis()),
                lane.completed(),
                lane.inFlight(),
                lane.waiting());
    }

    private static Lane lane(ServedLaneStatistics of) {
        return new Lane(Axis.toString(of.axis()), of.device(), of.queue(), of.completed(), of.commands());
    }

    private static Map<String, Stream> streams(List<RemoteStreamStatistics> all) {
        Map<String, Stream> streams = new TreeMap<>();
        for (RemoteStreamStatistics each : all) {
            streams.put(
                    each.stream().name().toLowerCase(Locale.ROOT),
                    new Stream(
                            each.framesSent(),
                            each.bytesSent(),
                            each.framesReceived(),
                            each.bytesReceived(),
                            each.bytesWaiting()));
        }
        return streams;
    }

    private static Traffic traffic(RemoteSessionStatistics of) {
        return new Traffic(
                of.framesDropped(),
                of.commandsAtPeer(),
                of.commandsOfPeer(),
                of.subscriptionsOfPeer(),
                of.subscriptionsAtPeer(),
                of.roundTripNanos() / 1e3);
    }

    private static String address(ClusterMember member) {
        return member.host() + ":" + member.port();
    }
}
