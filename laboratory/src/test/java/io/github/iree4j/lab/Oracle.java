package io.github.iree4j.lab;

import io.github.iree4j.lab.Scenario.Hardware;
import io.github.iree4j.lab.Scenario.Operation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A small simulator of the rules of scenarios, tick by tick, without knowledge of the scheduler: in each tick due work
 * ends, work with its values becomes ready, and free lanes are given in the order of definition, until nothing changes.
 */
final class Oracle {
    /** The outcome of an operation. */
    record Run(long start, long end, String lane, Map<String, Long> frontier) {}

    final List<Run> runs = new ArrayList<>();
    final Map<String, Long> values = new HashMap<>();
    final Map<String, Map<String, Long>> frontiers = new HashMap<>();
    final long finalTick;

    private final List<Operation> operations;
    private final long[] start;
    private final int[] lane;
    private final boolean[] retired;
    private final List<Map<String, Long>> frontier = new ArrayList<>();
    private final Map<String, Map<Long, Map<String, Long>>> recorded = new HashMap<>();

    Oracle(Scenario scenario) {
        operations = scenario.operations();
        int count = operations.size();
        start = new long[count];
        lane = new int[count];
        retired = new boolean[count];
        java.util.Arrays.fill(start, -1);
        Map<String, boolean[]> lanes = new HashMap<>();
        for (Hardware each : scenario.hardware()) {
            lanes.put(each.id(), new boolean[each.lanes()]);
        }
        for (int i = 0; i < count; i++) {
            frontier.add(new HashMap<>());
        }
        long tick = 0;
        for (int left = count; left > 0; tick++) {
            if (tick > 100_000) {
                throw new AssertionError("the oracle does not end");
            }
            boolean changed = true;
            while (changed) {
                changed = false;
                for (int i = 0; i < count; i++) {
                    Operation operation = operations.get(i);
                    if (start[i] >= 0 && !retired[i] && tick >= start[i] + operation.duration()) {
                        retired[i] = true;
                        lanes.get(operation.hardware())[lane[i]] = false;
                        signal(i);
                        left--;
                        changed = true;
                    }
                }
                for (int i = 0; i < count; i++) {
                    boolean[] free = lanes.get(operations.get(i).hardware());
                    for (int l = 0; l < free.length && start[i] < 0 && isReady(operations.get(i)); l++) {
                        if (!free[l]) {
                            free[l] = true;
                            lane[i] = l;
                            start[i] = tick;
                            begin(i);
                            changed = true;
                        }
                    }
                }
            }
        }
        finalTick = tick;
        for (int i = 0; i < count; i++) {
            Operation operation = operations.get(i);
            boolean alone = lanes.get(operation.hardware()).length == 1;
            runs.add(new Run(
                    start[i],
                    start[i] + operation.duration(),
                    alone ? operation.hardware() : operation.hardware() + "_" + lane[i],
                    frontier.get(i)));
        }
    }

    private boolean isReady(Operation operation) {
        return operation.waits().entrySet().stream()
                .allMatch(each -> values.getOrDefault(each.getKey(), 0L) >= each.getValue());
    }

    private void begin(int index) {
        Operation operation = operations.get(index);
        Map<String, Long> own = frontier.get(index);
        operation
                .waits()
                .forEach((semaphore, value) ->
                        recorded.get(semaphore).get(value).forEach((s, v) -> own.merge(s, v, Math::max)));
        operation.signals().forEach((s, v) -> own.merge(s, v, Math::max));
    }

    private void signal(int index) {
        operations.get(index).signals().forEach((semaphore, value) -> {
            if (value > values.getOrDefault(semaphore, 0L)) {
                values.put(semaphore, value);
                frontiers.put(semaphore, frontier.get(index));
                recorded.computeIfAbsent(semaphore, _ -> new HashMap<>()).put(value, frontier.get(index));
            }
        });
    }
}
