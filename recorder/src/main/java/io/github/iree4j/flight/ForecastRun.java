package io.github.iree4j.flight;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
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
import java.util.NavigableMap;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Runs a recording on a model of other hardware, on a virtual clock with nanoseconds as ticks. Confined to one thread. */
final class ForecastRun implements AutoCloseable {
    private static final int SESSION = 1;
    private static final long MEMORY = 64 << 20; // of a modelled device
    private static final long SMALLEST = 1 << 20;

    private final OperationGraph graph;
    private final ReplayOrder order;
    private final List<RecordedOperation> operations;
    private final Hardware hardware;
    private final Explanation explanation;
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
    private final long scale;
    private @Nullable RecordedOperation submitting;
    private long first = Long.MAX_VALUE;
    private long last;
    private final Set<Long> held = new HashSet<>(); // numbers of operations held back for memory
    private int over; // as recorded
    private int failed; // otherwise
    private int refused; // not submitted

    /** An action of the host to come: the submission of an operation, or the release of memory. */
    private static final class Pending {
        final RecordedOperation operation; // to submit, or the allocation of the memory
        final boolean isRelease;
        final long time; // recorded
        final long delay; // after the end followed, or from the beginning
        int missing;

        @Nullable
        Pending next; // the next submission of the same thread

        Pending(RecordedOperation operation, boolean isRelease, long time, long delay) {
            this.operation = operation;
            this.isRelease = isRelease;
            this.time = time;
            this.delay = delay;
        }
    }

    ForecastRun(OperationGraph graph, ReplayOrder order, List<RecordedOperation> operations, Hardware hardware) {
        this.graph = graph;
        this.order = order;
        this.operations = operations;
        this.hardware = hardware;
        this.explanation = new Explanation(graph);
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
        long limit = Math.max(SMALLEST, limit(known));
        this.scale = (limit + MEMORY - 1) / MEMORY;
        known.forEach((id, queues) -> open(id, queues, limit));
        this.load = new long[slotCount()];
    }

    /** Returns the memory of a device, as far as ever needed by the recorded work. */
    private long limit(Map<String, TreeMap<Integer, RecordedQueue>> known) {
        long live = 0;
        long peak = 0;
        long kept = 0;
        long peakKept = 0;
        for (FlightEvent event : graph.recording().events()) {
            FlightEvent.Reserved reserved = event instanceof FlightEvent.Reserved now
                    ? now
                    : event instanceof FlightEvent.Released then
                            ? graph.memory().reservation(then.reservation())
                            : null;
            if (reserved != null) {
                long change = event instanceof FlightEvent.Reserved ? reserved.length() : -reserved.length();
                live += reserved.persistent() ? 0 : change;
                kept += reserved.persistent() ? change : 0;
                peak = Math.max(peak, live);
                peakKept = Math.max(peakKept, kept);
            }
        }
        long limit = known.values().stream()
                .flatMap(queues -> queues.values().stream())
                .mapToLong(RecordedQueue::memoryLimit)
                .min()
                .orElse(MEMORY);
        long free =
                // the host keeps its persistent memory
                Math.max(SMALLEST, limit / 100 * hardware.memoryPercent() - peakKept);
        return Math.min(free, Math.max(SMALLEST, 8 * peak));
    }

