package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.FrontierCounters;
import java.util.List;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/** What is known to happen before. */
public final class FrontierDescriptor {

    private FrontierDescriptor() {}

    /**
     * How far a queue must be.
     *
     * @param queue device and number, or the axis when it is none of ours
     * @param axis session, machine, domain and ordinal
     * @param epoch how far
     * @param completed how far it is now
     */
    public record Entry(String queue, String axis, long epoch, long completed) {}

    /**
     * What the next operation of a queue runs after.
     *
     * @param queue device and number
     * @param completed the epoch up to which everything on the queue is over
     * @param tainted whether more happens before than the entries say
     * @param entries what has not completed; on a queue that does not order operations, how far it is itself
     * @param merges frontiers of waits that were joined
     * @param evictions entries that were lost for want of room
     */
    public record OfQueue(
            String queue, long completed, boolean tainted, List<Entry> entries, long merges, long evictions) {
        static OfQueue of(DeviceQueue queue, AxisNames names) {
            Frontier frontier = queue.frontier();
            FrontierCounters counters = queue.frontierCounters();
            return new OfQueue(
                    names.name(queue.axis()),
                    names.completed(queue.axis()),
                    frontier.isTainted(),
                    names.entries(frontier),
                    counters.merges(),
                    counters.evictions());
        }
    }

    /**
     * What happens before the present value of a timeline of the application.
     *
     * @param timeline its number
     * @param value how far it is
     * @param watermark the last value whose history is known
     * @param tainted whether more happens before than the entries say
     * @param entries what is known
     */
    public record OfTimeline(long timeline, long value, long watermark, boolean tainted, List<Entry> entries) {
        static OfTimeline of(TimelineSemaphore semaphore, AxisNames names) {
            long value = semaphore.value();
            Frontier frontier = semaphore.frontierAt(value);
            return new OfTimeline(
                    semaphore.id(),
                    value,
                    semaphore.watermark(),
                    semaphore.isTainted(value),
                    frontier == null ? List.of() : names.entries(frontier));
        }
    }

    /**
     * All frontiers.
     *
     * @param capacity how many entries an operation's frontier may have
     * @param queues of the queues
     * @param timelines of the timelines that the application holds
     */
    public record All(int capacity, List<OfQueue> queues, List<OfTimeline> timelines)
            implements OperationResponseBody {}
}
