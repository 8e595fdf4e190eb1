package pages;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.hal.remote.PeerConnection;
import io.github.iree4j.hal.remote.PeerListener;
import io.github.iree4j.hal.remote.RemoteNode;
import io.github.iree4j.hal.remote.SessionListener;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;

class ClusterProtocol {
    void nodes(
            NodeIdentity identity,
            SchedulingDomain domain,
            Device cpu,
            SessionListener sessions,
            PeerConnection connection,
            long peerIncarnation,
            long incarnation,
            IreeException cause,
            String reason,
            DeviceOptions options) {
        // fence 1
    }
}
