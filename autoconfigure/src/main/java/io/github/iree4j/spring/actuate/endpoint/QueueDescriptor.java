package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.QueueCounters;
import java.time.Duration;
import java.util.List;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * A queue of a device.
 *
 * @param name device and number
 * @param axis its axis
 * @param depth operations that are not over: waiting and in flight
 * @param pending of those, operations that wait to be issued
 * @param inFlight of those, operations that were issued
 * @param submitted operations since the start
 * @param retired operations that ran
 * @param failed operations that failed or were cancelled
 * @param decisions what became of waits
 * @param heldBack how long operations were held back together, those that are over
 */
public record QueueDescriptor(
        String name,
        String axis,
        long depth,
        long pending,
        long inFlight,
        long submitted,
        long retired,
        long failed,
        Decisions decisions,
        Duration heldBack) {

    /**
     * How the scheduler resolved waits.
     *
     * @param reached waits for what was reached already
     * @param elidedByFifo waits for what the same queue runs before
     * @param elidedByFrontier waits for what the queue's frontier proves to run before
     * @param covered waits that another wait of the same operation implies
     * @param deviceWaits waits that the device was given
     * @param deferred waits that an operation was held back for
     */
    public record Decisions(
            long reached, long elidedByFifo, long elidedByFrontier, long covered, long deviceWaits, long deferred) {}

    static QueueDescriptor of(DeviceQueue queue, AxisNames names) {
        QueueCounters counters = queue.counters();
        return new QueueDescriptor(
                names.name(queue.axis()),
                Axis.toString(queue.axis()),
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
