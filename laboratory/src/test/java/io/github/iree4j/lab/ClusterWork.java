package io.github.iree4j.lab;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * Work for a cluster: operations in the order of submission, and the groups of nodes in collectives.
 *
 * @param name the name, for tables
 * @param nodes the number of nodes, each with a single queue
 * @param operations the operations
 * @param groups the nodes of each group, by rank
 */
record ClusterWork(String name, int nodes, List<Operation> operations, List<int[]> groups) {
    private static final int PLAIN = -1;

    /** Nodes of a tensor-parallel group. */
    private static final int TENSOR_PARALLEL = 8;

    /**
     * An operation.
     *
     * @param node the node of the queue
     * @param after the operations waited for, all of them earlier
     * @param group the group of the collective; -1 for a lone operation
     */
    record Operation(int node, List<Integer> after, int group) {
        boolean isCollective() {
            return group != PLAIN;
        }
    }

    private static final class Builder {
        final List<Operation> operations = new ArrayList<>();

        int add(int node, List<Integer> after) {
            return add(node, after, PLAIN);
        }

        int add(int node, List<Integer> after, int group) {
            operations.add(new Operation(node, after, group));
            return operations.size() - 1;
        }
    }

    private static List<Integer> after(int before) {
        return before < 0 ? List.of() : List.of(before);
    }

    /** Data-parallel training: in each step every node computes, then gradients are reduced over all nodes. */
    static ClusterWork allReduce(int nodes, int steps, boolean collective) {
        Builder work = new Builder();
        int[] last = IntStream.range(0, nodes).map(_ -> -1).toArray(); // the predecessors of a node's next step
        for (int step = 0; step < steps; step++) {
            List<Integer> computed = new ArrayList<>();
            for (int node = 0; node < nodes; node++) {
                computed.add(work.add(node, after(last[node])));
            }
            if (collective) {
                for (int node = 0; node < nodes; node++) {
                    last[node] = work.add(node, List.of(computed.get(node)), 0);
                }
            } else {
                int sum = work.add(0, computed);
                Arrays.fill(last, sum);
            }
        }
        List<int[]> groups = collective ? List.of(IntStream.range(0, nodes).toArray()) : List.of();
        return new ClusterWork(
                "all-reduce over all nodes, " + (collective ? "a channel" : "at one node"),
                nodes,
                work.operations,
                groups);
    }

    /**
     * A model in tensor-parallel groups of eight, one behind the other: each group reduces the results of its nodes.
     */
    static ClusterWork tensorParallel(int nodes, int steps, boolean collective) {
        int stages = nodes / TENSOR_PARALLEL;
        Builder work = new Builder();
        List<int[]> groups = new ArrayList<>();
        for (int stage = 0; stage < stages; stage++) {
            int first = stage * TENSOR_PARALLEL;
            groups.add(IntStream.range(first, first + TENSOR_PARALLEL).toArray());
        }
        for (int step = 0; step < steps; step++) {
            int[] before = IntStream.range(0, TENSOR_PARALLEL).map(_ -> -1).toArray();
            for (int stage = 0; stage < stages; stage++) {
                int[] members = groups.get(stage);
                List<Integer> computed = new ArrayList<>();
                for (int rank = 0; rank < TENSOR_PARALLEL; rank++) {
                    computed.add(work.add(members[rank], after(before[rank])));
                }
                for (int rank = 0; rank < TENSOR_PARALLEL; rank++) {
                    before[rank] = collective
                            ? work.add(members[rank], List.of(computed.get(rank)), stage)
                            : work.add(members[rank], computed);
                }
            }
        }
        return new ClusterWork(
                "tensor-parallel groups of 8, " + (collective ? "channels" : "all wait for all"),
                nodes,
                work.operations,
                collective ? groups : List.of());
    }

    /** A token passed around. */
    static ClusterWork ring(int nodes, int rounds) {
        Builder work = new Builder();
        int last = -1;
        for (int i = 0; i < nodes * rounds; i++) {
            last = work.add(i % nodes, after(last));
        }
        return new ClusterWork("ring", nodes, work.operations, List.of());
    }

    /** Requests to a node, each answered before its sender sends the next. */
    static ClusterWork hub(int nodes, int rounds) {
        Builder work = new Builder();
        int[] answers = IntStream.range(0, nodes).map(_ -> -1).toArray();
        for (int round = 0; round < rounds; round++) {
            for (int node = 1; node < nodes; node++) {
                int request = work.add(node, after(answers[node]));
                answers[node] = work.add(0, List.of(request));
            }
        }
        return new ClusterWork("hub", nodes, work.operations, List.of());
    }

    /** Every operation follows two earlier ones of any node. */
    static ClusterWork random(int nodes, int rounds, long seed) {
        Random random = new Random(seed);
        Builder work = new Builder();
        for (int i = 0; i < nodes * rounds; i++) {
            List<Integer> after = new ArrayList<>();
            for (int wait = 0; wait < 2 && i >= nodes; wait++) {
                int earlier = i - 1 - random.nextInt(2 * nodes);
                if (earlier >= 0 && !after.contains(earlier)) {
                    after.add(earlier);
                }
            }
            work.add(i % nodes, after);
        }
        return new ClusterWork("random graph", nodes, work.operations, List.of());
    }
}
