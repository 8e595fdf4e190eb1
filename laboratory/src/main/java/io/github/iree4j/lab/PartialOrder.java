package io.github.iree4j.lab;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/** An order of numbered elements, given by the direct predecessors of each element. */
final class PartialOrder {
    private final int[][] predecessors;
    private final List<Integer> sorted = new ArrayList<>();
    private final @Nullable BitSet[] before;

    PartialOrder(int[][] predecessors) {
        this.predecessors = predecessors;
        this.before = new BitSet[predecessors.length];
        sort();
    }

    private void sort() {
        int[] missing = new int[predecessors.length];
        List<List<Integer>> successors = new ArrayList<>();
        for (int i = 0; i < predecessors.length; i++) {
            successors.add(new ArrayList<>(0));
        }
        PriorityQueue<Integer> ready = new PriorityQueue<>();
        for (int i = 0; i < predecessors.length; i++) {
            missing[i] = predecessors[i].length;
            for (int each : predecessors[i]) {
                successors.get(each).add(i);
            }
            if (missing[i] == 0) {
                ready.add(i);
            }
        }
        while (!ready.isEmpty()) {
            int next = ready.remove();
            sorted.add(next);
            before[next] = beforeAll(predecessors[next]);
            for (int each : successors.get(next)) {
                if (--missing[each] == 0) {
                    ready.add(each);
                }
            }
        }
    }

    private BitSet beforeAll(int[] elements) {
        BitSet all = new BitSet();
        for (int each : elements) {
            all.set(each);
            BitSet its = before[each];
            if (its != null) {
                all.or(its);
            }
        }
        return all;
    }

    /**
     * Returns the elements, each behind all predecessors; of the possible next elements the lowest is first. Elements in
     * a circle, or behind a circle, are missing.
     */
    int[] sorted() {
        return sorted.stream().mapToInt(Integer::intValue).toArray();
    }

    /** Returns whether an element is in a circle, or behind a circle. */
    boolean isCircular(int element) {
        return before[element] == null;
    }

    /** Returns all predecessors of an element, the direct predecessors alone of a circular element. Not to be changed. */
    BitSet before(int element) {
        BitSet all = before[element];
        return all == null ? beforeAll(predecessors[element]) : all;
    }
}
