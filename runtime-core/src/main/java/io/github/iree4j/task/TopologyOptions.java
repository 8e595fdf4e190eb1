package io.github.iree4j.task;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;

/**
 * How to choose places for workers on a machine.
 *
 * @param mode the unit that gets a worker
 * @param maxWorkers the most workers, 1 to {@value Topology#MAXIMUM_GROUPS}; 0 for as many as the limits of the process allow
 * @param nodes NUMA nodes to stay on; none for all
 * @param cores which cores to use on a machine with performance and efficiency cores
 * @param distribution which places to take when there are more than workers
 */
public record TopologyOptions(Mode mode, int maxWorkers, List<Integer> nodes, Cores cores, Distribution distribution) {
    /** One worker for each physical core that the process may use, within its quota, at most 64. */
    public static final TopologyOptions DEFAULTS =
            new TopologyOptions(Mode.CORES, 0, List.of(), Cores.ANY, Distribution.SCATTER);

    /** The unit that gets a worker. */
    public enum Mode {
        /** Each physical core: compiled kernels saturate its units, so a second thread on it gains little. */
        CORES,
        /** Each logical processor. */
        THREADS
    }

    /** Which cores to use on a machine with performance and efficiency cores. */
    public enum Cores {
        /** All of them. */
        ANY,
        /** All but the slowest kind; all when there is one kind. */
        PERFORMANCE,
        /** The slowest kind; all when there is one kind. */
        EFFICIENCY
    }

    /** Which places to take when there are more than workers. */
    public enum Distribution {
        /** Round-robin over the last-level caches: the most cache and bandwidth for each worker. */
        SCATTER,
        /** Neighbours first: workers share a cache, and the rest of the machine stays free. */
        COMPACT
    }

    /**
     * Validates and copies.
     *
     * @param mode the unit that gets a worker
     * @param maxWorkers the most workers, 0 for the process's limit
     * @param nodes NUMA nodes to stay on
     * @param cores which kind of cores
     * @param distribution which places to take first
     * @throws IreeException INVALID_ARGUMENT, naming what is out of range
     */
    public TopologyOptions {
        Objects.requireNonNull(mode, "mode");
        Objects.requireNonNull(cores, "cores");
        Objects.requireNonNull(distribution, "distribution");
        if (maxWorkers < 0 || maxWorkers > Topology.MAXIMUM_GROUPS) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "'max' is %d and must be within [0, %d]".formatted(maxWorkers, Topology.MAXIMUM_GROUPS));
        }
        nodes = nodes.stream().distinct().sorted().toList();
        for (int node : nodes) {
            if (node < 0 || node > TopologyGroup.LARGEST_NODE) {
                throw new IreeException(
                        StatusCode.INVALID_ARGUMENT,
                        "node %d must be within [0, %d]".formatted(node, TopologyGroup.LARGEST_NODE));
            }
        }
    }

    /**
     * Returns these options with another limit.
     *
     * @param workers the most workers, 0 for the process's limit
     * @return the options
     * @throws IreeException INVALID_ARGUMENT when out of range
     */
    public TopologyOptions withMaxWorkers(int workers) {
        return new TopologyOptions(mode, workers, nodes, cores, distribution);
    }

    /** Returns the options in the format of {@link Topology#of}. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("mode=").append(TopologyText.word(mode));
        if (maxWorkers != 0) {
            text.append(" max=").append(maxWorkers);
        }
        if (!nodes.isEmpty()) {
            BitSet bits = new BitSet();
            nodes.forEach(bits::set);
            text.append(" nodes=").append(ProcessorList.format(bits));
        }
        return text.append(" cores=")
                .append(TopologyText.word(cores))
                .append(" distribution=")
                .append(TopologyText.word(distribution))
                .toString();
    }
}
