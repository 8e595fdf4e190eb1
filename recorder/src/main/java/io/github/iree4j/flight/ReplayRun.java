package io.github.iree4j.flight;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.flight.FlightEvent.Point;
import io.github.iree4j.flight.RecordedFrontier.Entry;
import io.github.iree4j.flight.ReplayOrder.Action;
import io.github.iree4j.flight.ReplayOrder.Kind;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.pool.NativeTimepoint;
import io.github.iree4j.hal.schedule.FifoBackend;
import io.github.iree4j.hal.schedule.Issue;
import io.github.iree4j.hal.schedule.QueueObservation;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.schedule.QueueScheduler;
import io.github.iree4j.hal.schedule.UnorderedBackend;
import io.github.iree4j.hal.schedule.WaitDecision;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The queues and timelines of a replay. The hardware runs on a virtual clock with nanoseconds since the opening of the
 * recorder as ticks; the host submits, and observes ends, in the recorded order. Confined to one thread.
 */
final class ReplayRun implements AutoCloseable {
    private static final int SESSION = 1;

    private final OperationGraph graph;
    private final ReplayOrder order;
    private final FrontierTracker tracker = FrontierTracker.create();
    private final SchedulingDomain domain;
    private final SchedulingDomain elsewhere; // domain of the devices' own, unused queues
    private final Map<String, VirtualDevice> devices = new LinkedHashMap<>();
    private final Map<Long, QueueScheduler> queues = new HashMap<>(); // by recorded axis
    private final Map<Long, Long> recordedAxes = new HashMap<>(); // by axis of the replay
    private final ReplayTimelines timelines;
    private final Map<RecordedOperation, StandIn> standIns = new HashMap<>();
    private final Set<List<Long>> waitable = new HashSet<>(); // recorded axes (waiter, producer) of device waits
    private final QueueObservation observation;
    private final VirtualClock clock = VirtualClock.stepped();
    private final Explanation explanation;
    private final List<PlayedQueue> played = new ArrayList<>();
    private final Set<Action> done = new HashSet<>();

    ReplayRun(OperationGraph graph, ReplayOrder order) {
        this.graph = graph;
        this.order = order;
        this.explanation = new Explanation(graph);
        this.domain = SchedulingDomain.create(
                AxisAllocator.create(SESSION, 0),
                tracker,
                graph.recording().header().frontierCapacity());
        this.elsewhere =
                SchedulingDomain.create(AxisAllocator.create(SESSION + 1, 0), tracker, Frontier.DEFAULT_CAPACITY);
        this.observation = QueueObservation.begin(domain, new ReplayObserver(order.callbacks(), this::performWithin));
        graph.recording().queues().stream()
                .sorted(Comparator.comparing(
                        RecordedQueue::axis, Long::compareUnsigned)) // frontiers are sorted by axis
                .forEach(this::open);
        order.operations().forEach(this::learn);
        timelines = new ReplayTimelines(order.operations());
    }

    private void open(RecordedQueue queue) {
        VirtualDevice device = devices.computeIfAbsent(
                queue.device(),
                id -> VirtualDevice.builder().id(id).schedulingDomain(elsewhere).build());
        QueueScheduler scheduler = QueueScheduler.create(
                domain, device, domain, queue.stream() ? new Stream(queue.axis()) : new Workers());
        queues.put(queue.axis(), scheduler);
        recordedAxes.put(scheduler.axis(), queue.axis());
    }

    /** Notes pairs of streams: the first can wait for the second. */
    private void learn(RecordedOperation operation) {
        for (FlightEvent.Decided decided : operation.decided) {
            for (FlightEvent.Decision each : decided.decisions()) {
                if (each.decision() == WaitDecision.DEVICE_WAIT && each.epoch() > 0) {
                    waitable.add(List.of(operation.axis(), each.axis()));
                }
            }
        }
        FlightEvent.Reserved reserved = operation.reserved;
        if (reserved != null) {
            reserved.marks().forEach(mark -> waitable.add(List.of(operation.axis(), mark.axis())));
        }
    }

    StandIn standIn(RecordedOperation operation) {
        StandIn known = standIns.get(operation);
        return known == null ? new StandIn(operation) : known;
    }

    /** Returns the frontier of an operation of the replay, with recorded axes. */
    RecordedFrontier frontier(RecordedOperation operation) {
        RecordedFrontier own = RecordedFrontier.of(standIn(operation).frontier());
        List<Entry> entries = new ArrayList<>();
        for (Entry each : own.entries()) {
            entries.add(new Entry(recordedAxes.getOrDefault(each.axis(), each.axis()), each.epoch()));
        }
        return new RecordedFrontier(entries, operation.axis(), own.tainted());
    }

