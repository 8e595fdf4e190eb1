package io.github.iree4j.flight;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The devices of the sets of pools in a recording. Several devices may share a name. Immutable. */
final class PoolDevices {
    private final Map<Integer, Set<RecordedQueue>> users = new HashMap<>(); // queues of operations given memory, by set
    private final Set<String> namesOfSeveral = new HashSet<>();

    /** Reads the queues, and the operations given memory. */
    PoolDevices(OperationGraph graph) {
        for (RecordedOperation each : graph.operations()) {
            RecordedQueue queue = graph.queue(each.axis());
            int set = each.reserved == null
                    ? RecordedPool.UNKNOWN_SET
                    : graph.memory().set(each.reserved.pool());
            if (set != RecordedPool.UNKNOWN_SET && queue != null) {
                users.computeIfAbsent(set, unused -> new HashSet<>()).add(queue);
            }
        }
        Map<String, Map<Integer, RecordedQueue>> seen = new HashMap<>(); // by name and index
        for (RecordedQueue each : graph.recording().queues()) {
            Map<Integer, RecordedQueue> same = seen.computeIfAbsent(each.device(), unused -> new HashMap<>());
            boolean isOther = same.values().stream().limit(1).anyMatch(known -> !mayShareDevice(known, each));
            if (same.putIfAbsent(each.index(), each) != null || isOther) {
                namesOfSeveral.add(each.device());
            }
        }
    }

    /** Whether two queues may be of the same device: queues of a device differ in the index, and share the limit. */
    private static boolean mayShareDevice(RecordedQueue one, RecordedQueue other) {
        return one.axis() == other.axis()
                || one.device().equals(other.device())
                        && one.index() != other.index()
                        && one.memoryLimit() == other.memoryLimit();
    }

    /** Returns whether several devices are known to have the name of a queue's device. */
    boolean isNameOfSeveral(RecordedQueue queue) {
        return namesOfSeveral.contains(queue.device());
    }

    /** Returns whether a set may be of the device of a queue; for an unknown queue, only a set of no known device. */
    boolean mayBeOf(int set, @Nullable RecordedQueue queue) {
        return users.getOrDefault(set, Set.of()).stream()
                .allMatch(each -> queue != null && mayShareDevice(each, queue));
    }

    /** Returns the only set known to be of the device of a queue. */
    int onlySet(@Nullable RecordedQueue queue) {
        List<Integer> sets = users.entrySet().stream()
                .filter(each -> queue != null && isOf(each.getValue(), queue))
                .map(Map.Entry::getKey)
                .toList();
        return sets.size() == 1 ? sets.getFirst() : RecordedPool.UNKNOWN_SET;
    }

    private boolean isOf(Set<RecordedQueue> users, RecordedQueue queue) {
        return isNameOfSeveral(queue)
                ? users.contains(queue)
                : users.stream().anyMatch(each -> each.device().equals(queue.device()));
    }

    /**
     * Returns the device names of the sets known by operations, and of the other sets with the limit of a single
     * device.
     */
    static Map<Integer, String> ofOperationsAndLimits(OperationGraph graph) {
        Map<Integer, String> devices = new HashMap<>();
        new PoolDevices(graph)
                .users.forEach((set, queues) ->
                        devices.put(set, queues.iterator().next().device()));
        Map<Long, Set<String>> byLimit = new HashMap<>();
        graph.recording()
                .queues()
                .forEach(queue -> byLimit.computeIfAbsent(queue.memoryLimit(), unused -> new HashSet<>())
                        .add(queue.device()));
        for (FlightEvent.PoolsHold each : graph.memory().taken()) {
            Set<String> same = byLimit.getOrDefault(each.limit(), Set.of());
            if (same.size() == 1) {
                devices.putIfAbsent(each.set(), same.iterator().next());
            }
        }
        return devices;
    }
}
