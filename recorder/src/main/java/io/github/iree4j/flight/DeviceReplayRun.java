package io.github.iree4j.flight;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.flight.FlightEvent.Point;
import io.github.iree4j.flight.ReplayOrder.Action;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Submits the operations of a recording to the queues of devices. Confined to one thread. */
final class DeviceReplayRun implements AutoCloseable {
    private static final int SCRATCH_BYTES = 64;
    private static final long LOOK_NANOS = 50_000; // between checks whether all ends are recorded

    private static final IreeException REFUSED =
            IreeException.of(StatusCode.INVALID_ARGUMENT, "refused a signal in the recording");

    private final OperationGraph graph;
    private final ReplayOrder order;
    private final FlightRecorder recorder;
    private final Map<Long, DeviceQueue> queues = new HashMap<>(); // by recorded axis
    private final Map<DeviceQueue, Buffer> scratch = new LinkedHashMap<>(); // targets of the stand-ins' fills
    private final Map<Long, Buffer> buffers = new LinkedHashMap<>(); // by recorded reservation
    private final ReplayTimelines timelines;
    // additional signal of each operation
    private final Map<RecordedOperation, TimelineSemaphore> ends = new LinkedHashMap<>();
    private final Set<Long> streams = new HashSet<>(); // axes of the devices' queues with streams
    private final long patience; // nanoseconds
    private final PriorityQueue<RecordedOperation> heldBack =
            new PriorityQueue<>(Comparator.comparingLong(OperationGraph::issueNumber));
    private boolean stalled;

    /** Creates the run, with operations recorded by the recorder. */
    DeviceReplayRun(
            OperationGraph graph,
            ReplayOrder order,
            FlightRecorder recorder,
            List<? extends Device> devices,
            Duration patience) {
        this.graph = graph;
        this.order = order;
        this.recorder = recorder;
        this.patience = patience.toNanos();
        Map<String, Device> byName = new HashMap<>();
        for (RecordedQueue each : graph.recording().queues()) {
            Device device = byName.computeIfAbsent(each.device(), name -> devices.get(byName.size() % devices.size()));
            queues.put(each.axis(), device.queue(each.index() % device.queueCount()));
        }
        timelines = new ReplayTimelines(order.operations());
    }

    void run() {
        learnQueues();
        for (Action action : order.actions()) {
            submitHeldBack(action.key);
            RecordedOperation operation = action.operation;
            if (operation == null) {
                if (action.point != null) {
                    timelines.signal(action.point);
                }
                continue;
            }
            switch (action.kind) {
                case SUBMIT -> {
                    if (isHeldBack(operation)) {
                        heldBack.add(operation);
                    } else {
                        submit(operation);
                    }
                }
                case COMPLETE -> await(operation);
                case CANCEL -> {
                    for (Point each : order.isCancelled(operation) ? operation.signals() : List.<Point>of()) {
                        timelines.fail(each, failure(operation));
                    }
                }
                case GRANT, SIGNAL, LOST -> {} // the pools decide here
            }
        }
        submitHeldBack(Long.MAX_VALUE);
    }

    /** Returns whether this host holds an operation back, as the scheduler did: the resumption would depend on time. */
    private static boolean isHeldBack(RecordedOperation operation) {
        return operation.issued != null && (operation.decided.size() > 1 || operation.held != null);
    }

    /** Submits the operations issued before the next action, given the action's key. */
    private void submitHeldBack(long key) {
        for (RecordedOperation next; (next = heldBack.peek()) != null && 2 * OperationGraph.issueNumber(next) < key; ) {
            heldBack.remove();
            submit(next);
        }
    }

    /** Runs a barrier on each queue: a recorder knows the kind of a queue after the queue's first operation. */
    private void learnQueues() {
        queues.values().stream().distinct().forEach(queue -> queue.barrier(null, null, 0));
        recorder.recording().queues().stream()
                .filter(RecordedQueue::stream)
                .forEach(queue -> streams.add(queue.axis()));
    }

    private void submit(RecordedOperation operation) {
        if (order.isCancelled(operation)) {
            return; // the host fails the operation's signals
        }
        TimelineSemaphore end = end(operation);
        DeviceQueue queue = queues.get(operation.axis());
        if (queue == null) { // of an altered recording
            end.fail(IreeException.of(StatusCode.DATA_LOSS, operation + " is of a queue that is not named"));
            return;
        }
        try {
            submit(
                    operation,
                    queue,
                    timelines.fence(order.waits(operation), before(operation)),
                    timelines.fence(operation.attemptedSignals(), end));
        } catch (IreeException e) {
            end.fail(e);
        }
    }

    private TimelineSemaphore end(RecordedOperation operation) {
        return ends.computeIfAbsent(operation, each -> TimelineSemaphore.create(0));
    }

