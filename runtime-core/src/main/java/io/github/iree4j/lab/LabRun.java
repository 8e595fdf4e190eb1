package io.github.iree4j.lab;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.SemaphoreOptions;
import io.github.iree4j.async.SignalRecord;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.QueueCounters;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.StreamCounters;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.hal.virtual.VirtualLanes;
import io.github.iree4j.hal.virtual.VirtualOperation;
import io.github.iree4j.hal.virtual.VirtualScript;
import io.github.iree4j.lab.LabResult.Decisions;
import io.github.iree4j.lab.Scenario.Hardware;
import io.github.iree4j.lab.Scenario.Operation;
import io.github.iree4j.lab.Scenario.Placement;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One run of a scenario: submits its operations to queues of virtual devices and notes what becomes of them. Confined to one thread.
 *
 * <p>Every operation that is submitted at tick 0 is decided before anything has completed, so its frontier holds all of its past, and a
 * timeline answers from its promises, of which it drops none: the number of signals that it remembers does not matter.
 */
final class LabRun {
    /** The most queues of one device. */
    private static final int QUEUES_OF_A_DEVICE = 64;

    /** An operation under way. */
    final class Work extends VirtualOperation {
        final int index;
        final Operation operation;
        long issued = -1;
        long start = -1;
        long end = -1;
        int lane = -1;
        boolean exhausted; // finds no memory
        boolean faulted; // the cause of a failure, not a consequence

        @Nullable
        IreeException cause;

        Decisions decisions = new Decisions(0, 0, 0, 0, 0, 0);
        int epoch; // on its queue, from 1; 0 if it was never issued

        private Work(int index, Operation operation) {
            super(operation.id());
            this.index = index;
            this.operation = operation;
        }

        @Override
        protected void placed() {
            issued = clock.now();
            Queue queue = queues.get(plan.queueOf[index]);
            queue.issued.add(this);
            epoch = queue.issued.size();
        }

        @Override
        protected void failed(IreeException failure) {
            cause = failure;
            end = end < 0 ? clock.now() : end;
        }
    }

    /** A queue of a device. */
    static final class Queue {
        final String id;
        final int hardware;
        final VirtualDevice device;
        final int index;
        final List<Work> issued = new ArrayList<>(); // by epoch

        Queue(String id, int hardware, VirtualDevice device, int index) {
            this.id = id;
            this.hardware = hardware;
            this.device = device;
            this.index = index;
        }

        StreamCounters counters() {
            return device.queue(index).streamCounters();
        }

        long axis() {
            return device.queue(index).axis();
        }
    }

    final Scenario scenario;
    final ScenarioGraph graph;
    final QueuePlan plan;
    final List<Queue> queues = new ArrayList<>();
    final List<Work> works = new ArrayList<>();
    final Map<String, TimelineSemaphore> semaphores = new LinkedHashMap<>();
    final FaultPlan faults;
    private final LabOptions options;
    private final VirtualClock clock = VirtualClock.stepped();
    private final List<Fence> fences = new ArrayList<>();

    private LabRun(Scenario scenario, LabOptions options) {
        this.scenario = scenario;
        this.options = options;
        this.graph = ScenarioGraph.of(scenario.operations());
        this.plan = new QueuePlan(scenario, graph);
        this.faults = new FaultPlan(scenario, options.faults());
    }

    static LabResult run(Scenario scenario, LabOptions options) {
        return new LabRun(scenario, options).run();
    }

    private LabResult run() {
        try (FrontierTracker tracker = FrontierTracker.create()) {
            SchedulingDomain domain =
                    SchedulingDomain.create(AxisAllocator.create(1, 0), tracker, Frontier.MAXIMUM_CAPACITY);
            try {
                openQueues(domain);
                scenario.semaphores()
                        .forEach(each -> semaphores.put(each, TimelineSemaphore.create(SemaphoreOptions.DEFAULT)));
                for (int i = 0; i < scenario.operations().size(); i++) {
                    works.add(new Work(i, scenario.operations().get(i)));
                }
                faults.schedule(clock, this);
                for (Work each : works) {
                    if (each.operation.submitted() == 0) {
                        submit(each);
                    } else {
                        clock.schedule(each.operation.submitted(), () -> submit(each));
                    }
                }
                clock.runUntilIdle();
                return new ResultReader(this).read();
            } finally {
                close();
            }
        }
    }

