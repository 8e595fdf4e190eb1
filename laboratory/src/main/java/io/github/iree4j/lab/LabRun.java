package io.github.iree4j.lab;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.SemaphoreOptions;
import io.github.iree4j.async.SignalRecord;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.StreamCounters;
import io.github.iree4j.hal.schedule.QueueObservation;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.schedule.QueueScheduler;
import io.github.iree4j.hal.schedule.ScheduledQueue;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.hal.virtual.VirtualLanes;
import io.github.iree4j.hal.virtual.VirtualOperation;
import io.github.iree4j.hal.virtual.VirtualScript;
import io.github.iree4j.lab.Scenario.Hardware;
import io.github.iree4j.lab.Scenario.Operation;
import io.github.iree4j.lab.Scenario.Placement;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A run of a scenario: submits the scenario's operations to queues of virtual devices and notes the outcomes. Confined
 * to a single thread.
 *
 * <p>Every operation submitted at tick 0 is decided before anything has completed. The frontier therefore holds the
 * operation's whole past, and a timeline answers from promises without dropping any: the number of remembered signals
 * does not matter. With binary events, some operations are submitted later, and do not mention completed work.
 */
final class LabRun {
    /** An operation under way. */
    final class Work extends VirtualOperation {
        final int index;
        final Operation operation;
        long issued = -1;
        long start = -1;
        long end = -1;
        int lane = -1;
        boolean isSubmitted;
        boolean exhausted; // finds no memory
        boolean faulted; // the cause of a failure, not a consequence

        @Nullable
        IreeException cause;

        final List<WaitNotes.Noted> noted = new ArrayList<>(); // about waits of the operation and of allocations
        final List<Work> followers = new ArrayList<>(0); // submitted once this operation is placed
        long signalled; // place in the order of signals, from 1; 0 if refused
        int epoch; // on the queue, from 1; 0 if never issued

        private Work(int index, Operation operation) {
            super(operation.id());
            this.index = index;
            this.operation = operation;
        }

        @Override
        protected void placed() {
            issued = clock.now();
            epoch = (int) epoch();
            queues.get(plan.queueOf[index]).issued.put(epoch, this);
            submitFollowers();
        }

        @Override
        protected void failed(IreeException failure) {
            cause = failure;
            faulted |= rejections.stream().anyMatch(each -> each.reaches(this));
            end = end < 0 ? clock.now() : end;
            submitFollowers();
        }

        /** Whether the operation has a place on its queue, or never gets one. */
        boolean isPlaced() {
            return issued >= 0 || cause != null;
        }

        private void submitFollowers() {
            List<Work> all = List.copyOf(followers);
            followers.clear();
            all.forEach(each -> clock.schedule(0, () -> submit(each)));
        }
    }

    /** A queue of a device. */
    static final class Queue {
        final String id;
        final int hardware;
        final VirtualDevice device;
        final int index;
        final TreeMap<Integer, Work> issued = new TreeMap<>(); // by epoch

        Queue(String id, int hardware, VirtualDevice device, int index) {
            this.id = id;
            this.hardware = hardware;
            this.device = device;
            this.index = index;
        }

        DeviceQueue queue() {
            return device.queue(index);
        }

        StreamCounters counters() {
            return queue().streamCounters();
        }

        long axis() {
            return queue().axis();
        }
    }

