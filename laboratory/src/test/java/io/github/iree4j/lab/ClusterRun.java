package io.github.iree4j.lab;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.ChannelParams;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.QueueCounters;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.hal.virtual.VirtualOperation;
import io.github.iree4j.hal.virtual.VirtualScript;
import io.github.iree4j.lab.ClusterStudy.Row;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A run of the work of a cluster: submitted at once by a node, to a device of a single queue for each node, with waits
 * for each other without the host, as remote devices do. Confined to one thread.
 */
final class ClusterRun {
    /** Points of other lanes in a command; for more, the client waits. */
    private static final int COMMAND_WAITS = 255;

    private static final Collective SUM = Collective.of(Collective.ALL_REDUCE, Collective.SUM, Collective.S32);

    private final ClusterWork work;
    private final int capacity;
    private final VirtualClock clock = VirtualClock.stepped();
    private final FrontierTracker tracker = FrontierTracker.create();
    private final List<AutoCloseable> opened = new ArrayList<>();
    private final List<VirtualDevice> devices = new ArrayList<>();
    private final List<TimelineSemaphore> timelines = new ArrayList<>(); // of the nodes
    private final Map<Long, Integer> nodeOf = new HashMap<>(); // by axis
    private final long[] ended; // by node, the epoch of the last operation ended by the hardware
    private final long[] value; // by operation, the value signalled on the timeline of its node
    private final long[] start;
    private final long[] end;
    private final int[] entries; // of the signal's frontier
    private final boolean[] tainted;
    private final List<String> violations = new ArrayList<>();
    private long told; // waits with a notice from another node

    private ClusterRun(ClusterWork work, int capacity) {
        this.work = work;
        this.capacity = capacity;
        int count = work.operations().size();
        this.ended = new long[work.nodes()];
        this.value = new long[count];
        this.start = new long[count];
        this.end = new long[count];
        this.entries = new int[count];
        this.tainted = new boolean[count];
        Arrays.fill(start, -1);
        Arrays.fill(end, -1);
    }

    static Row run(ClusterWork work, int capacity) {
        return new ClusterRun(work, capacity).run();
    }

    private Row run() {
        try (tracker) {
            try {
                open();
                List<List<CommandBuffer>> collectives = channels();
                long[] next = new long[work.nodes()];
                for (int i = 0; i < value.length; i++) {
                    value[i] = ++next[work.operations().get(i).node()];
                }
                for (int i = 0; i < value.length; i++) {
                    submit(i, collectives);
                }
                clock.runUntilIdle();
                check();
                return row();
            } finally {
                close();
            }
        }
    }

    private void open() {
        SchedulingDomain domain = SchedulingDomain.create(AxisAllocator.create(1, 0), tracker, capacity);
        Object directGroup = new Object();
        for (int node = 0; node < work.nodes(); node++) {
            VirtualDevice device = VirtualDevice.builder()
                    .id("node" + node)
                    .clock(clock)
                    .script(new Script(node))
                    .schedulingDomain(domain)
                    .directGroup(directGroup)
                    .memoryLimit(1 << 20)
                    .build();
            devices.add(device);
            nodeOf.put(device.queue(0).axis(), node);
            timelines.add(TimelineSemaphore.create(0));
        }
    }

    /** The collective of each participant of each group. */
    private List<List<CommandBuffer>> channels() {
        List<List<CommandBuffer>> all = new ArrayList<>();
        for (int[] members : work.groups()) {
            List<CommandBuffer> ofGroup = new ArrayList<>();
            for (int rank = 0; rank < members.length; rank++) {
                VirtualDevice device = devices.get(members[rank]);
                Channel channel =
                        device.createChannel(-1, ChannelParams.of("group" + all.size(), rank, members.length));
                Buffer elements = device.allocator().allocate(BufferParams.DEFAULT, Integer.BYTES);
                CommandBuffer commands =
                        device.createCommandBuffer(0, CommandBuffer.TRANSFER | CommandBuffer.DISPATCH, -1, 0);
                commands.collective(channel, SUM, 0, BufferRef.of(elements), BufferRef.of(elements), 1);
                commands.finish();
                ofGroup.add(commands);
                opened.addAll(List.of(commands, channel, elements));
            }
            all.add(ofGroup);
        }
        return all;
    }

    private void submit(int index, List<List<CommandBuffer>> collectives) {
        ClusterWork.Operation operation = work.operations().get(index);
        TimelineSemaphore own = timelines.get(operation.node());
        own.whenReached(value[index], (_, failure) -> reached(index, own, failure));
        VirtualDevice device = devices.get(operation.node());
        try (Fence signal = Fence.at(own, value[index]);
                Fence wait = wait(operation)) {
            long before = device.queue(0).counters().deviceWaits();
            if (operation.isCollective()) {
                int[] members = work.groups().get(operation.group());
                int rank = Arrays.binarySearch(members, operation.node());
                device.queue(0)
                        .execute(
                                wait, signal, collectives.get(operation.group()).get(rank), null, 0);
            } else {
                device.submit(0, wait, signal, new Work(index));
            }
            told += Math.min(device.queue(0).counters().deviceWaits() - before, COMMAND_WAITS);
        }
    }

