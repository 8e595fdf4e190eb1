package io.github.iree4j.spring.problems;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.hal.StreamCounters;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The pending operations of a runtime, and what they will signal: a snapshot. Confined to one thread. */
public final class Signallers {

    /**
     * A pending operation.
     *
     * @param queue the queue that holds it back
     * @param operation the operation
     */
    public record Pending(DeviceQueue queue, PendingOperation operation) {}

    private final List<Pending> operations = new ArrayList<>();
    private final Map<Long, List<Pending>> byTimeline = new HashMap<>();
    private final List<DeviceQueue> busy = new ArrayList<>();

    /**
     * Takes a snapshot.
     *
     * @param runtime the runtime
     * @param most the number of operations per queue, the longest waiting first
     */
    public Signallers(IreeRuntime runtime, int most) {
        for (Device device : runtime.devices()) {
            for (int i = 0; i < device.queueCount(); i++) {
                DeviceQueue queue = device.queue(i);
                queue.pending(most).forEach(each -> operations.add(new Pending(queue, each)));
                if (queue.streamCounters().equals(StreamCounters.NONE)
                        && queue.counters().inFlight() > 0) {
                    busy.add(queue);
                }
            }
        }
        for (Pending each : operations) {
            each.operation
                    .signals()
                    .forEach(point -> byTimeline
                            .computeIfAbsent(point.semaphore(), _ -> new ArrayList<>())
                            .add(each));
        }
    }

    /** Returns the pending operations, queue by queue. */
    public List<Pending> operations() {
        return operations;
    }

    /** Returns the pending operation that will signal a point; null when none of the snapshot will. */
    public @Nullable Pending of(PendingOperation.Wait wait) {
        for (Pending each : byTimeline.getOrDefault(wait.semaphore(), List.of())) {
            for (PendingOperation.Point point : each.operation.signals()) {
                if (point.semaphore() == wait.semaphore() && point.value() >= wait.value()) {
                    return each;
                }
            }
        }
        return null;
    }

    /** Returns the queues with operations in flight that may signal any point: queues without order promise nothing. */
    public List<DeviceQueue> busy() {
        return busy;
    }
}
