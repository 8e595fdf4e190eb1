package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.QueueCounters;
import io.github.iree4j.spring.problems.QueueNames;
import java.time.Duration;
import java.util.List;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * A queue of a device.
 *
 * @param name device and number
 * @param axis of the queue
 * @param machine index of the machine of the queue's device; the axis contains the index of this machine
 * @param depth operations that have not completed: pending and in flight
 * @param pending operations not yet issued, part of the depth
 * @param inFlight issued operations, part of the depth
 * @param submitted operations submitted since the start
 * @param retired operations that completed successfully
 * @param failed operations that failed or were cancelled
 * @param decisions numbers of resolved waits by decision
 * @param heldBack total time for which completed operations were deferred
 */
public record QueueDescriptor(
        String name,
        String axis,
        int machine,
        long depth,
        long pending,
        long inFlight,
        long submitted,
        long retired,
        long failed,
        Decisions decisions,
        Duration heldBack) {

    /**
     * The scheduler's resolutions of waits.
     *
     * @param reached waits for points that were already reached
     * @param elidedByFifo waits elided by the order of the same queue
     * @param elidedByFrontier waits elided because the queue's frontier implies the points
     * @param covered waits implied by another wait of the same operation
     * @param deviceWaits waits passed to the device
     * @param deferred waits for which an operation was deferred
     */
    public record Decisions(
            long reached, long elidedByFifo, long elidedByFrontier, long covered, long deviceWaits, long deferred) {}

    static QueueDescriptor of(DeviceQueue queue, QueueNames names) {
        QueueCounters counters = queue.counters();
        return new QueueDescriptor(
                names.name(queue.axis()),
                Axis.toString(queue.axis()),
                DeviceInfo.machine(queue.device().id(), queue.axis()),
                counters.pending() + counters.inFlight(),
                counters.pending(),
                counters.inFlight(),
                counters.submitted(),
                counters.retired(),
                counters.failed(),
                new Decisions(
                        counters.reached(),
                        counters.elidedFifo(),
                        counters.elidedFrontier(),
                        counters.covered(),
                        counters.deviceWaits(),
                        counters.deferred()),
                Duration.ofNanos(counters.heldBackNanos()));
    }

    /**
     * All queues.
     *
     * @param queues by device and number
     */
    public record All(List<QueueDescriptor> queues) implements OperationResponseBody {}
}