    private void open(String id, TreeMap<Integer, RecordedQueue> queues, long limit) {
        int recorded = queues.lastKey() + 1;
        recordedQueues.put(id, recorded);
        List<VirtualDevice> copies = new ArrayList<>();
        for (int copy = 0; copy < hardware.devices(); copy++) {
            VirtualDevice.Builder builder = VirtualDevice.builder()
                    .id(id + "-" + copy)
                    .clock(clock)
                    .script(script())
                    .schedulingDomain(domain)
                    .memoryLimit(Math.max(SMALLEST, limit / scale))
                    .directGroup(domain);
            int count = hardware.queues() == 0 ? recorded : hardware.queues();
            for (int i = 0; i < count; i++) {
                RecordedQueue like =
                        queues.getOrDefault(i % recorded, queues.firstEntry().getValue());
                if (like.stream()) {
                    builder.fifoQueues(1);
                } else {
                    builder.unorderedQueue(explanation.mostAtOnce(like.axis()));
                }
            }
            copies.add(builder.build());
        }
        devices.put(id, copies);
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

    private DeviceQueue queue(RecordedOperation operation) {
        RecordedQueue recorded = graph.queue(operation.axis());
        String id = recorded == null ? "" : recorded.device();
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
        Map<Long, NavigableMap<Long, RecordedOperation>> ends = new HashMap<>(); // by thread, and by -call
        for (RecordedOperation each : operations) {
            ends.computeIfAbsent(each.submitted.thread(), unused -> new TreeMap<>())
                    .put(seenAt(each), each);
            if (each.call() > 0) {
                ends.computeIfAbsent(-each.call(), unused -> new TreeMap<>()).put(seenAt(each), each);
            }
        }
        Map<Long, Pending> previous = new HashMap<>(); // by thread
        List<Pending> ready = new ArrayList<>();
        for (RecordedOperation each : operations) {
            RecordedOperation seen = later(
                    before(ends.get(each.submitted.thread()), each),
                    each.call() > 0 ? before(ends.get(-each.call()), each) : null);
            Pending pending = after(seen, each, false, each.submittedAt());
            Pending earlier = previous.put(each.submitted.thread(), pending);
            if (earlier != null) {
                earlier.next = pending;
                pending.missing++;
            }
            if (pending.missing == 0) {
                ready.add(pending);
            }
        }
        planReleases(ends);
        ready.sort(Comparator.comparingLong(pending -> pending.delay));
        ready.forEach(pending -> clock.schedule(pending.delay, () -> act(pending)));
    }

    /** Plans the releases of memory by the host: each after the allocation, and the last end seen by its thread or call. */
    private void planReleases(Map<Long, NavigableMap<Long, RecordedOperation>> ends) {
        for (RecordedOperation each : operations) {
            FlightEvent.Reserved reserved = each.reserved();
            FlightEvent.Released released =
                    reserved == null ? null : graph.memory().released(reserved.reservation());
            if (released == null || graph.memory().releaser(released.reservation()) != null) {
                continue;
            }
            RecordedOperation seen = later(
                    upTo(ends.get(each.submitted.thread()), released.time()),
                    each.call() > 0 ? upTo(ends.get(-each.call()), released.time()) : null);
            Pending pending = after(seen, each, true, released.time());
            if (seen != each) {
                follow(each, pending);
            }
        }
    }

    /** Returns an action that follows the end of an operation, if any, as long afterwards as recorded. */
    private Pending after(@Nullable RecordedOperation seen, RecordedOperation operation, boolean isRelease, long time) {
        Pending pending = new Pending(operation, isRelease, time, time - (seen == null ? 0 : seenAt(seen)));
        if (seen != null) {
            follow(seen, pending);
        }
        return pending;
    }

    private void follow(RecordedOperation before, Pending pending) {
        pending.missing++;
        followers.computeIfAbsent(before, unused -> new ArrayList<>()).add(pending);
    }

    private static @Nullable RecordedOperation upTo(@Nullable NavigableMap<Long, RecordedOperation> ends, long time) {
        Map.Entry<Long, RecordedOperation> last = ends == null ? null : ends.floorEntry(time);
        return last == null ? null : last.getValue();
    }

    private static @Nullable RecordedOperation before(
            @Nullable NavigableMap<Long, RecordedOperation> ends, RecordedOperation operation) {
        RecordedOperation last = upTo(ends, operation.submittedAt());
        return last == null || last.number() >= operation.number() ? null : last;
    }

    private @Nullable RecordedOperation later(@Nullable RecordedOperation left, @Nullable RecordedOperation right) {
        return left == null || right != null && seenAt(right) > seenAt(left) ? right : left;
    }

    /** Returns when a thread could see the end of an operation: the record of the end may be made later. */
    private long seenAt(RecordedOperation operation) {
        return Math.min(graph.end(operation), operation.overAt());
    }

    /** Notes that a predecessor of an action has happened. */
    private void release(Pending pending, boolean end) {
        if (--pending.missing == 0) {
            long delay = end ? pending.delay : Math.max(0, followsNothing(pending) ? pending.delay - clock.now() : 0);
            clock.schedule(delay, () -> act(pending));
        }
    }

    private static boolean followsNothing(Pending pending) {
        return pending.delay == pending.time;
    }

    private void act(Pending pending) {
        FlightEvent.Reserved memory = pending.operation.reserved();
        if (!pending.isRelease) {
            submit(pending);
        } else if (memory != null && buffers.remove(memory.reservation()) instanceof Buffer released) {
            released.close();
        }
    }

    private void submit(Pending pending) {
        RecordedOperation operation = pending.operation;
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
            if (reserved != null && operation.name().equals("alloca")) {
                Buffer buffer = queue(operation)
                        .alloca(
                                wait,
                                signal,
                                BufferParams.DEFAULT,
                                Math.max(1, reserved.size() / scale),
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
            release(next, false);
        }
    }

    /** Identifies operations by their numbers, and notes their ends. */
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
        public void over(QueueOperation operation, @Nullable IreeException failure) {
            RecordedOperation recorded = byNumber.get(operation.number());
            if (recorded == null || closing) {
                return;
            }
            held.remove(operation.number());
            if (failure == null || recorded.status().equals(failure.code())) {
                over++;
                last = Math.max(last, clock.now());
            } else {
                failed++;
            }
            followers.getOrDefault(recorded, List.of()).forEach(pending -> release(pending, true));
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
