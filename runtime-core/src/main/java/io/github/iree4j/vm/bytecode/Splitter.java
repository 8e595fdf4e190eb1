package io.github.iree4j.vm.bytecode;

import io.github.iree4j.vm.bytecode.FunctionGraph.Edge;
import io.github.iree4j.vm.isa.Op;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Splits a function too large for a single Java method into parts, where possible not within a loop. */
final class Splitter {
    private final FunctionGraph graph;
    private final int[][] predecessors;

    /** Per block, the number of loops spanning the boundary before the block. */
    private final int[] loopsCut;

    Splitter(FunctionGraph graph) {
        this.graph = graph;
        predecessors = graph.predecessors();
        int[] change = new int[graph.blocks.size() + 1];
        for (int block = 0; block < predecessors.length; block++) {
            for (Edge edge : graph.blocks.get(block).last().edges) {
                if (edge.target() <= block) {
                    change[edge.target() + 1]++;
                    change[block + 1]--;
                }
            }
        }
        loopsCut = new int[change.length];
        int open = 0;
        for (int i = 0; i < change.length; i++) {
            open += change[i];
            loopsCut[i] = open;
        }
    }

    /** Splits the whole function into parts of about {@code wanted} instructions. */
    List<Part> parts(int wanted) {
        List<Part> parts = new ArrayList<>();
        int first = 0;
        while (first < predecessors.length) {
            int nodes = graph.blocks.get(first).nodes().size();
            int best = first + 1;
            for (int end = first + 1; end < predecessors.length; end++) {
                nodes += graph.blocks.get(end).nodes().size();
                if (nodes > wanted) {
                    break;
                }
                if (nodes < wanted / 2 || loopsCut[end + 1] <= loopsCut[best]) {
                    best = end + 1;
                }
            }
            boolean[] members = new boolean[predecessors.length];
            Arrays.fill(members, first, best, true);
            add(members, new int[0], parts);
            first = best;
        }
        return parts;
    }

    /** Splits a part in two; returns an empty list for a part with only one block. */
    List<Part> halves(Part whole) {
        int nodes = 0;
        int count = 0;
        for (int b = 0; b < predecessors.length; b++) {
            nodes += whole.members[b] ? graph.blocks.get(b).nodes().size() : 0;
            count += whole.members[b] ? 1 : 0;
        }
        List<Part> halves = new ArrayList<>();
        if (count < 2) {
            return halves;
        }
        boolean[] low = new boolean[predecessors.length];
        boolean[] high = new boolean[predecessors.length];
        int taken = 0;
        for (int b = 0; b < predecessors.length; b++) {
            if (whole.members[b]) {
                boolean isLow = taken == 0 || count > 1 && 2 * taken < nodes;
                (isLow ? low : high)[b] = true;
                taken += graph.blocks.get(b).nodes().size();
                count--;
            }
        }
        add(low, whole.entries, halves);
        add(high, whole.entries, halves);
        return halves;
    }

    /** Adds a part with the previous entries and the entries used by other parts or the interpreter. */
    private void add(boolean[] members, int[] before, List<Part> parts) {
        List<Integer> entries = new ArrayList<>();
        for (int block = 0; block < members.length; block++) {
            if (members[block] && (block == 0 || isEntered(block, members, before))) {
                entries.add(block);
            }
        }
        if (!entries.isEmpty()) {
            parts.add(new Part(
                    graph, members, entries.stream().mapToInt(Integer::intValue).toArray()));
        }
    }

    private boolean isEntered(int block, boolean[] members, int[] before) {
        for (int entry : before) {
            if (entry == block) {
                return true;
            }
        }
        for (int predecessor : predecessors[block]) {
            if (!members[predecessor] || graph.blocks.get(predecessor).last().op == Op.YIELD) {
                return true;
            }
        }
        return false;
    }
}