    /** Returns the end of the operation before on the same stream, to wait for where the queue orders nothing; null for none. */
    private @Nullable TimelineSemaphore before(RecordedOperation operation) {
        RecordedQueue queue = graph.queue(operation.axis());
        if (queue == null || !queue.stream() || isOnStream(queue)) {
            return null;
        }
        for (long rank = order.rank(operation.axis(), operation.epoch()) - 1; rank > 0; rank--) {
            RecordedOperation previous = order.ranked(operation.axis(), rank);
            if (previous != null && previous.status() == StatusCode.OK) { // a failure is not passed on by the order
                return end(previous);
            }
        }
        return null;
    }

    private void submit(RecordedOperation operation, DeviceQueue queue, @Nullable Fence wait, @Nullable Fence signal) {
        FlightEvent.Reserved reserved = operation.reserved;
        Buffer released = operation.issued == null ? null : buffers.get(operation.issued.reservation());
        if (operation.status() != StatusCode.OK && operation.hasRun()) {
            queue.hostCall(
                    wait,
                    signal,
                    () -> {
                        throw failure(operation);
                    },
                    0);
        } else if (reserved != null) {
            Buffer buffer = queue.alloca(wait, signal, BufferParams.DEFAULT, Math.max(1, reserved.size()), 0);
            Buffer other = buffers.put(reserved.reservation(), buffer);
            if (other != null) { // of an altered recording
                other.close();
            }
        } else if (operation.name().equals(QueueOperation.DEALLOCA) && released != null) {
            queue.dealloca(wait, signal, released, 0);
        } else if (operation.name().equals(QueueOperation.BARRIER)
                || operation.name().equals(QueueOperation.DEALLOCA)) {
            queue.barrier(wait, signal, 0);
        } else {
            Buffer target = scratch.computeIfAbsent(
                    queue, each -> each.device().allocator().allocate(BufferParams.DEFAULT, SCRATCH_BYTES));
            queue.fill(wait, signal, target, 0, Integer.BYTES, 0, Integer.BYTES, 0);
        }
    }

    private static IreeException failure(RecordedOperation operation) {
        return IreeException.of(operation.status(), operation.failure());
    }

    private void await(RecordedOperation operation) {
        TimelineSemaphore end = ends.get(operation);
        if (end == null || stalled) {
            return;
        }
        try {
            end.await(1, Duration.ofNanos(patience));
            operation.refusals().forEach(each -> timelines.fail(each.point(), REFUSED));
        } catch (IreeException e) {
            stalled = end.failure() == null;
        }
    }

    /** Returns the recorded operations once the recorder knows all ends. */
    OperationGraph recorded() {
        long deadline = System.nanoTime() + patience;
        while (true) {
            OperationGraph now = new OperationGraph(recorder.recording());
            long over = now.operations().stream()
                    .filter(each -> each.overAt() != RecordedOperation.NEVER
                            && !each.signals().isEmpty())
                    .count();
            if (over >= ends.values().stream().filter(DeviceReplayRun::isOver).count()
                    || System.nanoTime() - deadline > 0) {
                return now;
            }
            LockSupport.parkNanos(LOOK_NANOS); // a signal precedes the record of the end
        }
    }

    private static boolean isOver(TimelineSemaphore end) {
        return end.value() > 0 || end.failure() != null;
    }

    /** Returns the operations of the replay by recorded operation. */
    Map<RecordedOperation, RecordedOperation> standIns(OperationGraph now) {
        Map<Long, RecordedOperation> bySignal = new HashMap<>();
        for (RecordedOperation each : now.operations()) {
            each.signals().forEach(point -> bySignal.put(point.timeline(), each));
        }
        Map<RecordedOperation, RecordedOperation> all = new HashMap<>();
        ends.forEach((recorded, end) -> {
            if (bySignal.get(end.id()) instanceof RecordedOperation standIn) {
                all.put(recorded, standIn);
            }
        });
        return all;
    }

    /** Returns whether the queue representing a recorded queue is a stream. */
    boolean isOnStream(RecordedQueue queue) {
        DeviceQueue own = queues.get(queue.axis());
        return own != null && streams.contains(own.axis());
    }

    /** Returns whether the queue representing a recorded queue represents no other. */
    boolean isAlone(RecordedQueue queue) {
        DeviceQueue own = queues.get(queue.axis());
        return queues.values().stream().filter(each -> each.equals(own)).count() == 1;
    }

    @Override
    public void close() {
        buffers.values().forEach(Buffer::close);
        scratch.values().forEach(Buffer::close);
        timelines.close();
        ends.values().forEach(TimelineSemaphore::close);
    }
}
