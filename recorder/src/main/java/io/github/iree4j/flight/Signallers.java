package io.github.iree4j.flight;

import io.github.iree4j.flight.FlightEvent.Decision;
import io.github.iree4j.hal.schedule.WaitDecision;
import io.github.iree4j.status.StatusCode;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** The operations signalling a timeline, by value. Immutable. */
final class Signallers {
    static final Signallers NONE = new Signallers(0, new TreeMap<>());

    private final Order waiting; // numbered by the highest value of the timeline awaited by the operation itself
    private final Order signalled;
    private final Map<Long, Order> promised = HashMap.newHashMap(1); // by axis; usually one

    /**
     * Operations in the order of values, each with a number.
     *
     * <p>The upper half of the tree has the numbers; each node below has the lower number of two nodes. So a search for a
     * low number passes over any number of operations with high numbers at once.
     */
    private static final class Order {
        private final long[] values;
        private final RecordedOperation[] operations;
        private final long[] tree;
        private final int leaves; // a power of 2

        Order(Map<Long, RecordedOperation> byValue, ToLongFunction<RecordedOperation> number) {
            values = byValue.keySet().stream().mapToLong(Long::longValue).toArray();
            operations = byValue.values().toArray(RecordedOperation[]::new);
            leaves = Math.max(1, Integer.highestOneBit(2 * operations.length - 1));
            tree = new long[2 * leaves];
            Arrays.fill(tree, Long.MAX_VALUE);
            for (int i = 0; i < operations.length; i++) {
                tree[leaves + i] = number.applyAsLong(operations[i]);
            }
            for (int i = leaves - 1; i > 0; i--) {
                tree[i] = Math.min(tree[2 * i], tree[2 * i + 1]);
            }
        }

        /** Returns the index of the lowest value at or above a value. */
        int index(long value) {
            int found = Arrays.binarySearch(values, value);
            return found < 0 ? -found - 1 : found;
        }

        /** Returns the first operation with a value from a value on, and below another, and with a number below a limit. */
        @Nullable
        RecordedOperation first(long value, long below, long limit) {
            int end = index(below);
            int node = leaves + index(value);
            while (node < leaves + end) {
                int wide = node >> Integer.numberOfTrailingZeros(node); // covers the most operations from here on
                if (tree[wide] < limit) {
                    while (wide < leaves) {
                        wide = tree[2 * wide] < limit ? 2 * wide : 2 * wide + 1;
                    }
                    return wide < leaves + end ? operations[wide - leaves] : null;
                }
                node += Integer.lowestOneBit(node);
            }
            return null;
        }
    }

    /**
     * Creates the signallers of a timeline.
     *
     * @param timeline the timeline
     * @param byValue the operations
     */
    Signallers(long timeline, NavigableMap<Long, RecordedOperation> byValue) {
        waiting = new Order(byValue, each -> each.awaits(timeline));
        signalled = new Order(byValue, number(each -> each.completed));
        Map<Long, Map<Long, RecordedOperation>> byAxis = HashMap.newHashMap(1);
        byValue.forEach((value, each) ->
                byAxis.computeIfAbsent(each.axis(), axis -> new TreeMap<>()).put(value, each));
        byAxis.forEach((axis, operations) -> promised.put(axis, new Order(operations, number(each -> each.issued))));
    }

    /** Returns the number of a record of an operation without failure; the highest number without the record. */
    private static ToLongFunction<RecordedOperation> number(Function<RecordedOperation, @Nullable FlightEvent> record) {
        return operation -> {
            FlightEvent found = operation.status() == StatusCode.OK ? record.apply(operation) : null;
            return found == null ? Long.MAX_VALUE : found.sequence();
        };
    }

    /**
     * Returns the operation signalling the lowest value at or above a value, except operations waiting for such a
     * value; null for none.
     */
    @Nullable
    RecordedOperation atLeast(long value) {
        return waiting.first(value, Long.MAX_VALUE, value);
    }

    /** Whether an operation with a value at or above a value has run. */
    boolean isPassed(long value) {
        return signalled.first(value, Long.MAX_VALUE, Long.MAX_VALUE) != null;
    }

    /**
     * Returns the operation that had signalled or promised a value by the time of a decision: the lowest value at or above
     * the awaited value, and below the value found by the decision. The timeline reports the oldest remembered signal, and
     * while a single queue uses the timeline, the last promise. Otherwise the timeline has jumped over the lower value.
     *
     * @return null for none
     */
    @Nullable
    RecordedOperation forgotten(long awaited, Decision decision, FlightEvent.Decided decided) {
        Order order = decision.decision() == WaitDecision.REACHED ? signalled : promised.get(decision.axis());
        return order == null ? null : order.first(awaited, decision.value(), decided.sequence());
    }
}
