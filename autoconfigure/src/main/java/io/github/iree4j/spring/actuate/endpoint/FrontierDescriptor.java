package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.FrontierCounters;
import io.github.iree4j.spring.problems.QueueNames;
import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/** Frontiers: the work known to happen before other work. */
public final class FrontierDescriptor {

    private FrontierDescriptor() {}

    /**
     * The epoch that a queue must reach.
     *
     * @param queue device and number, or the axis for a queue of another runtime
     * @param axis session, machine, domain and ordinal
     * @param epoch the epoch to reach
     * @param completed the completed epoch
     */
    public record Entry(String queue, String axis, long epoch, long completed) {}

    /**
     * The frontier after which the next operation of a queue runs.
     *
     * @param queue device and number
     * @param completed the epoch up to which all operations of the queue have completed
     * @param tainted whether the entries are incomplete
     * @param entries epochs that have not completed; on an unordered queue, the queue's own epoch
     * @param merges number of merged wait frontiers
     * @param evictions number of entries evicted for lack of capacity
     */
    public record OfQueue(
            String queue, long completed, boolean tainted, List<Entry> entries, long merges, long evictions) {
        static OfQueue of(DeviceQueue queue, QueueNames names) {
            Frontier frontier = queue.frontier();
            FrontierCounters counters = queue.frontierCounters();
            return new OfQueue(
                    names.name(queue.axis()),
                    names.completed(queue.axis()),
                    frontier.isTainted(),
                    named(frontier, names),
                    counters.merges(),
                    counters.evictions());
        }
    }

    /**
     * The frontier of the current value of an application timeline.
     *
     * @param timeline id of the timeline
     * @param value the current value
     * @param watermark the last value with a known history
     * @param tainted whether the entries are incomplete
     * @param entries the known entries
     */
    public record OfTimeline(long timeline, long value, long watermark, boolean tainted, List<Entry> entries) {
        static OfTimeline of(TimelineSemaphore semaphore, QueueNames names) {
            long value = semaphore.value();
            Frontier frontier = semaphore.frontierAt(value);
            return new OfTimeline(
                    semaphore.id(),
                    value,
                    semaphore.watermark(),
                    semaphore.isTainted(value),
                    frontier == null ? List.of() : named(frontier, names));
        }
    }

    /**
     * All frontiers.
     *
     * @param capacity maximum number of entries of an operation's frontier
     * @param queues frontiers of the queues
     * @param timelines frontiers of the timelines held by the application
     */
    public record All(int capacity, List<OfQueue> queues, List<OfTimeline> timelines)
            implements OperationResponseBody {}

    static List<Entry> named(Frontier frontier, QueueNames names) {
        List<Entry> entries = new ArrayList<>();
        for (int i = 0; i < frontier.size(); i++) {
            long axis = frontier.axis(i);
            entries.add(new Entry(names.name(axis), Axis.toString(axis), frontier.epoch(i), names.completed(axis)));
        }
        return entries;
    }
}
