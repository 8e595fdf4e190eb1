package io.github.iree4j.hal.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Many nodes in the same process, each with a private scheduler and tracker: the nodes submit own work behind
 * semaphores of others. Sessions, frames and frontiers are real. Confined to a single thread.
 */
final class ManyNodes implements AutoCloseable {
    /** Nodes of a tensor-parallel group. */
    private static final int GROUP = 8;

    final VirtualClock clock = VirtualClock.stepped();
    final VirtualNetwork network = new VirtualNetwork(clock);
    final List<Node> nodes = new ArrayList<>();
    final List<Line> lines = new ArrayList<>(); // one axis of each node

    ManyNodes(int count) {
        for (int i = 0; i < count; i++) {
            nodes.add(new Node(i));
            lines.add(nodes.getLast().line());
        }
    }

    /** A node with a single queue. */
    final class Node {
        final RemoteNode node;
        private final VirtualDevice device;
        private final List<TimelineSemaphore> timelines = new ArrayList<>();
        private final Map<SemaphoreExport, TimelineSemaphore> proxies = new HashMap<>();

        private Node(int index) {
            // The store leases a machine index to one node at a time; an axis tells 65,280 slots apart.
            NodeIdentity identity = new NodeIdentity(TestNodes.CLUSTER, index % 256, 1 + index / 256, index + 1L);
            SchedulingDomain domain = SchedulingDomain.create(
                    AxisAllocator.create(identity.session(), identity.machine()),
                    FrontierTracker.create(),
                    Frontier.DEFAULT_CAPACITY);
            device = VirtualDevice.builder()
                    .clock(clock)
                    .schedulingDomain(domain)
                    .memoryLimit(1 << 20)
                    .build();
            node = RemoteNode.builder(identity, domain).build();
        }

        /** A timeline for waits of others. */
        Line line() {
            TimelineSemaphore timeline = TimelineSemaphore.create(0);
            timelines.add(timeline);
            return new Line(this, timeline, node.export(timeline));
        }

        /** A timeline of another node, as seen here. */
        TimelineSemaphore see(Line line) {
            if (line.owner.equals(this)) {
                return line.timeline;
            }
            network.connect(node, line.owner.node);
            return proxies.computeIfAbsent(
                    line.export,
                    export -> node.session(line.owner.node.identity().incarnation())
                            .semaphore(export.id(), 1));
        }

        Fence.Entry point(Line line, long value) {
            return new Fence.Entry(see(line), value);
        }

        void submit(List<Fence.Entry> waits, Line line, long value) {
            try (Fence wait = waits.isEmpty() ? null : Fence.of(waits);
                    Fence signal = Fence.at(line.timeline, value)) {
                device.queue(0).barrier(wait, signal, 0);
            }
        }

        private void close() {
            node.close();
            device.close();
            timelines.forEach(TimelineSemaphore::close);
            proxies.values().forEach(TimelineSemaphore::close);
        }
    }

    /** A timeline of a node. */
    record Line(Node owner, TimelineSemaphore timeline, SemaphoreExport export) {}

    /** The cost of a kind of work. */
    record Outcome(String work, int sessions, int operations, double frames, double bytes, int median, int most) {}

    static Outcome run(int count, Function<ManyNodes, Outcome> work) {
        try (ManyNodes nodes = new ManyNodes(count)) {
            return work.apply(nodes);
        }
    }

    private Outcome outcome(String work, int operations) {
        int[] entries = network.entries();
        return new Outcome(
                work,
                network.sessions(),
                operations,
                (double) network.frames() / operations,
                (double) network.bytes() / operations,
                entries[entries.length / 2],
                entries[entries.length - 1]);
    }

    /** All have their sessions and subscriptions; the following is counted. */
    void begin() {
        clock.runUntilIdle();
        network.reset();
    }

    private void run(List<Line> all, long value) {
        clock.runUntilIdle();
        assertThat(all).allMatch(each -> each.timeline.value() == value);
    }

    /** A token passed around. */
    Outcome ring(int rounds) {
        int count = nodes.size();
        for (int i = 0; i < count; i++) {
            nodes.get(i).see(lines.get((i + count - 1) % count));
        }
        begin();
        for (int round = 1; round <= rounds; round++) {
            for (int i = 0; i < count; i++) {
                Node own = nodes.get(i);
                Line before = lines.get((i + count - 1) % count);
                int value = i == 0 ? round - 1 : round;
                own.submit(value == 0 ? List.of() : List.of(own.point(before, value)), lines.get(i), round);
            }
        }
        run(lines, rounds);
        return outcome("ring", count * rounds);
    }

    /** All compute, one reduces, all go on. */
    Outcome allReduce(int steps) {
        Node hub = nodes.getFirst();
        Line sum = hub.line();
        lines.forEach(hub::see);
        nodes.forEach(each -> each.see(sum));
        begin();
        for (int step = 1; step <= steps; step++) {
            int now = step;
            for (Line each : lines) {
                Node own = each.owner;
                own.submit(step == 1 ? List.of() : List.of(own.point(sum, step - 1L)), each, step);
            }
            hub.submit(lines.stream().map(each -> hub.point(each, now)).toList(), sum, step);
        }
        run(lines, steps);
        run(List.of(sum), steps);
        return outcome("all-reduce over all nodes, at one node", (nodes.size() + 1) * steps);
    }

    /** Groups of eight in a row, each with waits of all for all. */
    Outcome tensorParallel(int steps) {
        List<Line> reduced = nodes.stream().map(Node::line).toList();
        for (int i = 0; i < nodes.size(); i++) {
            for (int other = 0; other < GROUP; other++) {
                nodes.get(i).see(lines.get(i - i % GROUP + other));
            }
            if (i >= GROUP) {
                nodes.get(i).see(reduced.get(i - GROUP));
            }
        }
        begin();
        for (int step = 1; step <= steps; step++) {
            for (int i = 0; i < nodes.size(); i++) {
                Node own = nodes.get(i);
                List<Fence.Entry> all = new ArrayList<>();
                for (int other = 0; other < GROUP; other++) {
                    all.add(own.point(lines.get(i - i % GROUP + other), step));
                }
                own.submit(
                        i < GROUP ? List.of() : List.of(own.point(reduced.get(i - GROUP), step)), lines.get(i), step);
                own.submit(all, reduced.get(i), step);
            }
        }
        run(lines, steps);
        run(reduced, steps);
        return outcome("tensor-parallel groups of 8, all wait for all", 2 * nodes.size() * steps);
    }

    @Override
    public void close() {
        nodes.forEach(Node::close);
        clock.runUntilIdle();
    }
}
