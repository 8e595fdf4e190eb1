package io.github.iree4j.cluster;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.remote.RemoteDeviceInfo;
import io.github.iree4j.hal.remote.RemoteSession;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.DriverOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

/**
 * The options of a runtime for opening devices of other nodes: this process's node, and a limit on waiting for another
 * node. An opened device is lost with the session; opening the device again then waits for the next session.
 */
@NotForApplications
public final class ClusterDevices implements DriverOptions {
    static final ClusterDevices NONE = new ClusterDevices(
            () -> {
                throw new IllegalStateException("no node");
            },
            Duration.ZERO);

    private final Supplier<ClusterNode> node;
    private final Duration limit;

    /**
     * Creates the options.
     *
     * @param node returns this node, already a member of the cluster; called when a device is opened, and may block
     * @param limit the longest wait for a session with the other node
     */
    public ClusterDevices(Supplier<ClusterNode> node, Duration limit) {
        this.node = node;
        this.limit = limit;
    }

    /**
     * Returns whether a device belongs to a node.
     *
     * @param uri the URI of any device
     * @param member the node
     * @return true for a valid {@code cluster://...} naming this node
     */
    public static boolean isAt(String uri, ClusterMember member) {
        String prefix = DeviceAddress.DRIVER + "://";
        try {
            return uri.startsWith(prefix)
                    && DeviceAddress.parse(uri.substring(prefix.length())).isAt(member);
        } catch (IreeException e) {
            return false; // opening the device reports the cause
        }
    }

    Device open(DeviceAddress address, DeviceOptions options) {
        ClusterNode self = node.get();
        RemoteSession session = session(self, address);
        List<String> served =
                session.devices().stream().map(RemoteDeviceInfo::id).toList();
        String id = address.device().isEmpty() && !served.isEmpty() ? served.getFirst() : address.device();
        if (!served.contains(id)) {
            throw IreeException.of(
                    StatusCode.NOT_FOUND,
                    "'%s' is not there: %s serves %s".formatted(address, session, served),
                    null,
                    new WrongAddress(
                            address.toString(),
                            "Correct '%s' in 'iree.devices': the last part is the name of a device in 'iree.devices' of that node, and in its 'iree.cluster.serve', unless that is empty."
                                    .formatted(address)));
        }
        return session.openDevice(id, options);
    }

    private RemoteSession session(ClusterNode self, DeviceAddress address) {
        self.self().filter(address::isAt).ifPresent(own -> {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "'%s' is a device of this node, %s; name it without %s://"
                            .formatted(address, own, DeviceAddress.DRIVER),
                    null,
                    new WrongAddress(
                            address.toString(),
                            "In place of '%s' in 'iree.devices', name the device without '%s://', or a device of another node."
                                    .formatted(address, DeviceAddress.DRIVER)));
        });
        try {
            return self.awaitSession(address::isAt, limit).orElseThrow(() -> missing(self, address));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw IreeException.of(StatusCode.CANCELLED, "interrupted while '%s' was waited for".formatted(address), e);
        }
    }

    private IreeException missing(ClusterNode self, DeviceAddress address) {
        return self.fenced()
                .map(fenced -> IreeException.of(
                        StatusCode.UNAVAILABLE,
                        "'%s' cannot be used: this node, %s, is fenced: %s"
                                .formatted(address, self.identity(), fenced.getMessage()),
                        fenced))
                .orElseGet(() -> withoutSession(self, address));
    }

    private IreeException withoutSession(ClusterNode self, DeviceAddress address) {
        List<ClusterMember> members = self.view().members();
        String why = members.stream().anyMatch(address::isAt) ? "it is a member without a session" : "it is no member";
        IreeException failure = null;
        for (ClusterPeer each : self.peers()) {
            if (address.isAt(each.member()) && each.failure() != null) {
                failure = each.failure();
                why = "it is a member, and there is no session with it: " + failure.getMessage();
            }
        }
        return IreeException.of(
                StatusCode.UNAVAILABLE,
                "no session with the node of '%s' (%s) within %d ms: %s; members are %s, of which %s is this one"
                        .formatted(address, address.node(), limit.toMillis(), why, members, self.identity()),
                failure,
                new MissingNode(address.toString(), address.node()));
    }
}
