package io.github.iree4j.flight;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.flight.Arrivals.Arrival;
import io.github.iree4j.flight.Arrivals.Cause;
import io.github.iree4j.flight.FlightEvent.Point;
import io.github.iree4j.flight.Forecast.Hardware;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.pool.Reservation;
import io.github.iree4j.hal.schedule.QueueObservation;
import io.github.iree4j.hal.schedule.QueueObserver;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.schedule.QueueScheduler;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.hal.virtual.VirtualScript;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Runs a recording on a model of other hardware, on a virtual clock with nanoseconds as ticks. Confined to one thread. */
final class ForecastRun implements AutoCloseable {
    private static final int SESSION = 1;

    private final OperationGraph graph;
    private final ReplayOrder order;
    private final List<RecordedOperation> operations;
    private final Cause cause;
    private final EarliestTimes<Pending> earliest = new EarliestTimes<>();
    private Runnable next = () -> {}; // cancels the next arrival
    private final Hardware hardware;
    private final boolean isUnlimited; // whether queues without order run any number at once where no limit is known
    private final Explanation explanation;
    private final Map<Long, RunAtOnce> runAtOnce; // by axis of a queue without order
    private final VirtualClock clock = VirtualClock.stepped();
    private final FrontierTracker tracker = FrontierTracker.create();
    private final SchedulingDomain domain;
    private final QueueObservation observation;
    private final ReplayTimelines timelines;
    private final Map<String, List<VirtualDevice>> devices = new LinkedHashMap<>(); // by recorded id
    private final Map<String, Integer> recordedQueues = new HashMap<>(); // number by device
    private final Map<Long, Integer> slots = new HashMap<>(); // of calls
    private final long[] load; // nanoseconds of work given to each slot
    private final Map<Long, RecordedOperation> byNumber = new HashMap<>();
    private final Map<Long, Buffer> buffers = new HashMap<>(); // by recorded reservation
    private final List<Buffer> all = new ArrayList<>();
    private final Map<RecordedOperation, List<Pending>> followers = new HashMap<>();
    private final ModelMemory memory;
    private @Nullable RecordedOperation submitting;
    private long first = Long.MAX_VALUE;
    private long last;
    private final Set<Long> held = new HashSet<>(); // numbers of operations held back for memory
    private int over; // as recorded
    private int failed; // otherwise
    private int refused; // not submitted

    /** An action of the host to come. */
    private static final class Pending {
        final Arrival arrival;
        long earliest;
        int missing; // predecessors

        @Nullable
        Pending next; // the next submission of the same thread

        Pending(Arrival arrival) {
            this.arrival = arrival;
            this.earliest = arrival.follows() == null ? arrival.delay() : 0;
        }
    }

    /**
     * Makes a model.
     *
     * @param operations the operations, in the order of their submission
     * @param cause the cause of the host's submissions
     * @param isUnlimited whether queues without order run any number of operations at once where the recording shows no
     *     limit; otherwise as many as in the recording
     */
    ForecastRun(
            OperationGraph graph,
            ReplayOrder order,
            List<RecordedOperation> operations,
            Cause cause,
            Hardware hardware,
            boolean isUnlimited) {
        this.graph = graph;
        this.order = order;
        this.operations = operations;
        this.cause = cause;
        this.hardware = hardware;
        this.isUnlimited = isUnlimited;
        this.explanation = new Explanation(graph);
        this.runAtOnce = RunAtOnce.of(graph, explanation);
        this.domain = SchedulingDomain.create(
                AxisAllocator.create(SESSION, 0),
                tracker,
                graph.recording().header().frontierCapacity());
        this.observation = QueueObservation.begin(domain, new Follower());
        this.timelines = new ReplayTimelines(operations);
        Map<String, TreeMap<Integer, RecordedQueue>> known = new TreeMap<>();
        graph.recording()
                .queues()
                .forEach(queue -> known.computeIfAbsent(queue.device(), unused -> new TreeMap<>())
                        .put(Math.min(queue.index(), 63), queue));
        this.memory = new ModelMemory(graph, hardware.memoryPercent());
        known.forEach(this::open);
        this.load = new long[slotCount()];
    }

    private void open(String id, TreeMap<Integer, RecordedQueue> queues) {
        int recorded = queues.lastKey() + 1;
        recordedQueues.put(id, recorded);
        List<VirtualDevice> copies = new ArrayList<>();
        for (int copy = 0; copy < hardware.devices(); copy++) {
            VirtualDevice.Builder builder = VirtualDevice.builder()
                    .id(id + "-" + copy)
                    .clock(clock)
                    .script(script())
                    .schedulingDomain(domain)
                    .memoryLimit(memory.limit(id))
                    .directGroup(domain);
            int count = hardware.queues() == 0 ? recorded : hardware.queues();
            for (int i = 0; i < count; i++) {
                RecordedQueue like =
                        queues.getOrDefault(i % recorded, queues.firstEntry().getValue());
                if (like.stream()) {
                    builder.fifoQueues(1);
                } else {
                    builder.unorderedQueue(width(like.axis()));
                }
            }
            copies.add(builder.build());
        }
        devices.put(id, copies);
    }

