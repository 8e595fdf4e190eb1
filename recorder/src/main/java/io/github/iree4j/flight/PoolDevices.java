package io.github.iree4j.flight;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Finds the devices of the sets of pools in a recording. */
final class PoolDevices {
    private PoolDevices() {}

    /** Returns the device of each set, as far as known by an operation that was given memory. */
    static Map<Integer, String> ofOperations(OperationGraph graph) {
        Map<Integer, String> devices = new HashMap<>();
        for (RecordedOperation each : graph.operations()) {
            RecordedQueue queue = graph.queue(each.axis());
            int set = each.reserved == null
                    ? RecordedPool.UNKNOWN_SET
                    : graph.memory().set(each.reserved.pool());
            if (set != RecordedPool.UNKNOWN_SET && queue != null) {
                devices.put(set, queue.device());
            }
        }
        return devices;
    }

    /** Returns the same, and other sets that have the limit of one device only. */
    static Map<Integer, String> ofOperationsAndLimits(OperationGraph graph) {
        Map<Integer, String> devices = ofOperations(graph);
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
