package io.github.iree4j.hal.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.StreamCounters;
import io.github.iree4j.hal.spi.DeviceOptions;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The requests to the hardware of streams, against the least sufficient number: an oracle looks at the graph and at the
 * order in which the streams got the operations. Everything is submitted behind a gate, so a single signal sets all
 * free.
 */
@Timeout(300)
public abstract class QueueCostContract extends DeviceContract {
    /** On a backend, closed after each test. */
    protected QueueCostContract(Backend backend) {
        super(backend);
    }

    @BeforeEach
    void needsStreams() {
        assume(Capability.STREAMS);
        assumeTrue(backend.streams() >= 3, "the graphs need a device with three streams");
    }

    /** An operation with its waits. */
    private record Node(int queue, List<Integer> after) {}

    /** The requests to all streams. */
    private record Cost(long submissions, long waits, long points, long completions) {}

    private static Node node(int queue, Integer... after) {
        return new Node(queue, List.of(after));
    }

    /** Runs a graph; the host waits for the last operation only. */
    private Cost run(List<Node> graph, List<Frontier> frontiers) {
        try (Device several = open(DeviceOptions.builder().queueCount(backend.streams()));
                TimelineSemaphore gate = TimelineSemaphore.create(0);
                Fence open = Fence.at(gate, 1);
                Buffer target = several.allocator().allocate(PARAMS, graph.size() * 4L)) {
            List<Fence> done = new ArrayList<>();
            for (Node node : graph) {
                long offset = done.size() * 4L;
                List<Fence> waits = new ArrayList<>();
                node.after.forEach(each -> waits.add(done.get(each)));
                if (waits.isEmpty()) {
                    waits.add(open);
                }
                Fence signal = Fence.adopt(TimelineSemaphore.create(0), 1);
                done.add(signal);
                try (Fence all = Objects.requireNonNull(Fence.joinNullable(waits))) {
                    several.queue(node.queue).fill(all, signal, target, offset, 4, 1, 4, 0);
                }
            }
            long[] before = costs(several);
            backend.hold();
            try {
                gate.signal(1);
                while (isHeldBack(several)) { // another thread may be at work
                    Thread.onSpinWait();
                }
            } finally {
                backend.release();
            }
            done.forEach(Fence::await);
            long[] after = costs(several);
            for (Fence each : done) {
                frontiers.add(Objects.requireNonNull(each.semaphore(0).frontierAt(1)));
            }
            done.forEach(Fence::close);
            return new Cost(after[0] - before[0], after[1] - before[1], after[2] - before[2], after[3] - before[3]);
        }
    }

    private static boolean isHeldBack(Device device) {
        boolean any = false;
        for (int i = 0; i < device.queueCount(); i++) {
            any |= device.queue(i).counters().pending() > 0;
        }
        return any;
    }

    private static long[] costs(Device device) {
        long[] sums = new long[4];
        for (int i = 0; i < device.queueCount(); i++) {
            StreamCounters counters = device.queue(i).streamCounters();
            sums[0] += counters.submissions();
            sums[1] += counters.waits();
            sums[2] += counters.points();
            sums[3] += counters.completions();
        }
        return sums;
    }