    private void openQueues(SchedulingDomain domain) {
        List<Hardware> hardware = scenario.hardware();
        Object directGroup = new Object();
        for (int i = 0; i < hardware.size(); i++) {
            int its = i;
            List<QueuePlan.Planned> planned =
                    plan.queues.stream().filter(each -> each.hardware == its).toList();
            VirtualLanes lanes = VirtualLanes.create(clock, hardware.get(i).lanes());
            for (int from = 0; from < planned.size(); from += QUEUES_OF_A_DEVICE) {
                int count = Math.min(QUEUES_OF_A_DEVICE, planned.size() - from);
                VirtualDevice.Builder builder = VirtualDevice.builder()
                        .id(hardware.get(i).id())
                        .clock(clock)
                        .script(new Script())
                        .knowledge(options.knowledge())
                        .schedulingDomain(domain)
                        .directGroup(directGroup);
                VirtualDevice device = (scenario.placement() == Placement.LANES
                                ? builder.fifoQueues(count, lanes)
                                : builder.fifoQueues(count))
                        .build();
                for (int j = 0; j < count; j++) {
                    queues.add(new Queue(planned.get(from + j).id, i, device, j));
                }
            }
        }
        sortQueuesAsPlanned();
    }

    /** The plan numbers queues in the order in which they were needed, not by hardware. */
    private void sortQueuesAsPlanned() {
        Map<String, Queue> byId = new LinkedHashMap<>();
        queues.forEach(each -> byId.put(each.hardware + "/" + each.id, each));
        queues.clear();
        plan.queues.forEach(each -> queues.add(byId.get(each.hardware + "/" + each.id)));
    }

    private void submit(Work work) {
        Queue queue = queues.get(plan.queueOf[work.index]);
        Fence wait = fence(work.operation.waits());
        Fence signal = fence(work.operation.signals());
        if (signal == null) { // carries its failure, which would be logged otherwise
            signal = Fence.adopt(TimelineSemaphore.create(0), 1);
            fences.add(signal);
        }
        QueueCounters before = queue.device.queue(queue.index).counters();
        IreeException refused = queue.device.submit(queue.index, wait, signal, work);
        if (refused != null) {
            work.failed(refused);
        }
        QueueCounters after = queue.device.queue(queue.index).counters();
        work.decisions = new Decisions(
                after.reached() - before.reached(),
                after.elidedFifo() - before.elidedFifo(),
                after.elidedFrontier() - before.elidedFrontier(),
                after.covered() - before.covered(),
                after.deviceWaits() - before.deviceWaits(),
                after.deferred() - before.deferred());
    }

    private @Nullable Fence fence(Map<String, Long> values) {
        if (values.isEmpty()) {
            return null;
        }
        Fence fence = Fence.of(values.entrySet().stream()
                .map(each -> new Fence.Entry(semaphores.get(each.getKey()), each.getValue()))
                .toList());
        fences.add(fence);
        return fence;
    }

    private void close() {
        queues.stream().<Device>map(each -> each.device).distinct().forEach(Device::close);
        clock.runUntilIdle();
        fences.forEach(Fence::close);
        semaphores.values().forEach(TimelineSemaphore::close);
    }

    /** Loses a class of hardware. */
    void lose(int hardware, IreeException cause) {
        for (Work each : works) { // what has not ended on it fails because of that
            Queue queue = queues.get(plan.queueOf[each.index]);
            if (queue.hardware == hardware && each.end < 0) {
                each.faulted = true;
                each.end = each.start < 0 ? each.end : clock.now();
            }
        }
        queues.stream()
                .filter(each -> each.hardware == hardware)
                .map(each -> each.device)
                .distinct()
                .forEach(each -> each.lose(cause));
    }

    long now() {
        return clock.now();
    }

    /** The latest signal of a timeline. */
    Frontier frontierOf(TimelineSemaphore semaphore) {
        SignalRecord found = new SignalRecord();
        return semaphore.lookup(semaphore.value(), found) ? found.frontier() : Frontier.EMPTY;
    }

    /** The hardware. */
    private final class Script implements VirtualScript {
        @Override
        public long rank(int queue, long number, QueueOperation operation) {
            return ((Work) operation).index;
        }

        @Override
        public void starts(int queue, long number, QueueOperation operation, int lane) {
            Work work = (Work) operation;
            work.start = clock.now();
            work.lane = scenario.placement() == Placement.LANES ? lane : queue;
            faults.starts(work, clock.now());
        }

        @Override
        public long duration(int queue, long number, QueueOperation operation) {
            Work work = (Work) operation;
            return work.operation.duration() * faults.factor(work, clock.now());
        }

        @Override
        public long completionDelay(int queue, long number, QueueOperation operation) {
            return options.hostDelay();
        }

        @Override
        public @Nullable IreeException failure(int queue, long number, QueueOperation operation) {
            Work work = (Work) operation;
            work.end = clock.now();
            IreeException failure = faults.failure(work, clock.now());
            work.faulted |= failure != null;
            return failure;
        }
    }

    static IreeException lost(Hardware hardware, long tick) {
        return new IreeException(
                StatusCode.UNAVAILABLE, "hardware '%s' was lost at tick %d".formatted(hardware.id(), tick));
    }
}
