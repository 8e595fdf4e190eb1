package io.github.iree4j.lab;

import static io.github.iree4j.lab.Scenario.invalid;

import io.github.iree4j.lab.Scenario.Operation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.BiPredicate;

/** The dependencies given by the scenario alone: an operation follows the operations signalling the awaited values. */
final class ScenarioGraph {
    private final List<Operation> operations;
    private final Map<String, TreeMap<Long, Integer>> signallers; // by semaphore and value
    private final int[][] producers; // of each operation
    private final int[] order;
    private final PartialOrder before;

    private ScenarioGraph(List<Operation> operations) {
        this.operations = operations;
        this.signallers = signallers(operations);
        this.producers = new int[operations.size()][];
        for (int i = 0; i < producers.length; i++) {
            producers[i] = producersOf(operations.get(i));
        }
        this.before = new PartialOrder(producers);
        this.order = before.sorted();
        if (order.length < producers.length) {
            throw invalid("operations wait for one another: " + cycle());
        }
    }

    /** Creates the graph; INVALID_ARGUMENT when a value is signalled twice or never, or operations wait in a cycle. */
    static ScenarioGraph of(List<Operation> operations) {
        return new ScenarioGraph(operations);
    }

    private static Map<String, TreeMap<Long, Integer>> signallers(List<Operation> operations) {
        Map<String, TreeMap<Long, Integer>> all = new HashMap<>();
        for (int i = 0; i < operations.size(); i++) {
            Operation operation = operations.get(i);
            for (Map.Entry<String, Long> signal : operation.signals().entrySet()) {
                Integer other = all.computeIfAbsent(signal.getKey(), _ -> new TreeMap<>())
                        .put(signal.getValue(), i);
                if (other != null) {
                    throw invalid("operations '%s' and '%s' both signal semaphore '%s' to %d; a value is signalled once"
                            .formatted(operations.get(other).id(), operation.id(), signal.getKey(), signal.getValue()));
                }
            }
        }
        return all;
    }

    private int[] producersOf(Operation operation) {
        return operation.waits().entrySet().stream()
                .mapToInt(wait -> {
                    TreeMap<Long, Integer> values = signallers.get(wait.getKey());
                    Integer producer = values == null ? null : values.get(wait.getValue());
                    if (producer == null) {
                        throw invalid(
                                "operation '%s' waits for semaphore '%s' at %d, which no operation signals; the wait would never end"
                                        .formatted(operation.id(), wait.getKey(), wait.getValue()));
                    }
                    return producer;
                })
                .distinct()
                .toArray();
    }

    /** Returns the operation signalling an awaited value. */
    int producer(String semaphore, long value) {
        return Objects.requireNonNull(
                Objects.requireNonNull(signallers.get(semaphore), semaphore).get(value), semaphore);
    }

    /** Names a cycle, or the beginning of a cycle. */
    private String cycle() {
        int at = 0;
        while (!before.isCircular(at)) {
            at++;
        }
        List<Integer> path = new ArrayList<>();
        while (!path.contains(at) && path.size() < 16) {
            path.add(at);
            for (int producer : producers[at]) {
                if (before.isCircular(producer)) {
                    at = producer;
                    break;
                }
            }
        }
        StringBuilder text = new StringBuilder();
        for (int each : path.subList(Math.max(0, path.indexOf(at)), path.size())) {
            text.append('\'').append(operations.get(each).id()).append("' waits for ");
        }
        return text.append('\'').append(operations.get(at).id()).append('\'').toString();
    }

    /** Throws INVALID_ARGUMENT when the values of a timeline could be signalled in another order on other hardware. */
    void checkSignalsAreOrdered() {
        signallers.keySet().forEach(each -> checkSignalsAreOrdered(each, Long.MAX_VALUE, (_, _) -> false));
    }

    /**
     * Throws INVALID_ARGUMENT when the values of a timeline could be signalled in another order.
     *
     * @param highest the last value checked
     * @param isKnownBefore whether an operation signalled before another that does not follow by waits
     */
    void checkSignalsAreOrdered(String semaphore, long highest, BiPredicate<Integer, Integer> isKnownBefore) {
        Integer last = null;
        for (Map.Entry<Long, Integer> next :
                signallers(semaphore).headMap(highest, true).entrySet()) {
            int now = next.getValue();
            if (last != null && last != now && !before.before(now).get(last) && !isKnownBefore.test(last, now)) {
                throw invalid(
                        "operation '%s' signals semaphore '%s' to %d but does not follow operation '%s', which signals a lower value; add a wait, or use another semaphore"
                                .formatted(
                                        operations.get(now).id(),
                                        semaphore,
                                        next.getKey(),
                                        operations.get(last).id()));
            }
            last = now;
        }
    }

    /** Returns the operations, each behind all predecessors; of the ready operations the first defined is first. */
    int[] order() {
        return order;
    }

    /** Returns the operations with signals awaited by an operation. */
    int[] producers(int operation) {
        return producers[operation];
    }

    /** Returns all predecessors of an operation. Not to be changed. */
    BitSet before(int operation) {
        return before.before(operation);
    }

    /** Returns the operations signalling a timeline, by value. */
    TreeMap<Long, Integer> signallers(String semaphore) {
        return signallers.getOrDefault(semaphore, new TreeMap<>());
    }

    @Override
    public String toString() {
        return Arrays.toString(order);
    }
}
