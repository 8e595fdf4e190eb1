package io.github.iree4j.hal.remote;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.local.LocalBackend;
import io.github.iree4j.hal.remote.Loopback.Link;
import io.github.iree4j.hal.spi.DeviceOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/**
 * Nodes 1, 2 and 3 of this process, each serving its CPU and with a session to each other node. A thread delivers the
 * frames.
 */
@SuppressWarnings("try") // closing may be interrupted
final class ThreeCpus implements AutoCloseable {
    final Loopback loopback;
    final List<RemoteNode> nodes = new ArrayList<>();
    final List<Device> cpus = new ArrayList<>(); // of each node
    final List<Link> links = new ArrayList<>(); // 1 to 2, 1 to 3, 2 to 3
    private final List<AutoCloseable> opened = new ArrayList<>();

    ThreeCpus(long seed, int queues) {
        this(seed, queues, _ -> RemoteTracer.NONE);
    }

    /** Nodes 2 and 3 have no session with each other. */
    static ThreeCpus apart(long seed, int queues) {
        return new ThreeCpus(seed, queues, _ -> RemoteTracer.NONE, 1);
    }

    /** With the tracer of each node, by its number. */
    ThreeCpus(long seed, int queues, IntFunction<RemoteTracer> tracers) {
        this(seed, queues, tracers, 2);
    }

    private ThreeCpus(long seed, int queues, IntFunction<RemoteTracer> tracers, int dialers) {
        loopback = new Loopback(seed).repeats(5);
        for (int i = 1; i <= 3; i++) {
            NodeIdentity identity = new NodeIdentity(TestNodes.CLUSTER, i, 1, i);
            SchedulingDomain domain = TestNodes.domain(identity);
            Device cpu = opened(new LocalBackend()
                    .open(DeviceOptions.builder().queueCount(queues).schedulingDomain(domain)));
            cpus.add(cpu);
            nodes.add(opened(RemoteNode.builder(identity, domain)
                    .device(cpu)
                    .tracer(tracers.apply(i))
                    .build()));
        }
        for (int i = 0; i < dialers; i++) {
            for (int j = i + 1; j < 3; j++) {
                links.add(loopback.connect(nodes.get(i), nodes.get(j)));
            }
        }
        loopback.run();
        loopback.start();
        opened.addFirst(loopback::stop);
    }

    /** Returns a runtime of the first node with devices 1, the node's, and 2 and 3, of the other nodes; the caller closes the runtime. */
    IreeRuntime runtime() {
        DeviceOptions options = DeviceOptions.builder()
                .schedulingDomain(nodes.getFirst().domain())
                .with(new TestNodesProvider.Nodes(nodes))
                .build();
        return IreeRuntime.builder()
                .device("1", "local", options)
                .device("2", "test-nodes://2", options)
                .device("3", "test-nodes://3", options)
                .build();
    }

    /** Opens the device of another node for the first one. */
    Device far(int node, int queues) {
        RemoteSession session = nodes.getFirst().session(node);
        return opened(session.openDevice(
                session.devices().getFirst().id(),
                DeviceOptions.builder()
                        .queueCount(queues)
                        .schedulingDomain(nodes.getFirst().domain())
                        .build()));
    }

    /** Closes something before the nodes. */
    <T extends AutoCloseable> T opened(T object) {
        opened.addFirst(object);
        return object;
    }

    @Override
    public void close() throws Exception {
        for (AutoCloseable each : opened) {
            each.close();
        }
    }
}
