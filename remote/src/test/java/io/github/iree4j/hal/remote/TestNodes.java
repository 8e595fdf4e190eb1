package io.github.iree4j.hal.remote;

import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.List;

/** Nodes of a cluster in this process, each with a separate domain and a virtual device. */
@SuppressWarnings("try") // closing may be interrupted
final class TestNodes implements AutoCloseable {
    static final long CLUSTER = 0xC0FFEE;

    final List<String> events = new ArrayList<>(); // opened 2, failed 2 CODE
    private final List<Runnable> opened = new ArrayList<>();
    final VirtualClock clock = VirtualClock.automatic();

    /** A node whose machine and incarnation are the number. */
    RemoteNode node(int number) {
        return node(number, RemoteOptions.DEFAULTS);
    }

    RemoteNode node(int number, RemoteOptions options) {
        return node(new NodeIdentity(CLUSTER, number, 1, number), options);
    }

    RemoteNode node(NodeIdentity identity, RemoteOptions options) {
        SchedulingDomain domain = domain(identity);
        VirtualDevice device = VirtualDevice.builder()
                .id("virtual" + identity.incarnation())
                .clock(clock)
                .schedulingDomain(domain)
                .unorderedQueue(2)
                .fifoQueues(1)
                .build();
        opened.addFirst(device::close);
        RemoteNode node = RemoteNode.builder(identity, domain)
                .device(device)
                .options(options)
                .listener(new Events(identity.incarnation()))
                .build();
        opened.addFirst(node::close);
        return node;
    }

    static SchedulingDomain domain(NodeIdentity identity) {
        return SchedulingDomain.create(
                AxisAllocator.create(identity.session(), identity.machine()),
                FrontierTracker.create(),
                Frontier.DEFAULT_CAPACITY);
    }

    private final class Events implements SessionListener {
        private final long of;

        Events(long of) {
            this.of = of;
        }

        private void add(String event, RemoteSession session) {
            synchronized (events) {
                NodeIdentity peer = session.peer();
                events.add("%d: %s %s".formatted(of, event, peer == null ? "?" : peer.incarnation()));
            }
        }

        @Override
        public void opened(RemoteSession session) {
            add("opened", session);
        }

        @Override
        public void draining(RemoteSession session, IreeException reason) {
            add("draining", session);
        }

        @Override
        public void failed(RemoteSession session, IreeException cause) {
            add("failed " + cause.code(), session);
        }
    }

    @Override
    public void close() {
        opened.forEach(Runnable::run);
    }
}
