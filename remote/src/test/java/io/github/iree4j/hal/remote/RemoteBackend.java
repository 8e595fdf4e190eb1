package io.github.iree4j.hal.remote;

import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.contract.Backend;
import io.github.iree4j.hal.contract.Capability;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.local.LocalBackend;
import io.github.iree4j.hal.spi.DeviceOptions;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** The CPU of another node, over a transport in the process with delivery of frames in any order of streams. */
final class RemoteBackend implements Backend {
    private static final AtomicInteger SLOTS = new AtomicInteger(); // a slot is used once in a process

    private final Loopback loopback = new Loopback(1).repeats(5);
    private @Nullable Device served;
    private @Nullable RemoteNode client;
    private @Nullable RemoteNode server;

    private final long far;
    private final BiConsumer<PeerStream, byte[]> tap;

    RemoteBackend() {
        this(2, (_, _) -> {});
    }

    /** A backend with an incarnation of the server, and a view of the client's frames. */
    RemoteBackend(long far, BiConsumer<PeerStream, byte[]> tap) {
        this.far = far;
        this.tap = tap;
    }

    private static NodeIdentity unused(long incarnation) {
        int slot = SLOTS.getAndIncrement();
        return new NodeIdentity(TestNodes.CLUSTER, 1 + slot / 255, 1 + slot % 255, incarnation);
    }

    @Override
    public String name() {
        return "CPU of another node";
    }

    private RemoteSession session() {
        RemoteNode from = client;
        if (from == null) {
            NodeIdentity there = unused(far);
            SchedulingDomain domain = TestNodes.domain(there);
            served = new LocalBackend()
                    .open(DeviceOptions.builder().queueCount(4).schedulingDomain(domain));
            server = RemoteNode.builder(there, domain).device(served).build();
            AxisAllocator own = SchedulingDomain.ofProcess().axes();
            from = RemoteNode.builder(
                            new NodeIdentity(TestNodes.CLUSTER, own.machine(), own.session(), 1),
                            SchedulingDomain.ofProcess())
                    .tracer(new RemoteTracer() {
                        @Override
                        public TraceParent current() {
                            return new TraceParent(0, 2, 1);
                        }
                    })
                    .build();
            client = from;
            loopback.connect(from, server, tap);
            loopback.run();
            loopback.start();
        }
        return from.session(far);
    }

    @Override
    public Device open(DeviceOptions.Builder options) {
        RemoteSession session = session();
        return session.openDevice(session.devices().getFirst().id(), options.build());
    }

    @Override
    public Executable kernels(Device device, int... constants) {
        return JavaKernels.load(device, constants);
    }

    @Override
    public Set<Capability> lacks() {
        return EnumSet.of(
                Capability.CONCURRENT_HOST_CALLS,
                Capability.STREAMS,
                Capability.GATHERED_COMPLETIONS,
                Capability.HOST_IMPORTS,
                Capability.COLLECTIVES);
    }

    @Override
    public void close() {
        if (client != null) {
            client.close();
            server.close();
            loopback.stop();
            served.close();
        }
    }
}