    void run() {
        List<Action> actions = order.actions();
        for (int i = 0; i < actions.size(); i++) {
            Action action = actions.get(i);
            if (!done.add(action)) {
                continue;
            }
            advance(action);
            boolean held = HeldCallbacks.begin();
            try {
                perform(action);
                List<Action> scope = new ArrayList<>(List.of(action));
                while (i + 1 < actions.size() && scope.contains(actions.get(i + 1).with)) {
                    Action next = actions.get(++i);
                    scope.add(next);
                    done.add(next);
                    advance(next);
                    perform(next);
                }
            } finally {
                HeldCallbacks.end(held);
            }
        }
    }

    /** Performs the action of a callback in the middle of another action; not when a required earlier action has not happened. */
    private void performWithin(Action action) {
        if (done.contains(action)) {
            return;
        }
        for (Action each : action.required()) {
            if (each.kind == Kind.SIGNAL && done.add(each)) {
                perform(each);
            }
        }
        if (done.containsAll(action.required())) {
            done.add(action);
            perform(action);
        }
    }

    /** Lets the hardware run up to the time of an action; the host does not observe an end earlier. */
    private void advance(Action action) {
        clock.runUntil(action.time);
        StandIn awaited = action.kind == Kind.COMPLETE ? standIns.get(action.operation) : null;
        while (awaited != null && awaited.endedAt() == RecordedOperation.NEVER && clock.step()) {
            // the next event of the hardware
        }
    }

    private PlayedQueue play(boolean inOrder) {
        PlayedQueue queue = new PlayedQueue(clock, explanation, inOrder, () -> played.forEach(PlayedQueue::advance));
        played.add(queue);
        return queue;
    }

    private void perform(Action action) {
        RecordedOperation operation = action.operation;
        switch (action.kind) {
            case SIGNAL -> signal(action);
            case SUBMIT -> submit(operation);
            case COMPLETE -> complete(operation);
            case GRANT -> grant(operation);
            case LOST -> lose(action.lost);
            case CANCEL -> {
                StandIn standIn = standIns.get(operation);
                if (standIn != null && operation != null) {
                    scheduler(operation).cancel(standIn, failure(operation));
                }
            }
        }
    }

    private void grant(@Nullable RecordedOperation operation) {
        if (operation != null && standIns.get(operation) instanceof StandIn.Allocation allocation) {
            HeldCallbacks.run(allocation::grant);
        }
    }

    private void lose(FlightEvent.@Nullable Lost lost) {
        QueueScheduler scheduler = lost == null ? null : queues.get(lost.axis());
        if (lost != null && scheduler != null) {
            scheduler.lost(IreeException.of(lost.status(), lost.message()));
        }
    }

    /** Signals for the host, after the preceding signals. */
    private void signal(Action last) {
        ArrayDeque<Action> path = new ArrayDeque<>(List.of(last));
        ArrayDeque<Iterator<Action>> left = new ArrayDeque<>();
        left.push(order.callbacks().signalsBefore(last).iterator());
        while (!path.isEmpty()) {
            if (left.element().hasNext()) {
                Action each = left.element().next();
                if (done.add(each)) {
                    path.push(each);
                    left.push(order.callbacks().signalsBefore(each).iterator());
                }
                continue;
            }
            left.pop();
            Point point = path.pop().point;
            if (point != null) {
                timelines.signal(point);
            }
        }
    }

    private QueueScheduler scheduler(RecordedOperation operation) {
        QueueScheduler scheduler = queues.get(operation.axis());
        if (scheduler == null) {
            throw IreeException.of(
                    StatusCode.DATA_LOSS,
                    "%s of the recording is of a queue that it does not name".formatted(operation));
        }
        return scheduler;
    }

