package io.github.iree4j.task;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;

/**
 * How to choose places for workers on a machine.
 *
 * @param mode what gets a worker
 * @param maxWorkers the most workers, 1 to {@value Topology#MAXIMUM_GROUPS}; 0 for as many as the limits of the process allow
 * @param nodes NUMA nodes to stay on; none for all
 * @param cores which cores of a machine with fast and thrifty ones
 * @param distribution which places are taken when there are more than workers
 */
public record TopologyOptions(Mode mode, int maxWorkers, List<Integer> nodes, Cores cores, Distribution distribution) {
    /** One worker for each physical core that the process may use, as far as its quota goes, at most 64. */
    public static final TopologyOptions DEFAULTS =
            new TopologyOptions(Mode.CORES, 0, List.of(), Cores.ANY, Distribution.SCATTER);

    /** What gets a worker. */
    public enum Mode {
        /** Each physical core: compiled kernels fill its units, so a second thread on it gains little. */
        CORES,
        /** Each logical processor. */
        THREADS
    }

    /** Which cores are used where some are built to be slower. */
    public enum Cores {
        /** All of them. */
        ANY,
        /** Those that are not the slowest kind; all when there is one kind. */
        PERFORMANCE,
        /** The slowest kind; all when there is one kind. */
        EFFICIENCY
    }

    /** Which places are taken when there are more than workers. */
    public enum Distribution {
        /** In turn from each last-level cache: the most cache and bandwidth for each worker. */
        SCATTER,
        /** Neighbours first: workers share a cache, and the rest of the machine is left alone. */
        COMPACT
    }

    /**
     * Checks and copies.
     *
     * @param mode what gets a worker
     * @param maxWorkers the most workers, 0 for no limit but the process's
     * @param nodes NUMA nodes to stay on
     * @param cores which kind of cores
     * @param distribution which places first
     * @throws IreeException INVALID_ARGUMENT naming what is out of range
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
     * @param workers the most workers, 0 for no limit but the process's
     * @return the options
     * @throws IreeException INVALID_ARGUMENT when out of range
     */
    public TopologyOptions withMaxWorkers(int workers) {
        return new TopologyOptions(mode, workers, nodes, cores, distribution);
    }

    /** As {@link Topology#of} reads it. */
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
