package io.github.iree4j.spring.cluster;

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
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * A cluster as one node sees it. Lists of axes and queues have at most 256 entries; counts say how many there are.
 *
 * @param self this node
 * @param lease where its lease stands
 * @param fenced why this node is out of the cluster; null while it is not
 * @param views number of views so far
 * @param members the nodes of the last view, this one included
 * @param unreached where this node looks for others and reaches none, and why
 * @param failed the incarnations that have failed, with the cause
 * @param failedAxes axes that failed with them, up to 64 of each incarnation
 */
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
     * @param machine its machine index
     * @param session its session epoch
     * @param incarnation its incarnation
     * @param address where peers reach it; null before it listens
     * @param draining whether it accepts no more work of peers
     * @param queues the queues of the devices that it serves
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
     * A queue of a device that this node serves, which is also used by the node itself.
     *
     * @param device id of the device
     * @param queue its index
     * @param axis its timeline
     * @param completed the epoch up to which all operations have completed
     * @param tainted whether the frontier is incomplete
     * @param frontier what the next operation runs after, as far as it has not completed
     */
    public record Queue(String device, int queue, String axis, long completed, boolean tainted, List<Entry> frontier) {}

    /**
     * An entry of a frontier.
     *
     * @param axis session, machine, domain and ordinal
     * @param epoch the epoch to reach
     * @param completed the epoch that has completed
     */
    public record Entry(String axis, long epoch, long completed) {}

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
     * @param streams what each stream of the session has carried, by {@code control}, {@code queue} and {@code bulk}; empty without a session
     * @param traffic what else the session has done; null without one
     * @param queues the queues of its devices that this node uses
     * @param lanes what it uses of the devices of this node
     * @param axisCount how many of its axes this node knows
     * @param axes the first of them
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
     * A device that a node serves.
     *
     * @param id its id there
     * @param driver its driver
     * @param name its name
     * @param queues number of its queues
     */
    public record Served(String id, String driver, String name, int queues) {}

    /**
     * What a stream has carried.
     *
     * @param framesSent frames sent, or waiting to be
     * @param bytesSent their bytes
     * @param framesReceived frames received
     * @param bytesReceived their bytes
     * @param bytesWaiting bytes that wait for room
     */
    public record Stream(long framesSent, long bytesSent, long framesReceived, long bytesReceived, long bytesWaiting) {}

    /**
     * What a session has done.
     *
     * @param framesDropped frames that were repeated, or came after the end
     * @param submitted operations of this node that the peer has and has not completed
     * @param served operations of the peer that this node has accepted and not completed
     * @param subscriptionsOfPeer semaphores of this node that the peer waits for
     * @param subscriptionsAtPeer semaphores of the peer that this node waits for
     * @param roundTripMicros average time until the peer answers; 0 when it is not known yet
     */
    public record Traffic(
            long framesDropped,
            int submitted,
            int served,
            int subscriptionsOfPeer,
            int subscriptionsAtPeer,
            double roundTripMicros) {}

    /**
     * A queue of a device of a peer that this node uses.
     *
     * @param device id of the device there
     * @param axis the timeline of the queue at this node, which frontiers name
     * @param completed the epoch that it has completed
     * @param lane the timeline under which the peer runs it, which also belongs to this node
     * @param laneCompleted the epoch that this one has reached
     * @param inFlight operations that were sent and have not completed
     * @param waiting operations that wait here to be sent
     */
    public record UsedQueue(
            String device, String axis, long completed, String lane, long laneCompleted, int inFlight, int waiting) {}

    /**
     * A queue of a device of this node, as a peer uses it.
     *
     * @param lane its timeline, which belongs to the peer
     * @param device id of the device here
     * @param queue index of the queue that runs the commands
     * @param completed the epoch that the lane has reached
     * @param commands how many were accepted and have not ended
     */
    public record Lane(String lane, String device, int queue, long completed, int commands) {}

    /**
     * How far an axis has completed, as far as this node knows.
     *
     * @param axis session, machine, domain and ordinal
     * @param completed its epoch
     */
    public record AxisEpoch(String axis, long completed) {}

    /**
     * An axis that failed with its node.
     *
     * @param axis session, machine, domain and ordinal
     * @param incarnation the node
     * @param completed the epoch that it had reached
     * @param cause why
     */
    public record FailedAxis(String axis, long incarnation, long completed, String cause) {}

    static ClusterDescriptor of(ClusterNode node, LeaseKeeper lease, FrontierTracker tracker) {
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
                        self == null ? null : address(self),
                        node.remote().isDraining(),
                        queues(node.remote().served(), tracker)),
                new Lease(lease.state(), lease.age().toMillis(), lease.renewals()),
                fenced == null ? null : fenced.toString(),
                node.views(),
                node.view().members().stream()
                        .map(each -> member(each, self, peers, failed, tracker))
                        .toList(),
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

    private static Member member(
            ClusterMember member,
            @Nullable ClusterMember self,
            List<ClusterPeer> peers,
            Map<Long, String> failed,
            FrontierTracker tracker) {
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
