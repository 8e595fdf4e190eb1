package pages;

import io.github.iree4j.Results;
import io.github.iree4j.Submission;
import io.github.iree4j.cluster.ClusterNode;
import io.github.iree4j.cluster.ClusterPeer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.remote.RemoteSession;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.spring.InvocationService;

class Cluster {
    void pipeline(InvocationService invocations, float[][] text) {
        // fence 1
    }

    void devices(ClusterNode node, SchedulingDomain domain) {
        // fence 2
    }
}