    final Scenario scenario;
    final ScenarioGraph graph;
    final QueuePlan plan;
    final List<Queue> queues = new ArrayList<>();
    final List<Work> works = new ArrayList<>();
    final Map<String, TimelineSemaphore> semaphores = new LinkedHashMap<>();
    final FaultPlan faults;
    final List<Rejection> rejections = new ArrayList<>();
    private final LabOptions options;
    private final Map<Long, Map<Long, Moment>> endsOfMemory = new HashMap<>(); // by axis and epoch
    private long moments;
    private final VirtualClock clock = VirtualClock.stepped();
    private final Map<TimelineSemaphore, String> names = new IdentityHashMap<>();
    final WaitNotes notes = new WaitNotes(names);
    private final List<Fence> fences = new ArrayList<>();
    private final FrontierTracker tracker = FrontierTracker.create();
    private final LabBlocks blocks = new LabBlocks(tracker);
    final LabMemory memory = new LabMemory(this, blocks);

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
        try (tracker) {
            SchedulingDomain domain =
                    SchedulingDomain.create(AxisAllocator.create(1, 0), tracker, Frontier.MAXIMUM_CAPACITY);
            domain.memory().begin(blocks);
            try (var _ = QueueObservation.begin(domain, notes)) {
                openQueues(domain);
                for (Scenario.Semaphore each : scenario.semaphores()) {
                    TimelineSemaphore semaphore = TimelineSemaphore.create(SemaphoreOptions.DEFAULTS);
                    semaphores.put(each.id(), semaphore);
                    names.put(semaphore, each.id());
                }
                for (int i = 0; i < scenario.operations().size(); i++) {
                    works.add(new Work(i, scenario.operations().get(i)));
                }
                faults.schedule(clock, this);
                faults.rejections().forEach(each -> rejections.add(Rejection.open(this, each)));
                for (Work each : works) {
                    if (each.operation.submitted() == 0) {
                        submit(each);
                    } else {
                        clock.schedule(each.operation.submitted(), () -> submit(each));
                    }
                }
                do {
                    clock.runUntilIdle();
                } while (memory.giveUp());
                checkOrderOfSignals();
                return new ResultReader(this).read();
            } finally {
                close();
            }
        }
    }

    /**
     * Throws INVALID_ARGUMENT when a timeline has passed a value before the signal: the signal, if any, has failed the
     * timeline. With placement LANES, scenarios are checked before.
     */
    private void checkOrderOfSignals() {
        semaphores.forEach((id, semaphore) -> graph.checkSignalsAreOrdered(
                id,
                semaphore.value(),
                (one, next) -> works.get(one).cause == null
                        && (semaphore.failure() == null || works.get(one).signalled < works.get(next).signalled)));
    }

    private void openQueues(SchedulingDomain domain) {
        List<Hardware> hardware = scenario.hardware();
        Object directGroup = new Object();
        for (int i = 0; i < hardware.size(); i++) {
            List<QueuePlan.Planned> planned = plan.queuesOf(i);
            VirtualLanes lanes = VirtualLanes.create(clock, hardware.get(i).lanes());
            for (int from = 0; from < planned.size(); from += QueuePlan.QUEUES_OF_A_DEVICE) {
                int count = Math.min(QueuePlan.QUEUES_OF_A_DEVICE, planned.size() - from);
                VirtualDevice.Builder builder = VirtualDevice.builder()
                        .id(hardware.get(i).id())
                        .clock(clock)
                        .script(new Script())
                        .waitRules(options.knowledge().rules)
                        .schedulingDomain(domain)
                        .memoryLimit(hardware.get(i).memory() * LabMemory.UNIT)
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

    /** Sorts the queues as planned: the plan numbers queues in the order of need, not by hardware. */
    private void sortQueuesAsPlanned() {
        Map<String, Queue> byId = new LinkedHashMap<>();
        queues.forEach(each -> byId.put(each.hardware + "/" + each.id, each));
        queues.clear();
        plan.queues.forEach(each -> queues.add(byId.get(each.hardware + "/" + each.id)));
    }

    private void submit(Work work) {
        Work earlier = unplacedBefore(work);
        if (earlier != null) {
            earlier.followers.add(work);
            return;
        }
        work.isSubmitted = true;
        notes.submitting = work;
        Queue queue = queues.get(plan.queueOf[work.index]);
        List<Fence.Entry> waits = points(work.operation.waits());
        waits.addAll(memory.allocate(work, queue.queue(), fence(waits)));
        List<Fence.Entry> signals = points(work.operation.signals());
        Fence.Entry end = memory.end(work.operation);
        if (end != null) {
            signals.add(end);
        }
        Fence signal = fence(signals);
        if (signal == null) { // carries the operation's failure, otherwise logged
            signal = Fence.adopt(TimelineSemaphore.create(0), 1);
            fences.add(signal);
        }
        IreeException refused = queue.device.submit(queue.index, fence(waits), signal, work);
        notes.submitting = null;
        if (refused != null) {
            work.failed(refused);
        }
        if (end != null) {
            memory.free(work.operation, queue.queue(), end);
        }
    }

    /**
     * Returns an operation to be placed on the queue before another: with binary events the order of a queue is the
     * order of submission, and only the order of submission makes a wait within a queue unnecessary. Null for none, and
     * in the other ways, where the scheduler has the value to wait for.
     */
    private @Nullable Work unplacedBefore(Work work) {
        if (options.knowledge() == WaitKnowledge.EVENTS) {
            for (int each : graph.producers(work.index)) {
                if (plan.queueOf[each] == plan.queueOf[work.index]
                        && !works.get(each).isPlaced()) {
                    return works.get(each);
                }
            }
        }
        return null;
    }

    private List<Fence.Entry> points(Map<String, Long> values) {
        List<Fence.Entry> points = new ArrayList<>();
        values.forEach((id, value) -> points.add(new Fence.Entry(semaphore(id), value)));
        return points;
    }

    private TimelineSemaphore semaphore(String id) {
        return Objects.requireNonNull(semaphores.get(id), id);
    }

    private @Nullable Fence fence(List<Fence.Entry> points) {
        if (points.isEmpty()) {
            return null;
        }
        Fence fence = Fence.of(points);
        fences.add(fence);
        return fence;
    }

    /** Returns whether a timeline has reached a value, perhaps before a failure. */
    boolean isReached(String semaphore, long value) {
        return semaphore(semaphore).value() >= value;
    }

    QueueScheduler schedulerOf(Work work) {
        return ((ScheduledQueue<?>) queues.get(plan.queueOf[work.index]).queue()).scheduler();
    }

    private void close() {
        rejections.forEach(Rejection::close);
        queues.stream().<Device>map(each -> each.device).distinct().forEach(Device::close);
        clock.runUntilIdle();
        memory.close();
        fences.forEach(Fence::close);
        semaphores.values().forEach(TimelineSemaphore::close);
    }

    /** Loses classes of hardware, all at once. */
    void lose(BitSet hardware, IreeException cause) {
        for (Work each : works) { // unfinished operations fail because of the loss
            Queue queue = queues.get(plan.queueOf[each.index]);
            if (hardware.get(queue.hardware) && each.end < 0) {
                each.faulted = true;
                each.end = each.start < 0 ? each.end : clock.now();
            }
        }
        queues.stream()
                .filter(each -> hardware.get(each.hardware))
                .map(each -> each.device)
                .distinct()
                .forEach(each -> each.lose(cause));
    }

    /** A tick, and the position among all moments. */
    record Moment(long tick, long order) {}

    Moment now() {
        return new Moment(clock.now(), moments++);
    }

    /**
     * Returns the end, successful or not, of the allocation or release due to signal a timeline; now if never executed
     * by the hardware.
     */
    Moment endOf(TimelineSemaphore semaphore) {
        Frontier signal = semaphore.frontierAt(1);
        Moment end = signal == null || !signal.hasProducer()
                ? null
                : endsOfMemory.getOrDefault(signal.producerAxis(), Map.of()).get(signal.producerEpoch());
        return end == null ? now() : end;
    }

    /** Returns the frontier of a timeline's latest signal. */
    Frontier frontierOf(TimelineSemaphore semaphore) {
        SignalRecord found = new SignalRecord();
        return semaphore.lookup(semaphore.value(), found) ? found.frontier() : Frontier.EMPTY;
    }

    /** The hardware. */
    private final class Script implements VirtualScript {
        @Override
        public long rank(int queue, long number, QueueOperation operation) {
            return operation instanceof Work work ? work.index : 0;
        }

        @Override
        public void starts(int queue, long number, QueueOperation operation, int lane) {
            if (operation instanceof Work work) {
                work.start = clock.now();
                work.lane = scenario.placement() == Placement.LANES ? lane : queue;
                faults.starts(work, clock.now());
            }
        }

        @Override
        public long duration(int queue, long number, QueueOperation operation) {
            return operation instanceof Work work ? work.operation.duration() * faults.factor(work, clock.now()) : 0;
        }

        @Override
        public long completionDelay(int queue, long number, QueueOperation operation) {
            return operation instanceof Work ? options.hostDelay() : 0;
        }

        @Override
        public @Nullable IreeException failure(int queue, long number, QueueOperation operation) {
            if (!(operation instanceof Work work)) {
                endsOfMemory
                        .computeIfAbsent(operation.frontier().producerAxis(), _ -> new HashMap<>())
                        .put(operation.epoch(), now());
                return null;
            }
            work.end = clock.now();
            IreeException failure = faults.failure(work, clock.now());
            work.faulted |= failure != null;
            rejections.stream()
                    .filter(each -> each.verification == work)
                    .forEach(each -> clock.schedule(options.hostDelay(), () -> clock.schedule(0, each::make)));
            return failure;
        }
    }
}