    private @Nullable Fence wait(ClusterWork.Operation operation) {
        List<Fence.Entry> points = operation.after().stream()
                .map(each -> new Fence.Entry(
                        timelines.get(work.operations().get(each).node()), value[each]))
                .toList();
        return points.isEmpty() ? null : Fence.of(points);
    }

    private void reached(int index, TimelineSemaphore own, @Nullable IreeException failure) {
        end[index] = clock.now();
        Frontier frontier = own.frontierAt(value[index]);
        if (failure != null || frontier == null) {
            violations.add("operation %d: %s".formatted(index, failure == null ? "no frontier" : failure));
            return;
        }
        entries[index] = frontier.size();
        tainted[index] = frontier.isTainted();
        for (int i = 0; i < frontier.size(); i++) {
            Integer node = nodeOf.get(frontier.axis(i));
            long over = node == null ? tracker.completed(frontier.axis(i)) : ended[node];
            if (over < frontier.epoch(i)) {
                violations.add("operation %d claims %s of '%s', which has ended %d"
                        .formatted(index, frontier.epoch(i), Axis.toString(frontier.axis(i)), over));
            }
        }
    }

    /** The rules: everything ends, nothing starts early, and an incomplete frontier is marked as such. */
    private void check() {
        List<BitSet> past = new ArrayList<>(); // the nodes in the past of each operation
        int[] last = new int[work.nodes()]; // 1 + the last operation of each
        for (int i = 0; i < value.length; i++) {
            ClusterWork.Operation operation = work.operations().get(i);
            BitSet its = new BitSet(work.nodes());
            its.set(operation.node());
            List<Integer> before = new ArrayList<>(operation.after());
            if (last[operation.node()] > 0) {
                before.add(last[operation.node()] - 1);
            }
            last[operation.node()] = i + 1;
            for (int each : before) {
                its.or(past.get(each));
                long from = operation.isCollective() ? end[i] : start[i];
                if (end[each] < 0 || from < end[each]) {
                    violations.add(
                            "operation %d at %d, before the end of %d at %d".formatted(i, from, each, end[each]));
                }
            }
            past.add(its);
            if (work.groups().isEmpty()) { // where no collective holds anything back, nothing is pruned
                boolean fits = its.cardinality() <= capacity;
                if (tainted[i] == fits || entries[i] != Math.min(capacity, its.cardinality())) {
                    violations.add("operation %d has a past of %d queues and %d entries%s"
                            .formatted(i, its.cardinality(), entries[i], tainted[i] ? ", tainted" : ""));
                }
            }
        }
    }

    private Row row() {
        int[] sorted = entries.clone();
        Arrays.sort(sorted);
        int taints = 0;
        for (boolean each : tainted) {
            taints += each ? 1 : 0;
        }
        long deviceWaits = 0;
        long dropped = 0;
        long held = 0;
        for (VirtualDevice each : devices) {
            QueueCounters counters = each.queue(0).counters();
            deviceWaits += counters.deviceWaits();
            dropped += counters.elided();
            held += counters.deferred();
        }
        return new Row(
                work.name(),
                work.nodes(),
                capacity,
                entries.length,
                sorted[sorted.length / 2],
                sorted[sorted.length - 1],
                taints,
                deviceWaits,
                told,
                dropped,
                held,
                clock.now(),
                List.copyOf(violations));
    }

    private void close() {
        for (AutoCloseable each : opened) {
            try {
                each.close();
            } catch (Exception e) {
                throw new IllegalStateException(e); // resources of the runtime throw none
            }
        }
        devices.forEach(Device::close);
        clock.runUntilIdle();
        timelines.forEach(TimelineSemaphore::close);
    }

    /** An operation of a node. */
    private static final class Work extends VirtualOperation {
        final int index;

        Work(int index) {
            super("operation " + index);
            this.index = index;
        }
    }

    /** The hardware of a node. */
    private final class Script implements VirtualScript {
        private final int node;

        Script(int node) {
            this.node = node;
        }

        @Override
        public void starts(int queue, long number, QueueOperation operation, int lane) {
            if (operation instanceof Work own) {
                start[own.index] = clock.now();
            }
        }

        @Override
        public @Nullable IreeException failure(int queue, long number, QueueOperation operation) {
            ended[node] = operation.epoch();
            return null;
        }
    }
}