    private int width(long axis) {
        RunAtOnce seen = runAtOnce.getOrDefault(axis, RunAtOnce.ONE);
        return isUnlimited && !seen.isLimit() ? operations.size() : seen.most();
    }

    private long running(RecordedOperation operation) {
        return explanation.times(operation).running();
    }

    private VirtualScript script() {
        return new VirtualScript() {
            @Override
            public long duration(int queue, long number, QueueOperation operation) {
                RecordedOperation recorded = byNumber.get(operation.number());
                return recorded == null ? 0 : running(recorded);
            }
        };
    }

    // ---- Placement.

    /** Returns how many times the recorded hardware is present. */
    private int slotCount() {
        int perDevice = recordedQueues.values().stream()
                .mapToInt(recorded -> hardware.queues() == 0 ? 1 : Math.max(1, hardware.queues() / recorded))
                .min()
                .orElse(1);
        return perDevice * hardware.devices();
    }

    private String device(RecordedOperation operation) {
        RecordedQueue recorded = graph.queue(operation.axis());
        return recorded == null ? "" : recorded.device();
    }

    private DeviceQueue queue(RecordedOperation operation) {
        RecordedQueue recorded = graph.queue(operation.axis());
        String id = device(operation);
        List<VirtualDevice> copies = devices.getOrDefault(id, List.of());
        int slot = slots.computeIfAbsent(operation.call(), call -> {
            int least = 0;
            for (int i = 1; call != 0 && i < load.length; i++) {
                least = load[i] < load[least] ? i : least;
            }
            return least;
        });
        load[slot] += running(operation);
        VirtualDevice device = copies.get(slot % copies.size());
        int index = recorded == null ? 0 : recorded.index() + slot / copies.size() * recordedQueues.getOrDefault(id, 1);
        return device.queue(index % device.queueCount());
    }

    // ---- Submission.

    /**
     * Runs everything.
     *
     * @return ticks from the first submission to the last end
     */
    long run() {
        plan();
        for (ReplayOrder.Action action : order.actions()) {
            Point point = action.point;
            if (action.kind == ReplayOrder.Kind.SIGNAL && point != null) {
                clock.schedule(action.time, () -> timelines.signal(point));
            }
        }
        clock.runUntilIdle();
        return over == 0 ? 0 : last - first;
    }

    int notEnded() {
        return operations.size() - over;
    }

    /** Returns why operations have not ended, for people, with the number of operations for each reason. */
    String reasons() {
        int submitted = byNumber.size();
        int[] counts = {
            held.size(),
            submitted - over - failed - held.size(),
            failed + refused,
            operations.size() - submitted - refused
        };
        String[] texts = {
            "wait for memory that is not released",
            "wait for operations that do not run, or for signals that the recording lacks",
            "fail, or cannot be submitted, in the model",
            "are submitted after such operations"
        };
        StringJoiner all = new StringJoiner(", ");
        for (int i = 0; i < counts.length; i++) {
            if (counts[i] > 0) {
                all.add(counts[i] + " " + texts[i]);
            }
        }
        return all.toString();
    }

    private void plan() {
        Map<Long, Pending> previous = new HashMap<>(); // by thread, or by -call where calls change threads
        List<Pending> ready = new ArrayList<>();
        for (Arrival each : Arrivals.of(graph, operations, cause)) {
            Pending pending = new Pending(each);
            if (each.follows() != null) {
                follow(each.follows(), pending);
            }
            if (each.isRelease()) {
                if (each.follows() != each.operation()) {
                    follow(each.operation(), pending);
                }
                continue;
            }
            if (cause == Cause.ANY_END && each.follows() == null) {
                pending.missing++;
                pending.earliest = 0;
                earliest.add(each.delay(), pending);
            }
            Pending earlier = previous.put(line(each.operation()), pending);
            if (earlier != null) {
                earlier.next = pending;
                pending.missing++;
            }
            if (pending.missing == 0) {
                ready.add(pending);
            }
        }
        ready.sort(Comparator.comparingLong(pending -> pending.earliest));
        ready.forEach(pending -> clock.schedule(pending.earliest, () -> act(pending)));
        arriveEarly();
    }