    @Test
    void aChainOfAThousandIsASingleSubmissionWithoutPointsAndWaits() {
        List<Node> chain = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            chain.add(i == 0 ? node(0) : node(0, i - 1));
        }
        Cost cost = run(chain, new ArrayList<>());
        assertThat(cost.submissions).isEqualTo(1);
        assertThat(cost.waits).isZero();
        assertThat(cost.points).isZero();
        if (backend.has(Capability.GATHERED_COMPLETIONS)) {
            assertThat(cost.completions).isEqualTo(1);
        }
    }

    @Test
    void aForkAndJoinTakesAWaitForEachEdgeAndAPointForEachEnd() {
        int branches = backend.streams() - 1;
        List<Node> graph = new ArrayList<>(List.of(node(0)));
        List<Integer> ends = new ArrayList<>();
        for (int i = 1; i <= branches; i++) {
            graph.add(node(i, 0));
            ends.add(i);
        }
        graph.add(new Node(0, ends));
        Cost cost = run(graph, new ArrayList<>());
        assertThat(cost.waits).as("waits").isEqualTo(2L * branches);
        assertThat(cost.points).as("points: the fork, and the branches").isEqualTo(1 + branches);
    }

    @Test
    void aTriangleDropsTheEdgeImpliedByTheOtherTwo() {
        Cost cost = run(List.of(node(0), node(1, 0), node(2, 0, 1)), new ArrayList<>());
        assertThat(cost.waits).as("waits").isEqualTo(2);
        assertThat(cost.points).as("points").isEqualTo(2);
    }

    @Test
    void aTransitiveChainOverQueuesWaitsOnceForEachStep() {
        Cost cost = run(
                List.of(node(0), node(1, 0), node(2, 0, 1), node(1, 0, 1, 2), node(0, 0, 1, 2, 3)), new ArrayList<>());
        assertThat(cost.waits).as("waits").isEqualTo(4);
        assertThat(cost.points).as("points").isEqualTo(4);
    }

    @Test
    @Tag("long")
    void randomGraphsTakeTheLeastNumberOfWaitsAndPoints() {
        long seed = Effort.seed(QueueCostContract.class, "graphs", 20261121);
        for (int round = 0; round < Effort.rounds(50, 2000); round++) {
            Random random = new Random(seed + round);
            List<Node> graph = new ArrayList<>();
            for (int i = 0; i < 4 + random.nextInt(20); i++) {
                Set<Integer> after = new HashSet<>();
                for (int edges = i == 0 ? 0 : random.nextInt(4); edges > 0; edges--) {
                    after.add(random.nextInt(i));
                }
                graph.add(new Node(random.nextInt(backend.streams()), List.copyOf(after)));
            }
            List<Frontier> frontiers = new ArrayList<>();
            Cost cost = run(graph, frontiers);
            Set<Integer> points = new HashSet<>();
            long least = leastWaits(graph, frontiers, points);
            assertThat(cost.waits)
                    .as("seed %d: waits of %s", seed + round, graph)
                    .isEqualTo(least);
            assertThat(cost.points)
                    .as("seed %d: points of %s", seed + round, graph)
                    .isEqualTo(points.size());
        }
    }

    /**
     * The oracle: everything before an operation is the past of its stream and its waits, and nothing is waited for
     * twice.
     */
    private static long leastWaits(List<Node> graph, List<Frontier> frontiers, Set<Integer> points) {
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < graph.size(); i++) {
            order.add(i);
        }
        order.sort(Comparator.comparingLong(each -> frontiers.get(each).producerEpoch()));
        BitSet[] before = new BitSet[graph.size()]; // with itself
        long waits = 0;
        int left = graph.size();
        while (left > 0) { // streams get operations in the order of their epochs, each after its waits
            for (int each : order) {
                if (before[each] != null || !isReady(each, graph, frontiers, before)) {
                    continue;
                }
                BitSet known = new BitSet();
                for (int other = 0; other < graph.size(); other++) {
                    if (isEarlierOnItsStream(other, each, graph, frontiers)) {
                        known.or(before[other]);
                    }
                }
                BitSet missing = new BitSet();
                graph.get(each).after.forEach(missing::set);
                missing.andNot(known);
                for (int wait = missing.nextSetBit(0); wait >= 0; wait = missing.nextSetBit(wait + 1)) {
                    boolean implied = false;
                    for (int other = missing.nextSetBit(0); other >= 0; other = missing.nextSetBit(other + 1)) {
                        implied |= other != wait && before[other].get(wait);
                    }
                    if (!implied) {
                        waits++;
                        points.add(wait);
                    }
                }
                for (int wait = missing.nextSetBit(0); wait >= 0; wait = missing.nextSetBit(wait + 1)) {
                    known.or(before[wait]);
                }
                known.set(each);
                before[each] = known;
                left--;
            }
        }
        return waits;
    }

    private static boolean isReady(int node, List<Node> graph, List<Frontier> frontiers, BitSet[] before) {
        for (int each : graph.get(node).after) {
            if (before[each] == null) {
                return false;
            }
        }
        for (int other = 0; other < graph.size(); other++) {
            if (isEarlierOnItsStream(other, node, graph, frontiers) && before[other] == null) {
                return false;
            }
        }
        return true;
    }

    private static boolean isEarlierOnItsStream(int other, int node, List<Node> graph, List<Frontier> frontiers) {
        return graph.get(other).queue == graph.get(node).queue
                && frontiers.get(other).producerEpoch() < frontiers.get(node).producerEpoch();
    }
}