    private void submit(@Nullable RecordedOperation operation) {
        if (operation == null) {
            return;
        }
        StandIn standIn = operation.name().equals(QueueOperation.DEALLOCA)
                ? new StandIn.Deallocation(
                        operation, () -> order.grants(operation).forEach(this::grant))
                : operation.held != null || operation.reserved != null
                        ? new StandIn.Allocation(
                                operation,
                                operation.held == null,
                                !order.isGrantedLater(operation),
                                () -> marks(operation))
                        : new StandIn(operation);
        standIn.beforeSignals(() -> operation.refusals().forEach(this::refuse));
        standIns.put(operation, standIn);
        try {
            Fence signal = timelines.fence(operation.attemptedSignals());
            if (signal == null) { // something carries the operation's failure at the end of the replay
                signal = timelines.fence(List.of(ReplayOrder.unshared(operation, 0)));
            }
            List<Point> waits = order.waits(operation);
            if (ReplayOrder.isRefused(operation)) {
                waits.add(ReplayOrder.unshared(operation, waits.size() + 1));
            }
            scheduler(operation).submit(timelines.fence(waits), signal, () -> standIn);
        } catch (IreeException e) {
            // Without a signal nothing could carry the failure.
        }
    }

    /** Has a timeline refuse a signal as recorded: the timeline has reached the value, or has failed. */
    private void refuse(FlightEvent.Refusal refusal) {
        Point signal = refusal.point();
        timelines.signal(new Point(signal.timeline(), refusal.reached()));
        if (refusal.reached() < signal.value()) {
            timelines.fail(signal, IreeException.of(StatusCode.ABORTED, "failed in the recording"));
        }
    }

    private List<NativeTimepoint> marks(RecordedOperation operation) {
        List<NativeTimepoint> marks = new ArrayList<>();
        FlightEvent.Reserved reserved = operation.reserved;
        for (Entry each : reserved == null ? List.<Entry>of() : reserved.marks()) {
            RecordedOperation producer = graph.at(each.axis(), each.epoch());
            QueueScheduler queue = queues.get(each.axis());
            StandIn standIn = producer == null ? null : standIns.get(producer);
            if (standIn != null && queue != null && standIn.epoch() > 0) {
                marks.add(new NativeTimepoint(queue, queue.axis(), standIn.epoch(), standIn.frontier()));
            }
        }
        return marks;
    }

    private void complete(@Nullable RecordedOperation operation) {
        StandIn standIn = operation == null ? null : standIns.get(operation);
        if (operation == null || standIn == null) {
            return;
        }
        if (!issued.contains(standIn)) { // still held back, unlike in the recording
            due.add(standIn);
            late++;
            return;
        }
        issued.remove(standIn);
        boolean failed = operation.status() != StatusCode.OK && standIn.failure() == null;
        scheduler(operation).completed(standIn, failed ? failure(operation) : null);
    }

    private static IreeException failure(RecordedOperation operation) {
        return IreeException.of(operation.status(), operation.failure());
    }

    private final Set<QueueOperation> issued = new HashSet<>();
    private final Set<QueueOperation> due = new HashSet<>(); // operations to complete as soon as issued
    private int late;

    /** Returns the number of operations held back longer than in the recording. */
    int late() {
        return late;
    }

    private void issued(QueueOperation operation) {
        issued.add(operation);
        if (due.remove(operation) && operation instanceof StandIn standIn) {
            HeldCallbacks.run(() -> complete(standIn.recorded()));
        }
    }

    /** Hardware of a stream. */
    private final class Stream implements FifoBackend {
        private final long axis; // recorded
        private final PlayedQueue hardware = play(true);

        Stream(long axis) {
            this.axis = axis;
        }

        @Override
        public boolean issue(Issue next) {
            List<BooleanSupplier> waits = new ArrayList<>();
            for (Issue.Wait each : next.waits()) {
                if (each.producer() instanceof Stream other) {
                    waits.add(() -> other.hardware.hasEnded(each.epoch()));
                }
            }
            hardware.add((StandIn) next.operation(), waits);
            issued(next.operation());
            return true;
        }

        @Override
        public boolean canWaitFor(FifoBackend producer, long epoch) {
            return producer instanceof Stream other && waitable.contains(List.of(axis, other.axis));
        }

        @Override
        public boolean canWaitForExternal(Object primitive) {
            return false;
        }
    }

    /** Hardware of an unordered queue. */
    private final class Workers implements UnorderedBackend {
        private final PlayedQueue hardware = play(false);

        @Override
        public void issue(QueueOperation operation) {
            hardware.add((StandIn) operation, List.of());
            issued(operation);
        }
    }

    @Override
    public void close() {
        observation.close();
        for (StandIn each : List.copyOf(standIns.values())) {
            if (issued.remove(each)) {
                IreeException cause = IreeException.of(StatusCode.ABORTED, "the replay is over");
                scheduler(each.recorded()).completed(each, cause);
            }
        }
        queues.values().forEach(QueueScheduler::close);
        timelines.close();
        devices.values().forEach(Device::close);
        tracker.close();
    }
}