    /** Returns the thread or call submitting operations in turn: the number of a thread, or -number of a call. */
    private long line(RecordedOperation operation) {
        return cause != Cause.LAST_END && operation.call() > 0 ? -operation.call() : operation.submitted.thread();
    }

    /** Releases the actions due now, and plans the next release. */
    private void arriveEarly() {
        while (earliest.poll(clock.now()) instanceof Pending pending) {
            release(pending, null);
        }
        next.run();
        long time = earliest.next();
        next = time == EarliestTimes.NEVER ? () -> {} : clock.schedule(time - clock.now(), this::arriveEarly);
    }

    private void follow(RecordedOperation before, Pending pending) {
        pending.missing++;
        followers.computeIfAbsent(before, unused -> new ArrayList<>()).add(pending);
    }

    /** Notes a predecessor of an action: the end of an operation, or the submission before. */
    private void release(Pending pending, @Nullable RecordedOperation end) {
        if (end != null && end == pending.arrival.follows()) {
            pending.earliest = clock.now() + pending.arrival.delay();
        }
        if (--pending.missing == 0) {
            clock.schedule(Math.max(0, pending.earliest - clock.now()), () -> act(pending));
        }
    }

    private void act(Pending pending) {
        FlightEvent.Reserved memory = pending.arrival.operation().reserved();
        if (!pending.arrival.isRelease()) {
            submit(pending);
        } else if (memory != null && buffers.remove(memory.reservation()) instanceof Buffer released) {
            released.close();
        }
    }

    private void submit(Pending pending) {
        RecordedOperation operation = pending.arrival.operation();
        first = Math.min(first, clock.now());
        Fence wait = timelines.fence(order.waits(operation));
        Fence signal = timelines.fence(operation.signals());
        if (signal == null) { // something carries the operation's failure at the end of the run
            signal = timelines.fence(List.of(ReplayOrder.unshared(operation, 0)));
        }
        submitting = operation;
        try {
            FlightEvent.Reserved reserved = operation.reserved();
            Buffer released = operation.issued == null ? null : buffers.remove(operation.issued.reservation());
            if (reserved != null && operation.name().equals(QueueOperation.ALLOCA)) {
                Buffer buffer = queue(operation)
                        .alloca(
                                wait,
                                signal,
                                BufferParams.DEFAULT,
                                memory.size(device(operation), reserved.size()),
                                DeviceQueue.ALLOCA_ALLOW_POOL_WAIT_FRONTIER);
                buffers.put(reserved.reservation(), buffer);
                all.add(buffer);
            } else if (released != null && released.allocatedBuffer().origin() instanceof DeviceQueue origin) {
                origin.dealloca(wait, signal, released, 0);
            } else {
                queue(operation).barrier(wait, signal, 0);
            }
        } catch (IreeException e) {
            refused += submitting == null ? 0 : 1; // else the end of the operation is reported
        } finally {
            submitting = null;
        }
        Pending next = pending.next;
        if (next != null) {
            release(next, null);
        }
    }

    /** Identifies operations by number, and notes the ends. */
    private final class Follower implements QueueObserver {
        private long numbers;

        @Override
        public long submitted(
                QueueScheduler queue, QueueOperation operation, @Nullable Fence wait, @Nullable Fence signal) {
            RecordedOperation recorded = submitting;
            numbers++;
            if (recorded != null) {
                byNumber.put(numbers, recorded);
                submitting = null;
            }
            return numbers;
        }

        @Override
        public void heldForMemory(QueueOperation operation, long bytes) {
            held.add(operation.number());
        }

        @Override
        public void issued(QueueOperation operation, @Nullable Reservation memory) {
            held.remove(operation.number());
        }

        @Override
        public void over(QueueOperation operation, @Nullable IreeException failure, List<Fence.Entry> refused) {
            RecordedOperation recorded = byNumber.get(operation.number());
            if (recorded == null || closing) {
                return;
            }
            held.remove(operation.number());
            if (cause == Cause.ANY_END) { // the earliest in this respect, too: calls go where the least work is left
                load[slots.getOrDefault(recorded.call(), 0)] -= running(recorded);
            }
            if (failure == null || recorded.status().equals(failure.code())) {
                over++;
                last = Math.max(last, clock.now());
            } else {
                failed++;
            }
            earliest.ended(Arrivals.seenAt(graph, recorded), clock.now());
            arriveEarly();
            followers.getOrDefault(recorded, List.of()).forEach(pending -> release(pending, recorded));
        }
    }

    private boolean closing;

    @Override
    public void close() {
        closing = true;
        observation.close();
        all.forEach(Buffer::close);
        for (List<VirtualDevice> copies : devices.values()) {
            for (Device each : copies) {
                each.close();
            }
        }
        timelines.close();
        tracker.close();
    }
}
