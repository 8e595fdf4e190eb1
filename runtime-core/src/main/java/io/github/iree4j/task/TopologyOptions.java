package io.github.iree4j.task;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;

/**
 * The choice of places for workers on a machine.
 *
 * @param mode the unit that gets a worker
 * @param maxWorkers maximum number of workers, 1 to {@value Topology#MAXIMUM_GROUPS}; 0 for as many as the limits of
 *     the process allow
 * @param nodes NUMA nodes to stay on; none for all
 * @param cores cores to use on a machine with performance and efficiency cores
 * @param distribution places to take when there are more places than workers
 */
@NotForApplications
public record TopologyOptions(Mode mode, int maxWorkers, List<Integer> nodes, Cores cores, Distribution distribution) {
    /** A worker for each physical core available to the process, within the process's quota, at most 64. */
    public static final TopologyOptions DEFAULTS =
            new TopologyOptions(Mode.CORES, 0, List.of(), Cores.ANY, Distribution.SCATTER);

    /** The unit that gets a worker. */
    public enum Mode {
        /** Each physical core: compiled kernels saturate the core's units, so a second thread gains little. */
        CORES,
        /** Each logical processor. */
        THREADS
    }

    /** The cores to use on a machine with performance and efficiency cores. */
    public enum Cores {
        /** All cores. */
        ANY,
        /** All but the slowest kind; all cores when there is a single kind. */
        PERFORMANCE,
        /** The slowest kind; all cores when there is a single kind. */
        EFFICIENCY
    }

    /** The places to take when there are more places than workers. */
    public enum Distribution {
        /** Round-robin over the last-level caches: maximum cache and bandwidth for each worker. */
        SCATTER,
        /** Neighbours first: workers share a cache, and the rest of the machine stays free. */
        COMPACT
    }

    /**
     * Validates and copies.
     *
     * @param mode the unit that gets a worker
     * @param maxWorkers maximum number of workers, 0 for the process's limit
     * @param nodes NUMA nodes to stay on
     * @param cores the kind of cores
     * @param distribution places to take first
     * @throws IreeException INVALID_ARGUMENT, naming the value out of range
     */
    public TopologyOptions {
        Objects.requireNonNull(mode, "mode");
        Objects.requireNonNull(cores, "cores");
        Objects.requireNonNull(distribution, "distribution");
        if (maxWorkers < 0 || maxWorkers > Topology.MAXIMUM_GROUPS) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "'max' is %d and must be within [0, %d]".formatted(maxWorkers, Topology.MAXIMUM_GROUPS));
        }
        nodes = nodes.stream().distinct().sorted().toList();
        for (int node : nodes) {
            if (node < 0 || node > TopologyGroup.LARGEST_NODE) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "node %d must be within [0, %d]".formatted(node, TopologyGroup.LARGEST_NODE));
            }
        }
    }

    /**
     * Returns these options with another limit.
     *
     * @param workers maximum number of workers, 0 for the process's limit
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
