package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.SignalRecord;
import io.github.iree4j.async.TimelineSemaphore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Signals of one timeline, recorded for a {@link SpeculationGraph}: the signalling operation of each value. Guarded by
 * the graph's monitor.
 *
 * <p>The values of a timeline need not stand on one another. Values are therefore forgotten in ranges: a value and all
 * lower values, down to the next remembered value. A value is remembered here, or by the timeline with a frontier
 * beyond the accepted epoch. A wait for a forgotten value stands on nothing speculative, because a timeline does not
 * return to a passed value. At most one range exists for each remembered value.
 */
final class SpeculationSignals {
    private final TreeMap<Long, SpeculationGraph.Node> byValue = new TreeMap<>();
    private final TreeMap<Long, Long> forgotten =
            new TreeMap<>(); // by the last value of a range: the value below the first
    private final long draftAxis;
    private final SignalRecord found = new SignalRecord();

    SpeculationSignals(long draftAxis) {
        this.draftAxis = draftAxis;
    }

    void declare(long value, SpeculationGraph.Node node) {
        byValue.put(value, node);
    }

    /** Records a completed operation whose signal of a value was made or refused. The timeline is an argument: this object must not keep it alive. */
    void over(TimelineSemaphore timeline, long value, SpeculationGraph.Node node, boolean failed, long accepted) {
        boolean refused =
                failed || timeline.failure() != null && !(timeline.lookup(value, found) && found.value() == value);
        if (!refused && node.draft > accepted || !byValue.remove(value, node)) {
            return;
        }
        if (!refused && timeline.value() >= value) {
            forgotten.put(value, floor(timeline, value, accepted));
        } // otherwise the timeline's record has the dependencies: several operations may signal a value together
        Long above = forgotten.higherKey(value);
        if (above != null) {
            forgotten.put(above, floor(timeline, above, accepted));
        }
    }

    /** Forgets completed operations that stand on no draft epoch beyond the given epoch. */
    void forget(TimelineSemaphore timeline, long epoch) {
        long reached = timeline.value();
        List<Long> gone = new ArrayList<>();
        byValue.forEach((value, node) -> {
            if (node.operation == null && node.draft <= epoch) {
                gone.add(value);
            }
        });
        for (long value : gone) {
            byValue.remove(value);
            if (value <= reached) {
                forgotten.put(value, value - 1);
            }
        }
        for (Long last : List.copyOf(forgotten.keySet())) {
            forgotten.put(last, floor(timeline, last, epoch));
        }
    }

    /** Finds the first remembered value below a range, and merges the range below if no value lies between the two. */
    private long floor(TimelineSemaphore timeline, long last, long accepted) {
        Long remembered = byValue.lowerKey(last);
        Map.Entry<Long, Long> below = forgotten.lowerEntry(last);
        long end = below == null ? -1 : below.getKey();
        long floor = Math.max(end, remembered == null ? -1 : remembered);
        for (long next = floor + 1;
                next < last && timeline.lookup(next, found) && found.value() < last;
                next = found.value() + 1) {
            if (found.frontier().epochOf(draftAxis) > accepted) {
                floor = found.value();
            }
        }
        if (below != null && floor == end) {
            forgotten.remove(end);
            return below.getValue();
        }
        return floor;
    }

    /** Number of values whose signaller is remembered. */
    int remembered() {
        return byValue.size();
    }

    boolean isForgotten(long value) {
        Map.Entry<Long, Long> range = forgotten.ceilingEntry(value);
        return range != null && range.getValue() < value;
    }

    /** Returns the operation that will reach a value: the lowest signal at or above the value, as in the frontiers of late waiters. */
    SpeculationGraph.@Nullable Node reaching(long value) {
        Map.Entry<Long, SpeculationGraph.Node> entry = byValue.ceilingEntry(value);
        return entry == null ? null : entry.getValue();
    }

    /** Returns the operation that reached a value, by the timeline's earliest remembered signal at or above the value; null if unknown. */
    SpeculationGraph.@Nullable Node reached(long value, long earliest) {
        if (isForgotten(value)) {
            return null;
        }
        NavigableMap<Long, SpeculationGraph.Node> between = byValue.subMap(value, true, earliest, true);
        for (Map.Entry<Long, SpeculationGraph.Node> each : between.entrySet()) {
            if (each.getKey() == earliest || each.getValue().operation == null) { // otherwise the signal came too late
                return each.getValue();
            }
        }
        return null;
    }

    /** Returns the lowest value still to be signalled by surviving work. */
    long lowestToCome() {
        for (Map.Entry<Long, SpeculationGraph.Node> each : byValue.entrySet()) {
            SpeculationGraph.Node node = each.getValue();
            if (node.operation != null && !node.ends()) {
                return each.getKey();
            }
        }
        return Long.MAX_VALUE;
    }

    /** Number of entries kept. */
    int size() {
        return byValue.size() + forgotten.size();
    }
}
